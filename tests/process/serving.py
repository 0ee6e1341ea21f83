"""The command `kafkastub serve` as a user runs it: a process with its output, its signals and its status."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from kafkawire.codec import decode, encode
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from kafkawire.messages.metadata_response import MetadataResponse
from tests.rawclient import RawClient

COMMAND = Path(sys.executable).parent / "kafkastub"
READY = re.compile(r"kafkastub ready on (\S+):(\d+)\S* \(profile (\w+)\)\n")
CONTROL = re.compile(r"kafkastub control port on (http://127\.0\.0\.1:\d+)\n")
START_SECONDS = 60
SOON = 8
"""Seconds within which a process has ended that waits for nobody, on a busy machine too; to wait costs ten and more."""


class Serving:
    """A running `kafkastub serve`; `--port 0` unless `args` name a port, or `port` is None.

        with Serving("--topic", "orders:3") as process:
            ...

    Leaving the block kills what still runs. With `deaf`, nobody reads standard output, and with `full` it goes there;
    the ready line is not waited for then. `stderr` is a file descriptor for standard error.
    """

    def __init__(
        self,
        *args: str,
        deaf: bool = False,
        full: IO[str] | None = None,
        port: str | None = "0",
        stderr: int | None = None,
    ) -> None:
        port_option = () if "--port" in args or port is None else ("--port", port)
        self._stderr = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed with the process
        self.process = subprocess.Popen(
            [*self.command(), "serve", *port_option, *args],
            stdout=full or subprocess.PIPE,
            stderr=self._stderr if stderr is None else stderr,
            text=True,
            pass_fds=self.inherited(),
        )
        self._deaf = deaf or full is not None
        if deaf:
            assert self.process.stdout is not None
            self.process.stdout.close()

    def command(self) -> Sequence[str | Path]:
        """What runs `serve`."""
        return [COMMAND]

    def inherited(self) -> Sequence[int]:
        """File descriptors that it gets besides the usual three."""
        return ()

    def __enter__(self) -> Self:
        if self._deaf:
            return self
        assert self.process.stdout is not None
        self.ready_line = self.process.stdout.readline()
        ready = READY.fullmatch(self.ready_line)
        assert ready, f"{self.ready_line!r}; on standard error: {self.stderr}"
        self.host, self.port, self.profile = ready[1], int(ready[2]), ready[3]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()
        self._stderr.close()

    @property
    def servers(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def stderr(self) -> str:
        """What it has written on standard error so far."""
        self._stderr.seek(0)
        return self._stderr.read()

    def stop(self, number: int) -> tuple[int, float, str]:
        """Send a signal: gives the status, the seconds that it took, and what standard output still had."""
        begin = time.monotonic()
        self.process.send_signal(number)
        status = self.process.wait(START_SECONDS)
        rest = "" if self._deaf or self.process.stdout is None else self.process.stdout.read()
        return status, time.monotonic() - begin, rest

    def await_answer(self, port: int) -> None:
        """Ask until it answers on this port."""
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                metadata(f"127.0.0.1:{port}")
                return
            except ConnectionRefusedError:
                assert time.monotonic() < deadline, self.stderr
                assert self.process.poll() is None, self.stderr

    def metadata(self, *topics: str) -> Any:
        """What a client is told about the cluster and all topics, or these (which may be created by it)."""
        return metadata(self.servers, *topics)


class Controlled(Serving):
    """With a control port at `url`, one that is free unless it is given."""

    def __init__(self, *args: str, control_port: int = 0) -> None:
        super().__init__("--control-port", str(control_port), *args)

    def __enter__(self) -> Self:
        super().__enter__()
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = CONTROL.fullmatch(line)
        assert found, line
        self.url = found[1]
        return self


def metadata(servers: str, *topics: str) -> Any:
    """The MetadataResponse that the broker at `servers` gives."""
    asked = [MetadataRequestTopic(name=name) for name in topics] or None
    body = encode(MetadataRequest(topics=asked, allow_auto_topic_creation=True), 12)
    with RawClient(servers) as client:
        return decode(MetadataResponse, 12, client.exchange(3, 12, body))


def refused(*args: str) -> tuple[int, str]:
    """Run `kafkastub serve` with arguments that end it: its status and standard error; standard output is empty."""
    done = subprocess.run([COMMAND, "serve", *args], capture_output=True, text=True, timeout=START_SECONDS, check=False)
    assert done.stdout == ""
    return done.returncode, done.stderr
