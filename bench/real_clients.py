"""The clients of `bench.throughput`: Kafka's perf tools, franz-go and librdkafka, each in a process of its own."""

from __future__ import annotations

import json
import os
import select
import subprocess
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any, Self

from bench.contestants import Unavailable, go_program, module
from bench.frames import BadAnswer
from bench.sustained import CONSUMER, PRODUCER
from bench.throughput_rows import FRANZ, JAVA, LIBRDKAFKA, PRODUCE, SHARE, Load

SHARE_CONSUMER = "org.apache.kafka.tools.ShareConsumerPerformance"
PEERS = Path(__file__).resolve().parent / "peers"
HEAP_MB = 1024
READ_TIMEOUT_MS = "20000"
"""A consumer that gets no record for so long ends."""
RUN_SECONDS = 60
"""A client that takes longer has hung."""


class Hung(BadAnswer):
    """A client that did not end."""


@dataclass(frozen=True)
class Took:
    """What a client says: so many records in so many seconds."""

    records: int
    seconds: float


class Clients:
    """Every kind of client, started when it is needed first. Context manager."""

    def __init__(self) -> None:
        self._tools: _PerfTools | None = None
        self._number = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end_tools()

    def _end_tools(self) -> None:
        if self._tools is not None:
            self._tools.end()
            self._tools = None

    def new_group(self, topic: str) -> str:
        """A name that no group has had."""
        self._number += 1
        return f"{topic}-{self._number}"

    def run(self, load: Load, what: str, servers: str, topic: str, group: str) -> Took:
        """Raises BadAnswer where the client fails, Unavailable where there is none."""
        if load.client == JAVA:
            if self._tools is None:
                self._tools = _PerfTools()
            try:
                return _with_tools(self._tools, load, what, servers, topic, group)
            except Hung:  # its threads go on
                self._end_tools()
                raise
        if load.client == FRANZ:
            return _said(_franz(load, what, servers, topic, group))
        assert load.client == LIBRDKAFKA
        words = [what, servers, topic, str(load.records)]
        words += [str(load.size), load.compression, load.acks] if what == PRODUCE else [group]
        return _said(module("bench.rdkafka", *words))


# -- Kafka's perf tools ------------------------------------------------------------------------------------------------


class _PerfTools:
    """The JVM that runs the tools (peers/perf_tools): warm from the second run on, as a producer that runs for long."""

    def __init__(self) -> None:
        from tests.oracle.jars import TOOLS, OracleError, compiled, java_command

        try:
            classes = compiled(PEERS / "perf_tools" / "PerfTools.java", TOOLS)
            command = java_command(
                "PerfTools", classes=classes, heap_mb=HEAP_MB, log_level="ERROR", release=TOOLS, long_lived=True
            )
        except OracleError as error:
            raise Unavailable(str(error)) from None
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def run(self, commands: list[list[str]]) -> Any:
        """{"seconds": …, "runs": [{"status": …, "said": …}, …]}. Raises BadAnswer where one fails or hangs."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(commands).encode() + b"\n")
        process.stdin.flush()
        until, line = monotonic() + RUN_SECONDS, b""
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([process.stdout], [], [], max(0.0, until - monotonic()))
            read = os.read(process.stdout.fileno(), 1 << 20) if ready else b""
            if not read:
                raise Hung(f"a perf tool did not end within {RUN_SECONDS} s")
            line += read
        answer = json.loads(line)
        for run in answer["runs"]:
            if run["status"]:
                raise BadAnswer(f"a perf tool ended with {run['status']}: {_last(run['said'])}")
        return answer

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()


def _with_tools(tools: _PerfTools, load: Load, what: str, servers: str, topic: str, group: str) -> Took:
    """By what the tool says where it is one, otherwise from the start of the first to the end of the last one."""
    if what == SHARE:
        command = [SHARE_CONSUMER, *_common(load, servers, topic, load.records), *_reading(group)]
        command += ["--threads", str(load.clients), "--show-detailed-stats", "--reporting-interval", "20"]
        return share_consumers(tools.run([command])["runs"][0]["said"], load.records)
    if what == PRODUCE:
        each = load.records // load.clients
        command = [PRODUCER, *_common(load, servers, topic, each), *_sending(load, topic)]
        answer = tools.run([command] * load.clients)
        return Took(load.records, answer["seconds"])
    commands = [
        [CONSUMER, *_common(load, servers, topic, load.records), *_reading(f"{group}-{number}"), *_isolation(load)]
        for number in range(load.clients)
    ]
    answer = tools.run(commands)
    if load.clients > 1:  # each has a group of its own and reads everything
        return Took(load.clients * load.records, answer["seconds"])
    return Took(load.records, float(_columns(answer, load.records)["fetch.time.ms"]) / 1000)


def _common(load: Load, servers: str, topic: str, records: int) -> list[str]:
    return ["--bootstrap-server", servers, "--topic", topic, "--num-records", str(records)]


def _sending(load: Load, topic: str) -> list[str]:
    words = ["--record-size", str(load.size), "--throughput", "-1"]
    words += ["--command-property", f"compression.type={load.compression}", f"acks={load.acks}"]
    if load.transaction_ms is not None:
        words += ["--transactional-id", topic, "--transaction-duration-ms", str(load.transaction_ms)]
    return words


def _reading(group: str) -> list[str]:
    return ["--group", group, "--timeout", READ_TIMEOUT_MS]


def _isolation(load: Load) -> list[str]:
    return [] if load.transaction_ms is None else ["--command-property", "isolation.level=read_committed"]


def share_consumers(said: str, records: int) -> Took:
    """From the first records of any share consumer on: before them it waits for heartbeats, which are no throughput.

    Raises BadAnswer where they have read less.
    """
    lines = [line.split(", ") for line in said.splitlines() if ", " in line]
    begun = [(_moment(line[1]), int(line[5])) for line in lines if "for share consumer" in line[-1] and int(line[5])]
    whole = [line for line in lines if "for share consumer" not in line[-1]]
    if not begun or not whole or not whole[-1][5].isdigit() or int(whole[-1][5]) < records:
        raise BadAnswer(f"a perf tool did not read {records} records; it said: {_last(said)}")
    first, before = min(begun)
    return Took(int(whole[-1][5]) - before, (_moment(whole[-1][1]) - first).total_seconds())


def _moment(said: str) -> datetime:
    return datetime.strptime(said, "%Y-%m-%d %H:%M:%S:%f")


def _columns(answer: Any, records: int) -> dict[str, str]:
    """The last line of a consumer's table. Raises BadAnswer where it has read less."""
    said = answer["runs"][0]["said"]
    lines = [line.split(", ") for line in said.splitlines() if ", " in line]
    told = dict(zip(lines[-2], lines[-1], strict=False)) if len(lines) > 1 else {}
    if int(told.get("data.consumed.in.nMsg", "0")) < records:
        raise BadAnswer(f"a perf tool did not read {records} records; it said: {_last(said)}")
    return told


# -- the others --------------------------------------------------------------------------------------------------------


def _franz(load: Load, what: str, servers: str, topic: str, group: str) -> list[str]:
    words = [str(go_program(PEERS / "franz")), "-broker", servers, "-topic", topic, "-records", str(load.records)]
    words += ["-clients", str(load.clients)]
    sending = ["-size", str(load.size), "-compression", load.compression]
    return [*words, *(sending if what == PRODUCE else ["-read", "-group", group])]


def _said(command: list[str]) -> Took:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise Hung(f"a client did not end within {RUN_SECONDS} s") from None
    if done.returncode:
        raise BadAnswer(f"a client ended with {done.returncode}: {_last(done.stderr)}")
    return Took(**json.loads(done.stdout.splitlines()[-1]))


def _last(said: str) -> str:
    """Of a Java program with an exception its first line, which names it; otherwise the end."""
    named = next((line for line in said.splitlines() if "Exception" in line), said)
    return " ".join(named.split())[-300:]
