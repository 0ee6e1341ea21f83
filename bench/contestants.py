"""The servers that are measured, each as a process of its own that a run starts and ends."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
KFAKE = HERE / "peers" / "kfake"

READY = re.compile(r"ready on (\S+):(\d+)")
END_SECONDS = 10


class Unavailable(Exception):
    """A contestant that cannot take part here; the message says why."""


@dataclass(frozen=True)
class Contestant:
    """A server that runs."""

    name: str
    host: str
    port: int
    process: subprocess.Popen[str] | None = None
    pid: int | None = None
    """Of the server, where `process` is None and the process is somebody else's to end."""

    def processor_seconds(self) -> float:
        """The processor time of the server's process so far, all threads. Raises Unavailable where it is not told."""
        pid = self.pid if self.process is None else self.process.pid
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
        except OSError:
            raise Unavailable("processor time is read from /proc, which is not here") from None
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident_bytes(self) -> int:
        """What the process holds of memory. Raises Unavailable where the system does not tell."""
        if self.process is None:
            raise Unavailable(f"{self.name} is not a process of ours")
        if self.name == "kfake":  # a garbage collector keeps what it may give back: ask for it
            assert self.process.stdin is not None
            assert self.process.stdout is not None
            self.process.stdin.write("collect\n")
            self.process.stdin.flush()
            self.process.stdout.readline()
        try:
            status = Path(f"/proc/{self.process.pid}/status").read_text()
        except OSError:
            raise Unavailable("memory is read from /proc, which is not here") from None
        return int(status.split("VmRSS:")[1].split()[0]) * 1024


def module(name: str, *words: str) -> list[str]:
    """What runs one of these modules in a process of its own."""
    return [sys.executable, "-m", name, *words]


def stub_command() -> list[str]:
    """What starts kafkastub from the environment that runs this."""
    script = Path(sys.executable).with_name("kafkastub")
    return [str(script) if script.exists() else "kafkastub", "serve", "--port", "0", "--log-level", "warning"]


LARGE_GROUPS_AT_ONCE = {
    "group.initial.rebalance.delay.ms": 0,
    "group.streams.initial.rebalance.delay.ms": 0,
    "group.share.max.size": 1000,
}
"""Groups that wait for nobody, and may be as large as those of `settling`."""


@contextlib.contextmanager
def stub() -> Iterator[Contestant]:
    """kafkastub in its default profile, but for large groups."""
    configs = [f"--config={name}={value}" for name, value in LARGE_GROUPS_AT_ONCE.items()]
    with process_that_says_ready("kafkastub", [*stub_command(), *configs]) as running:
        yield running


@contextlib.contextmanager
def echo() -> Iterator[Contestant]:
    """The raw echo."""
    with process_that_says_ready("echo", module("bench.echo")) as running:
        yield running


@contextlib.contextmanager
def kfake() -> Iterator[Contestant]:
    """kfake, built with the Go toolchain. Raises Unavailable without one."""
    with process_that_says_ready("kfake", [str(build_kfake())]) as running:
        yield running


@contextlib.contextmanager
def kafka() -> Iterator[Contestant]:
    """Apache Kafka, with a broker's defaults but for what one node and large groups need. Unavailable without Java."""
    with _kafka(LARGE_GROUPS_AT_ONCE, long_lived=False) as running:
        yield running


@contextlib.contextmanager
def kafka_for_long() -> Iterator[Contestant]:
    """The same in a JVM with the settings of Kafka's own start script, which is slow at first; deletes topics soon."""
    with _kafka({**LARGE_GROUPS_AT_ONCE, "log.segment.delete.delay.ms": 1000}, long_lived=True) as running:
        yield running


@contextlib.contextmanager
def _kafka(config: Mapping[str, object], long_lived: bool) -> Iterator[Contestant]:
    if shutil.which("java") is None:
        raise Unavailable("no Java here")
    from tests.oracle.apache_kafka import ApacheKafka, OracleError

    broker = ApacheKafka(config, heap_mb=1024, long_lived=long_lived)
    try:
        broker.start()
    except OracleError as error:
        raise Unavailable(str(error).splitlines()[0]) from None
    try:
        host, port = broker.bootstrap_servers.rsplit(":", 1)
        yield Contestant("kafka", host, int(port), pid=broker.pid)
    finally:
        broker.stop()


def build_kfake() -> Path:
    """The kfake program. Raises Unavailable where it cannot be built."""
    return go_program(KFAKE)


def go_program(folder: Path) -> Path:
    """The program of that name, built where it is not there or older than its source. Raises Unavailable."""
    if shutil.which("go") is None:
        raise Unavailable("no Go toolchain here")
    program = folder / folder.name
    sources = (folder / "main.go", folder / "go.mod", folder / "go.sum")
    if not program.exists() or program.stat().st_mtime < max(source.stat().st_mtime for source in sources):
        command = ["go", "build", "-trimpath", "-o", str(program), "."]
        built = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if built.returncode:
            raise Unavailable(f"{folder.name} does not build: {built.stderr.strip().splitlines()[-1]}")
    return program


def kfake_version() -> str:
    """The pinned version of kfake."""
    found = re.search(r"franz-go/pkg/kfake (\S+)", (KFAKE / "go.mod").read_text())
    return found.group(1) if found else "unknown"


@contextlib.contextmanager
def process_that_says_ready(name: str, command: Sequence[str]) -> Iterator[Contestant]:
    """A server that says `… ready on HOST:PORT`; ended with SIGTERM and the end of its input."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
    except OSError as error:
        raise Unavailable(f"{name} does not start: {error}") from None
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        ready = READY.search(line)
        if ready is None:
            raise Unavailable(f"{name} did not get ready: {line.strip() or 'no output'}")
        yield Contestant(name, ready.group(1), int(ready.group(2)), process)
    finally:
        _end(process)


def _end(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(OSError):
        process.send_signal(signal.SIGTERM)
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()
