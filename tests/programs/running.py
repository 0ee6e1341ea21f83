"""A program that runs beside the runner: what it says is a file, and it can be ended and frozen."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.programs.judging import Wrong
from tests.waiting import until

SECONDS = 300.0
"""How long a program may take for anything, on a busy machine."""


class Running:
    """A process that was started; `said` reads what it has written to both its outputs."""

    def __init__(self, command: Sequence[str], log: Path, environment: Mapping[str, str] | None = None) -> None:
        self._log = log
        self._name = log.stem
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=log.parent,
                env={**os.environ, **(environment or {})},
            )

    @property
    def lives(self) -> bool:
        return self._process.poll() is None

    def said(self) -> str:
        return self._log.read_text(errors="replace")

    def says(self, text: str, seconds: float = SECONDS) -> None:
        """Wait until it says this. Raises Wrong where it ends before, or says it not in time."""

        def heard() -> bool:
            if text in self.said():
                return True
            if not self.lives:
                raise Wrong(f"{self._name} ended before it said {text!r}: {self.end_of_log()}")
            return False

        until(heard, lambda: f"{self._name} says {text!r}; it said {self.end_of_log()}", seconds)

    def ends(self, seconds: float = SECONDS, status: int = 0) -> None:
        """Wait until it has ended by itself. Raises Wrong where it does not, or with another status."""
        try:
            found = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Wrong(f"{self._name} did not end within {seconds:g} s: {self.end_of_log()}") from None
        if found != status:
            raise Wrong(f"{self._name} ended with status {found}: {self.end_of_log()}")

    def freeze(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def go_on(self) -> None:
        """A line on its standard input."""
        assert self._process.stdin is not None
        self._process.stdin.write(b"\n")
        self._process.stdin.flush()

    def terminate(self) -> None:
        """Ask it to end (SIGTERM), and wait."""
        self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(SECONDS)

    def kill(self) -> None:
        """kill -9."""
        self._process.kill()
        self._process.wait()
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()

    def end_of_log(self, lines: int = 12) -> str:
        return "\n".join(self.said().strip().splitlines()[-lines:])
