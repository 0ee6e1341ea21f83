"""Kafka's own smoke test of Kafka Streams, StreamsSmokeTest, as its system tests play it: members that come and go.

Its driver writes 20,000 records in 90 s, and then judges by itself what the members have made of them in twelve topics:
minima, maxima, sums, counts, averages, joins of tables, suppressed windows. With exactly_once_v2 each result has to be
the right one; and no transaction may be open.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.oracle.jars import LOG4J
from tests.programs.judging import Wrong
from tests.programs.running import SECONDS, Running
from tests.programs.stage import Stage
from tests.programs.streams.grouped import ONCE, configured, kill_one
from tests.toolchains import CACHE, build_maven, java_program, locked_java, need

PROJECT: Final = Path(__file__).with_name("smoke")
BUILT: Final = CACHE / "programs" / "streams-smoke"
MAIN: Final = "org.apache.kafka.streams.tests.StreamsSmokeTest"
FLAGS: Final = (f"-Dlog4j2.configurationFile={LOG4J}", "-Doracle.log.level=WARN")
TOPICS: Final = tuple(
    "data echo max min min-suppressed min-raw dif sum sws-raw sws-suppressed cnt avg tagg fk".split()  # noqa: SIM905
)
WRITTEN: Final = TOPICS[1:-1]
PARTITIONS: Final = 5
VERIFIED_SECONDS: Final = 2 * SECONDS
WANTED: Final = ("ALL-RECORDS-DELIVERED", "SUCCESS")

version = locked_java(PROJECT, "kafka-streams")


def build() -> None:
    need("mvn")
    build_maven(PROJECT, BUILT)


def _start(stage: Stage, command: str, heap_mb: int = 256) -> Running:
    settings = {
        "bootstrap.servers": stage.bootstrap_servers,
        "application.id": stage.name("smoke"),
        "num.stream.threads": 3,
        **ONCE,
    }
    file = stage.folder / "smoke.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    return stage.start(java_program(BUILT, MAIN, str(file), command, heap_mb=heap_mb, flags=FLAGS), command)


def play(stage: Stage) -> Iterator[str]:
    """Three members, one of which ends in order and one is killed; two more come. The topics' names are its own."""
    for topic in TOPICS:
        stage.create(topic, PARTITIONS)
    configured(stage, stage.name("smoke"))
    members = [_start(stage, "process")]
    members[0].says("SMOKE-TEST-CLIENT-STARTED")
    driver = _start(stage, "run")
    members += [_start(stage, "process") for _ in range(2)]
    driver.says(" 4000 records produced")
    members[0].terminate()
    if "SMOKE-TEST-CLIENT-CLOSED" not in members[0].said():
        raise Wrong(f"the first did not close: {members[0].end_of_log()}")
    yield "the first of three members: closed in order"
    members.append(_start(stage, "process"))
    driver.says(" 10000 records produced")
    kill_one(stage, members[1:], *WRITTEN)
    yield "another one: killed in a transaction"
    members.append(_start(stage, "process"))
    driver.ends(VERIFIED_SECONDS)
    said = driver.said().splitlines()
    missing = [word for word in WANTED if word not in said]
    if missing:
        raise Wrong(f"the driver does not say {missing}: {driver.end_of_log(40)}")
    yield "Kafka's own judge: all records delivered, and every result is right"
    for member in members:
        if "SMOKE-TEST-CLIENT-EXCEPTION" in member.said():
            raise Wrong(f"a member failed: {member.end_of_log(30)}")
    yield "no member failed"
