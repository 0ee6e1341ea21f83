"""Sustained throughput as users measure it: Kafka's own kafka-producer-perf-test and kafka-consumer-perf-test.

One partition, the tools' own settings, one tool at a time; the tool and the server share the machine as the system
likes. In each round every contestant has its turn with a topic of its own, which is deleted behind it. The first
quarter of what a producer sends warms it up and does not count (the tool's --warmup-records). A consumer's time is that
of fetching alone: how long a group's first rebalance is held back is a setting, not throughput.
"""

from __future__ import annotations

import re
import subprocess
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from bench.cases import create_topic, delete_topic
from bench.contestants import Contestant, Unavailable
from bench.frames import BadAnswer, Client

PRODUCER = "org.apache.kafka.tools.ProducerPerformance"
CONSUMER = "org.apache.kafka.tools.ConsumerPerformance"

RUN_SECONDS = 120
"""A tool that takes longer has hung."""

READ_TIMEOUT_MS = "60000"
"""The tool's own 10 s are not enough for eight of them on two processors: their rebalance takes longer."""

HEAP_MB = 512


@dataclass(frozen=True)
class Load:
    """What the tools send and read; sizes in bytes."""

    name: str
    size: int
    records: int


@dataclass
class Throughput:
    """One contestant's MB/s (of 2^20 bytes of record values), a number a round."""

    produced: list[float] = field(default_factory=list)
    consumed: list[float] = field(default_factory=list)
    failure: str | None = None


LOADS = (Load("sustained/1KB", 1024, 200_000), Load("sustained/100B", 100, 1_000_000))


def measure(load: Load, contestants: Sequence[Contestant], rounds: int, part: float = 1.0) -> dict[str, Throughput]:
    """By contestant; `part` of the load's records are sent. Raises Unavailable where the tools cannot be run."""
    jars = _jars()
    records = int(load.records * part)
    found = {contestant.name: Throughput() for contestant in contestants}
    order = deque(contestants)
    name = load.name.replace("/", "-")
    for number in range(rounds):
        order.rotate()
        for contestant in order:
            series = found[contestant.name]
            if series.failure is None:
                try:
                    _measure_one(jars, contestant, f"bench-{name}-{number}", load, records, series)
                except (BadAnswer, OSError) as error:
                    series.failure = f"{type(error).__name__}: {error}"
    return found


def _measure_one(
    jars: list[str], contestant: Contestant, topic: str, load: Load, records: int, series: Throughput
) -> None:
    with Client(contestant.host, contestant.port) as client:
        create_topic(client, topic, 1)
        try:
            server = ["--bootstrap-server", f"{contestant.host}:{contestant.port}", "--topic", topic]
            common = [*server, "--num-records", str(records)]
            warm_up = records // 4
            sending = ["--record-size", str(load.size), "--throughput", "-1", "--warmup-records", str(warm_up)]
            sent = _run([*jars, PRODUCER, *common, *sending])
            read = _run([*jars, CONSUMER, *common, "--timeout", READ_TIMEOUT_MS])
            series.produced.append(produced(sent, records - warm_up))
            series.consumed.append(consumed(read, records))
        finally:
            delete_topic(client, topic)


def produced(said: str, records: int) -> float:
    """MB/s of the records behind the warm-up, as the producer says. Raises BadAnswer where they are not so many."""
    told = re.search(rf"^{records} steady state records sent, .*\(([\d.]+) MB/sec\)", said, re.MULTILINE)
    if told is None:
        raise BadAnswer(f"kafka-producer-perf-test did not send {records} records; it said: {said.strip()[-500:]}")
    return float(told[1])


def consumed(said: str, records: int) -> float:
    """MB/s of fetching by the consumer's table. Raises BadAnswer where it has not read so many records."""
    lines = [line.split(", ") for line in said.splitlines() if ", " in line]
    told = dict(zip(lines[-2], lines[-1], strict=False)) if len(lines) > 1 else {}
    if int(told.get("data.consumed.in.nMsg", "0")) < records:
        raise BadAnswer(f"kafka-consumer-perf-test did not read {records} records; it said: {said.strip()[-500:]}")
    return float(told["fetch.MB.sec"])


def _run(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise BadAnswer(f"a tool did not end within {RUN_SECONDS} s") from None
    if done.returncode:
        raise BadAnswer(f"a tool ended with {done.returncode}: {(done.stdout + done.stderr).strip()[-500:]}")
    return done.stdout


def _jars() -> list[str]:
    """How the command line of a tool begins. Raises Unavailable without Java or Kafka's jars."""
    from tests.oracle.jars import LOG4J, TOOLS, OracleError, class_path, java

    try:
        program, path = java(), class_path(TOOLS)
    except OracleError as error:
        raise Unavailable(str(error)) from None
    settings = [f"-Xmx{HEAP_MB}m", f"-Dlog4j2.configurationFile={LOG4J}", "-Doracle.log.level=ERROR"]
    return [program, *settings, "-cp", path]
