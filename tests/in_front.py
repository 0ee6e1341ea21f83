"""`kafkastub proxy` as a process in front of an Apache Kafka, for the matrix of clients and for the programs."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from types import TracebackType
from typing import Final, Self

_READY: Final = re.compile(r"kafkastub ready on (\S+) \(proxy to \S+\)\n")


class InFront:
    """One, with its journal and metrics on: what passes is looked at, too.

    Attributes:
        bootstrap_servers: what clients are to connect to.
    """

    bootstrap_servers: str

    def __init__(self, to: str, *options: str) -> None:
        self._to = to
        self._options = options
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        self._said = tempfile.TemporaryFile("w+")
        command = [sys.executable, "-m", "kafkastub.cli", "proxy", "--to", self._to, "--port", "0"]
        self._process = process = subprocess.Popen(
            [*command, "--control-port", "0", *self._options], stdout=subprocess.PIPE, stderr=self._said, text=True
        )
        assert process.stdout is not None
        line = process.stdout.readline()
        found = _READY.fullmatch(line)
        if found is None:
            self.__exit__(None, None, None)
            raise OSError(f"the proxy in front of {self._to} does not start: it said {line!r}")
        self.bootstrap_servers = found[1]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._said.close()
