"""The workers in other languages: a program each, started once, that is told who is to work, and where."""

from __future__ import annotations

import contextlib
import select
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tests.oracle.jars import compiled, java_command, only_one
from tests.toolchains import CACHE, build_go, need
from tests.waiting import SECONDS

HERE: Final = Path(__file__).resolve().parent


def java() -> list[str]:
    """Its command line. Raises OracleError where the machine has no JDK or no jars."""
    return java_command("Workers", classes=compiled(HERE / "java" / "Workers.java"), log_level="OFF")


def go() -> list[str]:
    """Its command line. Raises Unavailable where it cannot be built."""
    need("go")
    target = CACHE / "chaos"
    with only_one(target / "go.lock"):
        build_go(HERE / "go", target)
    return [str(target / "workers")]


class Program:
    """A process that lets one worker at a time work."""

    def __init__(self, command: Sequence[str]) -> None:
        self._said = tempfile.TemporaryFile("w+")  # noqa: SIM115 - lives as long as the process
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, bufsize=0
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()
        self._said.close()

    @contextlib.contextmanager
    def __call__(self, worker: str, servers: str) -> Iterator[None]:
        """Let a worker work, `classic-correct`, until the end of the context."""
        self._ask(f"{worker} {servers}")
        try:
            yield
        finally:
            self._ask("stop")

    def _ask(self, line: str) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{line}\n".encode())
        ready, _, _ = select.select([self._process.stdout], [], [], SECONDS)
        answer = self._process.stdout.readline().decode().strip() if ready else "nothing"
        assert answer == line, f"the workers were told {line!r} and answered {answer!r}; they said:\n{self._log()}"

    def _log(self) -> str:
        self._said.seek(0)
        return self._said.read()[-4000:]
