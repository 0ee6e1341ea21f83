"""`make bench-throughput`: sustained throughput with real clients, beside kfake and Apache Kafka.

    python -m bench.throughput                          all rows, some ten minutes
    python -m bench.throughput --document               and its section of docs/performance.md, where all is measured
    python -m bench.throughput --quick                  one round of a quarter of the records
    python -m bench.throughput --only "java lz4"        the rows whose name has this in it; may be repeated
    python -m bench.throughput --json FILE              the numbers as well

What each row sends is in `bench.throughput_rows`. In each round every contestant has its turn with a topic of its own,
which is deleted behind it. Client and server share the machine as the system likes. Beside a client's MB/s stands the
processor time of the server's process, which work of others on the machine disturbs least.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import Final

from bench import contestants
from bench.budgets import KAFKA, KFAKE, STUB
from bench.cases import create_topic, delete_topic
from bench.contestants import Contestant, Unavailable
from bench.frames import BadAnswer, Client
from bench.real_clients import Clients, Took
from bench.throughput_report import Found, Sample, Series, table, write
from bench.throughput_rows import LOADS, PRODUCE, SHARE, WARM_UP, Load

STARTERS: Final[dict[str, Callable[[], AbstractContextManager[Contestant]]]] = {
    STUB: contestants.stub,
    KFAKE: contestants.kfake,
    KAFKA: contestants.kafka_for_long,
}
ROUNDS, QUICK_ROUNDS, QUICK_PART = 3, 1, 0.25
TRIES: Final = 2
"""A server that cannot do something fails again; one failure may be the machine's."""


def measure(loads: Iterable[Load], running: Sequence[Contestant], rounds: int, clients: Clients) -> Found:
    """Every row of every contestant. Raises Unavailable where a client cannot be run."""
    found: Found = {}
    for load in loads:
        found |= {row: {one.name: Series() for one in running} for row in load.rows}
        order = deque(running)
        for number in range(rounds):
            order.rotate()
            for contestant in order:
                _say(f"{load.name}, round {number + 1} of {rounds}, {contestant.name}")
                _turn(load, contestant, number, clients, [found[row][contestant.name] for row in load.rows])
    return found


def _turn(load: Load, contestant: Contestant, number: int, clients: Clients, series: Sequence[Series]) -> None:
    """One topic of one contestant. What has failed twice is not tried again."""
    if all(one.failure is not None for one in series):
        return
    topic = f"bench-{load.name.replace(' ', '-').replace('=', '-')}-{number}"
    try:
        with Client(contestant.host, contestant.port) as client:
            create_topic(client, topic, load.clients)
            try:
                if load.told[0] != PRODUCE:
                    _filled(load, contestant, topic, clients)
                for what, one in zip(load.told, series, strict=True):
                    if one.failure is None:
                        _measured(load, what, contestant, topic, clients, one)
                    if what == PRODUCE and one.failure is not None:
                        for other in series[1:]:
                            other.failure = other.failure or "there was nothing to read"
                        return
            finally:
                delete_topic(client, topic)
    except (BadAnswer, OSError) as error:
        for one in series:
            one.failure = one.failure or f"{type(error).__name__}: {error}"


def _filled(load: Load, contestant: Contestant, topic: str, clients: Clients) -> Took:
    return clients.run(load, PRODUCE, f"{contestant.host}:{contestant.port}", topic, "")


def _measured(load: Load, what: str, contestant: Contestant, topic: str, clients: Clients, series: Series) -> None:
    servers = f"{contestant.host}:{contestant.port}"
    for attempt in range(TRIES):
        group = clients.new_group(topic)
        try:
            if what == SHARE:
                _read_from_the_start(contestant, group)
            before = contestant.processor_seconds()
            took = clients.run(load, what, servers, topic, group)
            busy = contestant.processor_seconds() - before
        except (BadAnswer, OSError) as error:
            if attempt == TRIES - 1:
                series.failure = f"{type(error).__name__}: {error}"
            continue
        # A client may leave the first records out of its seconds. The server has served them all.
        served = load.records * (load.clients if took.records > load.records else 1)
        series.samples.append(Sample(took.records, took.seconds, load.size, busy, served))
        return


def _read_from_the_start(contestant: Contestant, group: str) -> None:
    """Share groups begin at the end of a log unless their configuration says otherwise."""
    from kafkawire.messages.incremental_alter_configs_request import (
        AlterableConfig,
        AlterConfigsResource,
        IncrementalAlterConfigsRequest,
    )

    of_group, to_set = 32, 0
    setting = AlterableConfig("share.auto.offset.reset", to_set, "earliest")
    request = IncrementalAlterConfigsRequest([AlterConfigsResource(of_group, group, [setting])])
    with Client(contestant.host, contestant.port) as client:
        client.succeed(request, 1)


def run(loads: Sequence[Load], rounds: int, part: float) -> tuple[Found, dict[str, str]]:
    """What was found, and who is absent and why."""
    absent: dict[str, str] = {}
    with ExitStack() as stack:
        running: list[Contestant] = []
        for name, starter in STARTERS.items():
            _say(f"starting {name}")
            try:
                running.append(stack.enter_context(starter()))
            except (Unavailable, OSError) as error:
                absent[name] = f"{type(error).__name__}: {error}"
        clients = stack.enter_context(Clients())
        kinds = {load.client for load in loads}
        measure([load.part(part) for load in WARM_UP if load.client in kinds], running, 1, clients)
        found: Found = {}
        for load in loads:
            try:
                found |= measure([load.part(part)], running, rounds, clients)
            except Unavailable as error:
                absent[load.client] = str(error)
    return found, absent


def _say(what: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{what} …", end="", file=sys.stderr, flush=True)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.throughput", description="throughput with real clients")
    parser.add_argument("--quick", action="store_true", help="one round of a quarter of the records")
    parser.add_argument("--only", metavar="ROW", action="append", default=[], help="rows with ROW in their name")
    parser.add_argument("--rounds", type=int, help=f"instead of {ROUNDS}")
    parser.add_argument(
        "--document", action="store_true", help="write its section of docs/performance.md, with all rows"
    )
    parser.add_argument("--json", metavar="FILE", help="write the numbers there")
    given = parser.parse_args(arguments)
    loads = [load for load in LOADS if not given.only or any(word in row for word in given.only for row in load.rows)]
    if not loads:
        parser.error(f"--only: no row has {' or '.join(given.only)} in its name")
    begin = monotonic()
    rounds = given.rounds or (QUICK_ROUNDS if given.quick else ROUNDS)
    found, absent = run(loads, rounds, QUICK_PART if given.quick else 1.0)
    _say("")
    print(table(found, absent))
    print(f"{rounds} rounds, {monotonic() - begin:.0f} s")
    if given.json:
        numbers = {row: {name: asdict(one) for name, one in by_name.items()} for row, by_name in found.items()}
        Path(given.json).write_text(json.dumps(numbers, indent=1) + "\n")
    if given.document and not (given.only or given.quick):
        write(found, absent, rounds)
    return 1 if any(by_name[STUB].failure for by_name in found.values() if STUB in by_name) or STUB in absent else 0


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(main(sys.argv[1:]))
    sys.exit(130)
