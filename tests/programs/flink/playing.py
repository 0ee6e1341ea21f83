"""Flink's exactly-once Kafka sink, with its Kafka source before it: a job that fails once, and later is killed.

Flink commits its transactions when a checkpoint is complete. After the failure it starts the job again itself; after
kill -9 a new process goes on from the last checkpoint on disk, whose transactions it commits if the dead one has not.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.oracle.jars import LOG4J
from tests.programs.judging import aborted, each_once, in_order
from tests.programs.running import SECONDS, Running
from tests.programs.stage import Row, Stage
from tests.toolchains import CACHE, build_maven, java_program, locked_java, need
from tests.waiting import until

PROJECT: Final = Path(__file__).with_name("java")
BUILT: Final = CACHE / "programs" / "flink"
FLAGS: Final = (
    f"-Dlog4j2.configurationFile={LOG4J}",
    "-Doracle.log.level=WARN",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "--add-opens=java.base/java.util=ALL-UNNAMED",
)
PARTITIONS: Final = 2
RECORDS: Final = 10_000
"""In each partition."""
RATE: Final = 1000
"""Records a second, of both."""
FAILS_AT: Final = 3000

flink_version = locked_java(PROJECT, "flink-clients")
connector_version = locked_java(PROJECT, "flink-connector-kafka")


def version() -> str:
    return f"{flink_version()}, connector {connector_version()}"


def build() -> None:
    need("mvn")
    build_maven(PROJECT, BUILT)


def play(stage: Stage) -> Iterator[str]:
    source, target = (stage.create(stage.name(what), PARTITIONS) for what in ("input", "output"))
    values = {index: [f"{index}-{number}-x" for number in range(RECORDS)] for index in range(PARTITIONS)}
    rows: list[Row] = [(index, "", values[index][number]) for number in range(RECORDS) for index in range(PARTITIONS)]
    failure = values[0][FAILS_AT]
    checkpoints = stage.folder / "checkpoints"
    checkpoints.mkdir()
    with stage.feeding(RATE, (source, rows)):
        first = _start(stage, source, target, failure, "")
        until(lambda: (checkpoints / failure).exists(), lambda: f"the failure; {first.end_of_log()}", SECONDS)
        yield "the first: failed once, started again by Flink"
        stage.some_committed(target, stage.ends(target))
        stage.kill_in_transaction(first, target)
        yield "and killed in a transaction"
        second = _start(stage, source, target, failure, str(_last(checkpoints)))
    stage.read_at_least(target, PARTITIONS * RECORDS)
    yield stage.no_transaction_is_open(target)
    second.kill()
    committed = stage.read(target)
    expected = {index: [value.upper() for value in all_of] for index, all_of in values.items()}
    yield each_once((value for all_of in expected.values() for value in all_of), (one.value for one in committed))
    yield in_order(committed, expected)
    yield aborted(committed, stage.read(target, committed=False))


def _start(stage: Stage, source: str, target: str, failure: str, checkpoint: str) -> Running:
    words = [stage.bootstrap_servers, source, target, str(stage.folder / "checkpoints"), failure]
    words += [checkpoint] if checkpoint else []
    return stage.start(java_program(BUILT, "Job", *words, heap_mb=512, flags=FLAGS), "job")


def _last(checkpoints: Path) -> Path:
    """The folder of the newest complete checkpoint: one that has its metadata."""
    complete = [one.parent for one in checkpoints.glob("*/chk-*/_metadata")]
    return max(complete, key=lambda folder: int(folder.name.removeprefix("chk-")))
