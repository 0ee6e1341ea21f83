"""A real Apache Kafka, one combined KRaft node, for tests; and Kafka's own command-line tools and Java client.

    with ApacheKafka(config={"group.initial.rebalance.delay.ms": 0}) as kafka:
        run_tool(GROUPS, "--bootstrap-server", kafka.bootstrap_servers, "--list")

A start takes some five seconds and 300 MB. The node ends with the `with` block, and with the process that started it
however that one ends (its standard input is a pipe from it). Its output is a file, quoted when something goes wrong.
"""

from __future__ import annotations

import base64
import contextlib
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.oracle.jars import HERE, TOOLS, OracleError, compiled, java_command

__all__ = ["ApacheKafka", "OracleError", "run_java", "run_tool", "start_java", "start_tool"]

CONSUMER_GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
CONSOLE_PRODUCER = "org.apache.kafka.tools.ConsoleProducer"
CONSOLE_CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"
GET_OFFSETS = "org.apache.kafka.tools.GetOffsetShell"
TOPICS = "org.apache.kafka.tools.TopicCommand"

START_SECONDS = 120
STARTS = 3
"""A port that was free when we asked may be taken when Kafka binds it: so many attempts."""

FAST = {
    "group.initial.rebalance.delay.ms": 0,
    "offsets.topic.replication.factor": 1,
    "share.coordinator.state.topic.replication.factor": 1,
    "share.coordinator.state.topic.min.isr": 1,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
    "log.flush.offset.checkpoint.interval.ms": 3600000,
    "controlled.shutdown.enable": "false",
    "broker.session.timeout.ms": 120000,  # on a busy machine the controller would fence the broker under a test
}
"""What one node needs to differ in from Kafka's defaults, and what makes it quick."""


class ApacheKafka:
    """One Apache Kafka node (id 1, broker and controller) on free ports of 127.0.0.1, with its own empty log folder.

    `config` holds broker settings by Kafka's names; values are written as str(value), bool as Kafka writes it.
    `release` is one other than the pom's, 3.9 or later: "3.9.2".
    `long_lived` has the JVM's settings from Kafka's own start script: more requests a second, a slower start.
    Attributes once started: `bootstrap_servers` ("127.0.0.1:PORT"), `port`, `cluster_id`, `log_file`.
    """

    bootstrap_servers: str
    port: int
    log_file: Path

    def __init__(
        self,
        config: Mapping[str, object] | None = None,
        heap_mb: int = 512,
        release: str = "",
        long_lived: bool = False,
    ) -> None:
        self.config = dict(config or {})
        self.heap_mb = heap_mb
        self.release = release
        self.long_lived = long_lived
        self.cluster_id = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=").replace("-", "A")
        self._folder: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def folder(self) -> Path | None:
        """Where the node's files are, its log directory as `logs`; None before it starts."""
        return self._folder

    @property
    def pid(self) -> int | None:
        """Of the node's process, where there is one."""
        return None if self._process is None else self._process.pid

    @property
    def running(self) -> bool:
        """Whether the node's process lives."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start, and return once the broker answers and is unfenced. Raises OracleError with the log's last lines."""
        for attempt in range(1, STARTS + 1):
            self._launch()
            try:
                self._await_answer()
                return
            except OracleError:
                port_lost = "Address already in use" in self.log()
                self.stop()
                if attempt == STARTS or not port_lost:
                    raise

    def stop(self) -> None:
        """End the node at once and remove its folder. Does nothing where it does not run."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            if process.stdin is not None:
                process.stdin.close()
        folder, self._folder = self._folder, None
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)

    def pause(self) -> None:
        """Let the node end as an administrator does (SIGTERM, a controlled shutdown if it is configured), and wait.

        Its folder stays for `resume`.
        """
        process = self._process
        assert process is not None
        process.terminate()
        try:
            process.wait(START_SECONDS)
        except subprocess.TimeoutExpired:
            raise OracleError(f"the node did not end within {START_SECONDS} s; it said:\n{self.log(40)}") from None
        self._let_go()

    def crash(self) -> None:
        """kill -9. Its folder stays for `resume`."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        self._let_go()

    def _let_go(self) -> None:
        """The process has ended, and its folder stays."""
        process, self._process = self._process, None
        assert process is not None
        assert process.stdin is not None
        process.stdin.close()

    def resume(self) -> None:
        """Start the node again after `pause` or `crash`, on its port and with its data; it answers at the end."""
        for attempt in range(1, STARTS + 1):
            self._run()
            try:
                self._await_answer(3 * START_SECONDS)  # the controller may take it for running for a while
                return
            except OracleError:
                if self.running or attempt == STARTS:
                    raise
                self._let_go()

    def log(self, last_lines: int | None = None) -> str:
        """What the node has logged so far: everything, or the last lines of it."""
        try:
            lines = self.log_file.read_text(errors="replace").splitlines()
        except (AttributeError, FileNotFoundError):
            return ""
        return "\n".join(lines if last_lines is None else lines[-last_lines:])

    def _launch(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="apache-kafka-"))
        self.log_file = self._folder / "output.log"
        self.port, controller_port = _free_ports(2)
        self.bootstrap_servers = f"127.0.0.1:{self.port}"
        properties = self._folder / "server.properties"
        properties.write_text(self._properties(controller_port, self._folder / "logs"))
        self._run()

    def _run(self) -> None:
        """Start the process over the folder as it is."""
        assert self._folder is not None
        command = java_command(
            "StartKafka",
            str(self._folder / "server.properties"),
            self.cluster_id,
            classes=compiled(HERE / "StartKafka.java", self.release),
            heap_mb=self.heap_mb,
            log_level="INFO",
            release=self.release,
            long_lived=self.long_lived,
        )
        with self.log_file.open("ab") as output:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT, cwd=self._folder
            )

    def _properties(self, controller_port: int, logs: Path) -> str:
        listeners = f"PLAINTEXT://127.0.0.1:{self.port},CONTROLLER://127.0.0.1:{controller_port}"
        settings: dict[str, object] = {
            "process.roles": "broker,controller",
            "node.id": 1,
            "listeners": listeners,
            "advertised.listeners": listeners,
            "controller.listener.names": "CONTROLLER",
            "controller.quorum.bootstrap.servers": f"127.0.0.1:{controller_port}",
            "log.dirs": logs,
            **FAST,
            **self.config,
        }
        return "".join(f"{key}={_written(value)}\n" for key, value in settings.items())

    def _await_answer(self, seconds: float = START_SECONDS) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if not self.running:
                raise OracleError(f"Apache Kafka ended while it started; it said:\n{self.log(40)}")
            if _names_a_broker("127.0.0.1", self.port):
                return
            assert self._process is not None
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(0.05)
        raise OracleError(f"Apache Kafka did not answer within {seconds:g} s; it said:\n{self.log(40)}")


def run_tool(
    main_class: str, *args: str, stdin: str | None = None, timeout: float = 60
) -> subprocess.CompletedProcess[str]:
    """Run one of Kafka's command-line tools to its end, e.g. run_tool(TOPICS, "--bootstrap-server", …, "--list").

    The result has returncode, stdout and stderr. Raises OracleError when `timeout` seconds were not enough.
    """
    return _run(java_command(main_class, *args, release=TOOLS), main_class, stdin, timeout)


def start_tool(main_class: str, *args: str) -> subprocess.Popen[str]:
    """Start one of Kafka's command-line tools, with pipes for its input and output; ending it is the caller's part."""
    return _popen(java_command(main_class, *args, release=TOOLS))


def run_java(
    source: Path, *args: str, stdin: str | None = None, timeout: float = 120, release: str = ""
) -> subprocess.CompletedProcess[str]:
    """Compile one Java source file (main class named as the file, no package) against Kafka's jars, and run it."""
    command = java_command(source.stem, *args, classes=compiled(source, release), release=release)
    return _run(command, source.name, stdin, timeout)


def start_java(source: Path, *args: str) -> subprocess.Popen[str]:
    """As `run_java`, but only start it, with pipes for its input and output; ending it is the caller's part."""
    return _popen(java_command(source.stem, *args, classes=compiled(source)))


def _run(command: list[str], name: str, stdin: str | None, timeout: float) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command,
            input=stdin if stdin is not None else "",
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        said = _text(late.stdout) + _text(late.stderr)
        raise OracleError(f"{name} did not end within {timeout:g} s; it said:\n{said}") from None


def _popen(command: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1
    )


def _text(output: str | bytes | None) -> str:
    return output.decode(errors="replace") if isinstance(output, bytes) else output or ""


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]


def _names_a_broker(host: str, port: int) -> bool:
    """Whether Metadata v1 about no topic is answered, and names a broker: the node serves and is not fenced."""
    try:
        return brokers_named(host, port) > 0
    except OSError:
        return False


def brokers_named(host: str, port: int) -> int:
    """How many brokers a node's Metadata v1 names; 0 where it closes. Raises OSError where nobody listens."""
    header = struct.pack(">hhih", 3, 1, 1, -1)
    request = header + struct.pack(">i", 0)
    with socket.create_connection((host, port), timeout=5) as connection, connection.makefile("rb") as answers:
        connection.sendall(struct.pack(">i", len(request)) + request)
        head: bytes = answers.read(12)
    return int(struct.unpack(">iii", head)[2]) if len(head) == 12 else 0
