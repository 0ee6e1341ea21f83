"""Where log lines go: standard error for the process, the standard library's logging inside somebody's tests.

structlog is imported with the first line that is written: most runs write none, and start-up is counted in
milliseconds (with rich installed, importing structlog takes fifty).
"""

from __future__ import annotations

import logging
import os
import select
import stat
import sys
from collections.abc import Callable
from typing import Any, Final, TextIO, cast

LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


class Logger:
    """structlog's methods, as far as we use them; what is below `level` costs a comparison.

    None of them raises: whoever writes a line is in the middle of something that has to be finished.
    """

    __slots__ = ("_bound", "_level", "_make")

    def __init__(self, level: int, make: Callable[[], Any]) -> None:
        self._level = level
        self._make = make
        self._bound: Any = None

    def debug(self, event: str, **fields: object) -> None:
        if self._level <= logging.DEBUG:
            self._write("debug", event, fields)

    def info(self, event: str, **fields: object) -> None:
        if self._level <= logging.INFO:
            self._write("info", event, fields)

    def warning(self, event: str, **fields: object) -> bool:
        """False where there cannot be a line yet: no file descriptor is left to import structlog with."""
        return self._level > logging.WARNING or self._write("warning", event, fields)

    def error(self, event: str, **fields: object) -> None:
        self._write("error", event, fields)

    def exception(self, event: str, **fields: object) -> None:
        """An error with the traceback of the exception that is being handled."""
        self._write("error", event, {"exc_info": True, **fields})

    def _write(self, method: str, event: str, fields: dict[str, Any]) -> bool:
        try:
            if self._bound is None:
                self._bound = self._make()
            getattr(self._bound, method)(event, **_shown(fields))
        except Exception:
            return False
        return True


def _shown(fields: dict[str, object]) -> dict[str, object]:
    from kafkastub.printable import printable

    return {name: printable(value) if isinstance(value, str) else value for name, value in fields.items()}


def process_logger(form: str, level: str) -> Logger:
    """One line an event on standard error; `form` is console or json, `level` a key of LEVELS."""

    def make() -> Any:
        import structlog

        if form == "json":
            tail: list[Any] = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
        else:
            tail = [_console(colors=sys.stderr is not None and sys.stderr.isatty())]
        stamps: list[Any] = [
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
        ]
        return structlog.wrap_logger(
            structlog.PrintLogger(cast(TextIO, StandardError())),
            processors=[*stamps, *tail],
            wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
        )

    return Logger(LEVELS[level], make)


class StandardError:
    """Standard error for a process that must go on whatever becomes of it; a file as far as structlog needs one.

    A file that cannot be written, a pipe that is closed and a pipe that nobody reads cost lines, and the next line that
    arrives says how many. Nothing is kept for later, so that nothing has to be flushed when the process ends.
    """

    def __init__(self) -> None:
        self._text: list[str] = []
        self._lost = 0
        """Lines since the last one that arrived."""

    def write(self, text: str) -> None:
        self._text.append(text)

    def flush(self) -> None:
        text = "".join(self._text)
        self._text.clear()
        if self._lost:
            text = f"({self._lost} log lines could not be written)\n{text}"
        try:
            written = _write(text)
        except (OSError, ValueError):  # ValueError: it is closed
            written = False
        self._lost = 0 if written else self._lost + 1


def _write(text: str) -> bool:
    """Whether all of it was written. Raises OSError, ValueError."""
    stream = sys.stderr
    if stream is None:  # the process was started without one
        return False
    try:
        number = stream.fileno()
    except (AttributeError, OSError, ValueError):  # somebody has put something else in its place
        stream.write(text)
        stream.flush()
        return True
    data = memoryview(text.encode(errors="backslashreplace"))
    may_block = not stat.S_ISREG(os.fstat(number).st_mode)
    while data:
        if may_block and not _has_room(number):
            return False
        data = data[os.write(number, data[:_PIPE_BUF] if may_block else data) :]
    return True


_PIPE_BUF: Final = getattr(select, "PIPE_BUF", 512)
"""Bytes that a pipe takes without blocking if it takes any."""


def _has_room(number: int) -> bool:
    return bool(select.select((), (number,), (), 0)[1])


def _console(**options: Any) -> Any:
    """Lines for humans. Tracebacks are Python's own: rich, where it is installed, takes 0.1 s for one, and boxes it."""
    import structlog

    return structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback, **options)


def library_logger() -> Logger:
    """Into `logging.getLogger("kafkastub")`, for a stub inside a test process; that logger's level decides."""

    def make() -> Any:
        import structlog

        return structlog.wrap_logger(
            logging.getLogger("kafkastub"),
            # The fields become part of the text: as attributes of a LogRecord few would see them, and a field that is
            # called like one of its own is an error.
            processors=[structlog.stdlib.filter_by_level, _console(colors=False, pad_event_to=0)],
            wrapper_class=structlog.stdlib.BoundLogger,
        )

    return Logger(logging.INFO, make)
