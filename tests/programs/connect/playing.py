"""Kafka Connect in distributed mode, with an exactly-once source: Kafka's own FileStreamSource.

Two workers share the connector. The one that has its task is killed in the middle of a transaction; the other fences
the dead one's producer and goes on where the last transaction ended. At the end the one with the task is ended
in order: with transactions by the interval, a source that has nothing more leaves its last one open until then.
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tests.oracle.jars import LOG4J
from tests.programs.judging import aborted, each_once, in_order
from tests.programs.running import SECONDS, Running
from tests.programs.stage import Stage
from tests.toolchains import CACHE, build_maven, java_program, locked_java, need
from tests.waiting import until

PROJECT: Final = Path(__file__).with_name("java")
BUILT: Final = CACHE / "programs" / "connect"
FLAGS: Final = (f"-Dlog4j2.configurationFile={LOG4J}", "-Doracle.log.level=WARN")
LINES: Final = 20_000
RATE: Final = 1000
"""Lines a second."""
CONNECTOR: Final = "lines"

version = locked_java(PROJECT, "connect-runtime")


def build() -> None:
    need("mvn")
    build_maven(PROJECT, BUILT)


class Worker:
    """A process, and its REST interface."""

    def __init__(self, stage: Stage) -> None:
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
        self.id = f"127.0.0.1:{port}"
        properties = stage.folder / f"worker-{port}.properties"
        properties.write_text("".join(f"{key}={value}\n" for key, value in _settings(stage, port).items()))
        main = "org.apache.kafka.connect.cli.ConnectDistributed"
        self.process: Running = stage.start(java_program(BUILT, main, str(properties), flags=FLAGS), "worker")

    def ask(self, path: str, body: Mapping[str, str] | None = None) -> Any:
        """The answer as JSON (PUT where there is a body); None while there is none."""
        url = f"http://{self.id}/connectors/{path}"
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(url, data, headers, method="GET" if body is None else "PUT")
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return json.load(answer)
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return None

    def task_at(self) -> str:
        """The worker that runs the task; "" where none does."""
        found = self.ask(f"{CONNECTOR}/status")
        running = [task["worker_id"] for task in found["tasks"] if task["state"] == "RUNNING"] if found else []
        return running[0] if running else ""


def _settings(stage: Stage, port: int) -> dict[str, object]:
    topics = {f"{what}.storage.topic": stage.name(f"connect-{what}") for what in ("config", "offset", "status")}
    factors = {f"{what}.storage.replication.factor": 1 for what in ("config", "offset", "status")}
    converters = {f"{what}.converter": "org.apache.kafka.connect.storage.StringConverter" for what in ("key", "value")}
    return {
        "bootstrap.servers": stage.bootstrap_servers,
        "group.id": stage.name("connect"),
        "listeners": f"HTTP://127.0.0.1:{port}",
        "exactly.once.source.support": "enabled",
        "plugin.discovery": "service_load",
        "session.timeout.ms": 6000,
        "heartbeat.interval.ms": 1000,
        "scheduled.rebalance.max.delay.ms": 0,  # by default a lost task waits five minutes for its worker
        **topics,
        **factors,
        **converters,
    }


def _connector(file: Path, topic: str) -> dict[str, str]:
    return {
        "connector.class": "FileStreamSource",
        "tasks.max": "1",
        "file": str(file),
        "topic": topic,
        "exactly.once.support": "required",
        "transaction.boundary": "interval",
        "transaction.boundary.interval.ms": "300",
    }


@contextlib.contextmanager
def _growing(file: Path, lines: Sequence[str]) -> Iterator[None]:
    """Lines are appended to the file beside what the block does; at its end all are there."""

    def write() -> None:
        with file.open("a", buffering=1) as output:
            for line in lines:
                output.write(f"{line}\n")
                time.sleep(1 / RATE)

    file.touch()
    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    yield
    thread.join()


def play(stage: Stage) -> Iterator[str]:
    """Kill the worker that has the task, twice; one more is started before the second time."""
    target, file = stage.create(stage.name("lines")), stage.folder / "lines.txt"
    lines = [f"line {number}" for number in range(LINES)]
    workers = [Worker(stage), Worker(stage)]
    until(lambda: all(one.ask("") is not None for one in workers), "two workers", SECONDS)
    until(lambda: workers[0].ask(f"{CONNECTOR}/config", _connector(file, target)), "the connector", SECONDS)
    with _growing(file, lines):
        for which in ("first", "second"):
            alive = [one for one in workers if one.process.lives]
            owner = _owner(alive)
            stage.some_committed(target, stage.ends(target))
            stage.kill_in_transaction(owner.process, target)
            yield f"the {which} worker with the task: killed in a transaction"
            workers.append(Worker(stage))
    until(lambda: lines[-1] in {one.value for one in stage.read(target, committed=False)}, "the last line", SECONDS)
    _owner([one for one in workers if one.process.lives]).process.terminate()
    yield stage.no_transaction_is_open(target)
    committed = stage.read(target)
    yield each_once(lines, (one.value for one in committed), "lines")
    yield in_order(committed, {0: lines})
    yield aborted(committed, stage.read(target, committed=False))


def _owner(workers: Sequence[Worker]) -> Worker:
    """Wait until one of these has the task."""

    def owner() -> Worker | None:
        found = {worker.task_at() for worker in workers}
        return next((one for one in workers if found == {one.id}), None)

    found = until(owner, lambda: f"a worker with the task; {workers[0].ask(f'{CONNECTOR}/status')}", SECONDS)
    assert found is not None
    return found
