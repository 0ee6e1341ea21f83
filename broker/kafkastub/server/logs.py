"""Where log lines go: standard error for the process, the standard library's logging inside somebody's tests.

structlog is imported with the first line that is written: most runs write none, and start-up is counted in
milliseconds (with rich installed, importing structlog takes fifty).
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import Any

LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


class Logger:
    """structlog's methods, as far as we use them; what is below `level` costs a comparison."""

    __slots__ = ("_bound", "_level", "_make")

    def __init__(self, level: int, make: Callable[[], Any]) -> None:
        self._level = level
        self._make = make
        self._bound: Any = None

    def debug(self, event: str, **fields: object) -> None:
        if self._level <= logging.DEBUG:
            self._structlog().debug(event, **_shown(fields))

    def info(self, event: str, **fields: object) -> None:
        if self._level <= logging.INFO:
            self._structlog().info(event, **_shown(fields))

    def warning(self, event: str, **fields: object) -> None:
        if self._level <= logging.WARNING:
            self._structlog().warning(event, **_shown(fields))

    def error(self, event: str, **fields: object) -> None:
        self._structlog().error(event, **_shown(fields))

    def exception(self, event: str, **fields: object) -> None:
        """An error with the traceback of the exception that is being handled."""
        self._structlog().error(event, exc_info=True, **_shown(fields))

    def _structlog(self) -> Any:
        if self._bound is None:
            self._bound = self._make()
        return self._bound


def _shown(fields: dict[str, object]) -> dict[str, object]:
    from kafkastub.shown import shown

    return {name: shown(value) if isinstance(value, str) else value for name, value in fields.items()}


def process_logger(form: str, level: str) -> Logger:
    """One line an event on standard error; `form` is console or json, `level` a key of LEVELS."""

    def make() -> Any:
        import structlog

        if form == "json":
            tail: list[Any] = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
        else:
            tail = [_console(colors=sys.stderr.isatty())]
        stamps: list[Any] = [
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
        ]
        return structlog.wrap_logger(
            structlog.PrintLogger(sys.stderr),
            processors=[*stamps, *tail],
            wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
        )

    return Logger(LEVELS[level], make)


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
