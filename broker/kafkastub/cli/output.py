"""What commands print: Kafka's tables, JSON, errors; colours and progress on a terminal only."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TextIO, TypeVar

T = TypeVar("T")

MANY = 20
"""From so many steps on a terminal is shown how far it is."""

MOST_SHOWN = 20
"""So many of what is wrong is told in full where there are reports that tell all."""

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


def the_first(entries: Sequence[list[T]]) -> Iterator[list[T]]:
    """What is wrong, entry by entry, as far as anybody reads; behind it how much more there is."""
    yield from entries[:MOST_SHOWN]
    if len(entries) > MOST_SHOWN:
        print(f"… and {sum(map(len, entries[MOST_SHOWN:]))} more; --report tells all")


def _nothing() -> None:
    pass


class Bar:
    """A bar on standard error where that is a terminal and rich is installed; else nothing.

    `named` says what is worked on, by the result that came last.
    """

    def __init__(self, named: Callable[[Any], str]) -> None:
        self.progress: Callable[[Any, int, int], None] | None = None
        self._named = named
        self._close: Callable[[], None] = _nothing

    def __enter__(self) -> Bar:
        if not sys.stderr.isatty():
            return self
        try:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
        except ImportError:  # the extra `cli` is not installed
            return self
        bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        task = bar.add_task("conform", total=None)
        bad = 0

        def progress(result: Any, done: int, all_of_them: int) -> None:
            nonlocal bad
            bad += result.bad
            failed = f", {bad} not passed" if bad else ""
            bar.update(task, completed=done, total=all_of_them, description=f"{self._named(result)}{failed}")

        bar.start()
        self.progress, self._close = progress, bar.stop
        return self

    def __exit__(self, *_: object) -> None:
        self._close()
