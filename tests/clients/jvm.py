"""One JVM with Kafka's Java clients and command-line tools, driven over a pipe (java/Driver.java)."""

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
from tests.oracle.jars import compiled, java_command

SOURCE = Path(__file__).resolve().parent / "java" / "Driver.java"


class Finished(NamedTuple):
    """A command-line tool's exit status and output."""

    status: int
    out: str
    err: str


class Jvm:
    """The driver's process. It starts with the first request, answers one at a time, and ends with `stop`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._said: IO[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def ask(self, verb: str, **fields: Any) -> Any:
        """The value that the driver answers. Raises Refused with the name of Kafka's error, where it is one."""
        with self._lock:
            process = self._running()
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps({"verb": verb, **fields}) + "\n")
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

    def tool(self, main_class: str, *args: str, stdin: str = "") -> Finished:
        """Run one of Kafka's command-line tools to its end."""
        return Finished(**self.ask("tool", main=main_class, args=args, stdin=stdin))

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
            command = java_command("Driver", classes=compiled(SOURCE))
            self._said = tempfile.TemporaryFile("w+")  # noqa: SIM115 - lives as long as the process
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, encoding="utf-8"
            )
        return self._process

    def _log(self) -> str:
        assert self._said is not None
        self._said.seek(0)
        return self._said.read()
