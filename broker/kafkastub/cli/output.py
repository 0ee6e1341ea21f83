"""What commands print: Kafka's tables, JSON, errors; colours and progress on a terminal only."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TextIO, TypeVar

T = TypeVar("T")

MANY = 20
"""From so many steps on a terminal is shown how far it is."""

_BOLD, _RED, _YELLOW, _PLAIN = "\033[1m", "\033[31m", "\033[33m", "\033[0m"


def coloured(stream: TextIO) -> bool:
    """Whether the reader of `stream` wants colours: a terminal, and no NO_COLOR (no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def header(text: str) -> str:
    """A table's first line."""
    return f"{_BOLD}{text}{_PLAIN}" if coloured(sys.stdout) else text


def marked(text: str) -> str:
    """A line that stands out among others."""
    return f"{_RED}{text}{_PLAIN}" if coloured(sys.stdout) else text


def error(text: str) -> None:
    """`Error: …` behind an empty line, on standard output: where Kafka's tools say it."""
    word = f"{_RED}Error:{_PLAIN}" if coloured(sys.stdout) else "Error:"
    print(f"\n{word} {text}")


def warn(text: str) -> None:
    """A line on standard error."""
    print(f"{_YELLOW}{text}{_PLAIN}" if coloured(sys.stderr) else text, file=sys.stderr)


def as_json(value: Any) -> None:
    """The answer as JSON, on standard output."""
    print(json.dumps(value, indent=2, ensure_ascii=False))


def columns(widths: Sequence[int], cells: Sequence[object]) -> str:
    """A row as `printf` with `%-15s` and blanks between lays it out; a width of 0 is a plain `%s`."""
    return " ".join(f"{cell!s:<{width}}" if width else str(cell) for width, cell in zip(widths, cells, strict=True))


def progress(items: Iterable[T], what: str) -> Iterator[T]:
    """The items one by one; where there are many and somebody watches, with a bar on standard error."""
    steps = list(items)
    if len(steps) < MANY or not sys.stderr.isatty():
        return iter(steps)
    try:
        from rich.console import Console
        from rich.progress import track
    except ImportError:  # the extra `cli` is not installed
        return iter(steps)
    return iter(track(steps, what, console=Console(stderr=True), transient=True))
