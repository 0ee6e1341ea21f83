"""A transactional ETL job is interrupted: what every one of them, in whichever language, is put through.

The job is started as `job BOOTSTRAP INPUT OUTPUT AUDIT GROUP HOLD`. In transactions of some hundred records it reads
the input as a static member of the group, writes each value in capitals to the output, every tenth to the audit topic
too, and sends its offsets along. Each fifth transaction it aborts of its own will. In its transaction number HOLD (0:
none), when all records are acknowledged, it prints `holding` and waits for a line on its standard input. It ends with
`done` at the end of the input, with `fenced` where another has taken its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from tests.programs.judging import Wrong, aborted, each_once, in_order, same
from tests.programs.stage import Stage

PARTITIONS: Final = 4
RECORDS: Final = 1000
"""In each partition."""
AUDITED: Final = 10


def play(stage: Stage, command: Sequence[str]) -> Iterator[str]:
    """The first is killed in a transaction, the second frozen in one until a third has done all its work."""
    source, target, audit = (stage.create(stage.name(what), PARTITIONS) for what in ("input", "output", "audit"))
    values = {index: [f"{index}-{number}-x" for number in range(RECORDS)] for index in range(PARTITIONS)}
    stage.fill(source, ((index, value, value) for index, all_of in values.items() for value in all_of))
    command = [*command, stage.bootstrap_servers, source, target, audit, stage.name("etl")]

    killed = stage.start([*command, "7"], "killed")
    killed.says("holding")
    if not stage.open(target):
        raise Wrong("it holds a transaction, and none is open")
    killed.kill()
    yield "the first: killed in a transaction"

    zombie = stage.start([*command, "6"], "zombie")
    zombie.says("holding")
    zombie.freeze()
    last = stage.start([*command, "0"], "last")
    last.ends()
    zombie.thaw()
    zombie.go_on()
    zombie.says("fenced")
    zombie.ends()
    yield "the second: frozen in a transaction, fenced when it wakes"

    yield stage.no_transaction_is_open(target, audit)
    committed = stage.read(target)
    everything = [value.upper() for all_of in values.values() for value in all_of]
    yield each_once(everything, (one.value for one in committed))
    yield in_order(committed, {index: [value.upper() for value in all_of] for index, all_of in values.items()})
    audited = [value for value in everything if int(value.split("-")[1]) % AUDITED == 0]
    yield each_once(audited, (one.value for one in stage.read(audit)), "audited")
    yield aborted(committed, stage.read(target, committed=False))
    yield same(stage.committed_offsets(command[-1], source), stage.ends(source), "the committed offsets are the end")
