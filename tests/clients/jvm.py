"""JVMs with Kafka's Java clients (java/Driver.java), and with its tools and Streams (java/Tools.java), over a pipe."""

from __future__ import annotations

import contextlib
import json
import subprocess
import tempfile
import threading
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple, Self

from tests.clients.client import Refused
from tests.oracle.jars import TOOLS, compiled, java_command

SOURCES = Path(__file__).resolve().parent / "java"
OF_TOOLS = ("tool", "word_count_")
"""How verbs begin that want the jars of another release than the clients."""


class Finished(NamedTuple):
    """A command-line tool's exit status and output."""

    status: int
    out: str
    err: str


class Jvm:
    """The clients of the newest release, and tools and Streams of the newest one that has them: a process each."""

    def __init__(self) -> None:
        self._clients = _Program("Driver")
        self._tools = _Program("Tools", TOOLS)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def ask(self, verb: str, **fields: Any) -> Any:
        """The value that is answered. Raises Refused with the name of Kafka's error, where it is one."""
        program = self._tools if verb.startswith(OF_TOOLS) else self._clients
        return program.ask({"verb": verb, **fields})

    def tool(self, main_class: str, *args: str, stdin: str = "") -> Finished:
        """Run one of Kafka's command-line tools to its end."""
        return Finished(**self.ask("tool", main=main_class, args=args, stdin=stdin))

    def stop(self) -> None:
        """End both."""
        self._clients.stop()
        self._tools.stop()


class _Program:
    """A process that starts with the first request, answers one at a time, and ends with `stop`."""

    def __init__(self, name: str, release: str = "") -> None:
        self._name = name
        self._release = release
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._said: IO[str] | None = None

    def ask(self, request: dict[str, Any]) -> Any:
        with self._lock:
            process = self._running()
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        assert line, f"the JVM ended; it said:\n{self._log()}"
        answer = json.loads(line)
        if "error" in answer:
            code, text = answer["error"]["code"], answer["error"]["text"]
            if code == "UNKNOWN_SERVER_ERROR":
                raise RuntimeError(text)
            raise Refused(code) from RuntimeError(text)
        return answer["value"]

    def stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        process.wait()
        process.stdout.close()
        assert self._said is not None
        self._said.close()

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None:
            classes = compiled(SOURCES / f"{self._name}.java", self._release)
            command = java_command(self._name, classes=classes, release=self._release)
            self._said = tempfile.TemporaryFile("w+")  # noqa: SIM115 - lives as long as the process
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, encoding="utf-8"
            )
        return self._process

    def _log(self) -> str:
        assert self._said is not None
        self._said.seek(0)
        return self._said.read()
