"""Kafka's TransactionalMessageCopier, as its system tests play it: random aborts, and copiers that are killed.

Each copier consumes, produces and commits its offsets in transactions, a fifth of which it aborts by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tests.oracle.jars import TOOLS, java_command
from tests.programs.judging import aborted, each_once, in_order, same
from tests.programs.running import SECONDS, Running
from tests.programs.stage import Stage
from tests.waiting import until

COPIER: Final = "org.apache.kafka.tools.TransactionalMessageCopier"
PARTITIONS: Final = 2
RECORDS: Final = 10_000
"""In each partition."""
KILLS: Final = 3
"""Of each copier."""
RESTARTS: Final = 2
"""Of the broker."""
GROUP_MODE: Final = ("--group-mode", "--use-group-metadata")


def _input(stage: Stage) -> tuple[str, str, dict[int, list[str]]]:
    """Two topics, the first with records; the values of each partition."""
    source, target = (stage.create(stage.name(what), PARTITIONS) for what in ("input", "output"))
    values = {index: [f"{index}-{number}" for number in range(RECORDS)] for index in range(PARTITIONS)}
    stage.fill(source, ((index, value, value) for index, all_of in values.items() for value in all_of))
    return source, target, values


def _start(stage: Stage, source: str, target: str, partition: int, *more: str) -> Running:
    arguments = {
        "--broker-list": stage.bootstrap_servers,
        "--input-topic": source,
        "--input-partition": str(partition),
        "--output-topic": target,
        "--transactional-id": f"{target}-{partition}",
        "--consumer-group": target,
        "--transaction-size": "100",
    }
    words = [word for pair in arguments.items() for word in pair]
    command = java_command(COPIER, *words, "--enable-random-aborts", *more, release=TOOLS, heap_mb=96)
    return stage.start(command, f"copier-{partition}")


def _told(stage: Stage, source: str, target: str, values: dict[int, list[str]]) -> Iterator[str]:
    yield stage.no_transaction_is_open(target)
    committed, everything = stage.read(target), stage.read(target, committed=False)
    yield each_once((value for all_of in values.values() for value in all_of), (one.value for one in committed))
    yield in_order(committed, values)
    yield aborted(committed, everything)
    yield same(stage.committed_offsets(target, source), stage.ends(source), "the committed offsets are the end")


def play(stage: Stage) -> Iterator[str]:
    """A copier a partition; each is killed in the middle of a transaction and started again, three times."""
    source, target, values = _input(stage)
    copiers = [_start(stage, source, target, index) for index in range(PARTITIONS)]
    for _ in range(KILLS):
        for index, copier in enumerate(copiers):
            stage.kill_in_transaction(copier, target)
            copiers[index] = _start(stage, source, target, index)
    for copier in copiers:
        copier.ends()
    yield f"{PARTITIONS} copiers, each killed {KILLS} times"
    yield from _told(stage, source, target, values)


def play_group(stage: Stage) -> Iterator[str]:
    """Copiers that share the partitions as a group, and send its metadata with their offsets (KIP-447).

    One is killed: the other takes its partition over once the session has ended, under a transactional id of its own,
    while the dead one's transaction may be open still. A third then takes the dead one's place.
    """
    source, target, values = _input(stage)
    copiers = [_start(stage, source, target, index, *GROUP_MODE) for index in range(PARTITIONS)]
    stage.kill_in_transaction(copiers[0], target)
    copiers[0] = _start(stage, source, target, 0, *GROUP_MODE)
    for copier in copiers:
        copier.ends()
    yield f"{PARTITIONS} copiers in a group, one of them killed"
    yield from _told(stage, source, target, values)


def play_restarts(stage: Stage) -> Iterator[str]:
    """The broker is killed while transactions are open, twice, and starts again with its data; the copiers go on."""
    stage = stage.another()
    source, target, values = _input(stage)
    copiers = [_start(stage, source, target, index) for index in range(PARTITIONS)]
    for _ in range(RESTARTS):
        stage.some_committed(target, stage.ends(target))
        until(lambda: stage.open(target), "an open transaction", SECONDS)
        stage.restart_broker(target)
    for copier in copiers:
        copier.ends()
    yield f"{PARTITIONS} copiers, the broker killed {RESTARTS} times"
    yield from _told(stage, source, target, values)
