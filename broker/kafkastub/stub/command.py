"""A stub in the process of a command: `KafkaStub(process="/opt/kafkastub/kafkastub")`.

The command is that of the same version of kafkastub, packaged or installed, and runs `kafkastub child`. Its standard
input is a socket that carries what `multiprocessing` would send through a pipe: first its version, and then the stub
that it is to make.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
from multiprocessing.connection import Connection
from typing import Any, Final

from kafkastub.stub.errors import StubError
from kafkastub.version import __version__

START_SECONDS: Final = 180
"""More than a command takes, on a machine with much other work too."""


class CommandProcess:
    """The process of a command, with the methods of `multiprocessing.Process` that a stub needs."""

    def __init__(self, command: str) -> None:
        """Start the command. Raises StubError if it cannot be executed."""
        found = shutil.which(command)
        if found is None:
            raise StubError(f"process={command!r} is refused: there is no such program that can be run")
        self._command = command
        mine, its = socket.socketpair()
        try:
            self._popen: subprocess.Popen[bytes] = subprocess.Popen([found, "child"], stdin=its.fileno())
        except OSError as error:
            mine.close()
            raise StubError(f"process={command!r} is refused: it cannot be run: {error.strerror}") from None
        finally:
            its.close()
        self.pipe = Connection(mine.detach())

    @property
    def pid(self) -> int:
        return self._popen.pid

    def give(self, make: bytes) -> None:
        """Send what makes the stub. Raises StubError if the command is not kafkastub, or another version of it."""
        try:
            said = self.pipe.recv_bytes(100) if self.pipe.poll(START_SECONDS) else b"nothing"
        except (EOFError, OSError):
            said = b"nothing"
        if said != greeting():
            self.pipe.close()
            self.kill()
            self.join()
            raise StubError(
                f"process={self._command!r} is refused: it answered {said.decode(errors='replace')!r}, "
                f"expected the command of kafkastub {__version__}"
            )
        with contextlib.suppress(OSError):  # the next answer says so
            self.pipe.send_bytes(make)

    def join(self, timeout: float | None = None) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(timeout)

    def is_alive(self) -> bool:
        return self._popen.poll() is None

    def kill(self) -> None:
        self._popen.kill()

    def close(self) -> None:
        """Do nothing: `join` has released all that it had."""


def greeting() -> bytes:
    """What the command says first."""
    return f"kafkastub {__version__}".encode()


def given(process: object) -> str | None:
    """The command that the argument `process` names; None if it is True or False. Raises TypeError, ValueError."""
    if isinstance(process, bool):
        return None
    if not isinstance(process, str | os.PathLike):
        raise TypeError(f"process={process!r} is refused: expected True, False, or the command of kafkastub")
    command: Any = os.fspath(process)
    if not command or not isinstance(command, str):
        raise ValueError(f"process={process!r} is refused: expected True, False, or the command of kafkastub")
    return command
