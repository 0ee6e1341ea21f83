"""What commands print: Kafka's tables, JSON, errors; colours and progress on a terminal only.

Nothing is printed past this module (a test sees to it). Names are chosen by clients, texts by whatever broker answers:
on a terminal they could colour it, ring, write its title or hide what else is said. Each function is given one line,
and whatever cannot be printed in it is escaped there. In a pipe or a file names stay as they are, as scripts want them
and Kafka's tools give them. JSON is escaped everywhere: its value is the same.
"""

from __future__ import annotations

import codecs
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import IO, Any, TextIO, TypeVar

T = TypeVar("T")

MANY = 20
"""From so many steps on a terminal is shown how far it is."""

MOST_SHOWN = 20
"""So many of what is wrong is told in full where there are reports that tell all."""

_BOLD, _RED, _YELLOW, _PLAIN = "\033[1m", "\033[31m", "\033[33m", "\033[0m"


def coloured(stream: TextIO) -> bool:
    """Whether the reader of `stream` wants colours: a terminal, and no NO_COLOR (no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def say(line: object, *, above: bool = False) -> None:
    """A line on standard output; `above` leaves one empty before it."""
    _line(sys.stdout, line, "", above)


def heading(line: str, *, above: bool = False) -> None:
    """The first line of a table."""
    _line(sys.stdout, line, _BOLD, above)


def marked(line: str) -> None:
    """A line that stands out among others."""
    _line(sys.stdout, line, _RED, False)


def block(text: str) -> None:
    """Several lines on standard output, with an end behind them."""
    for line in text.split("\n"):
        say(line)


def error(line: str) -> None:
    """`Error: …` behind an empty line, on standard output: where Kafka's tools say it."""
    word = f"{_RED}Error:{_PLAIN}" if coloured(sys.stdout) else "Error:"
    print(f"\n{word} {fit(line, sys.stdout)}")


def warn(line: str, *, above: bool = False) -> None:
    """A line on standard error that is to be seen."""
    _line(sys.stderr, line, _YELLOW, above)


def note(line: object) -> None:
    """A line on standard error."""
    _line(sys.stderr, line, "", False)


def _line(stream: TextIO, line: object, colour: str, above: bool) -> None:
    text = fit(line, stream)
    if colour and coloured(stream):
        text = f"{colour}{text}{_PLAIN}"
    print("\n" + text if above else text, file=stream)


def fit(line: object, stream: TextIO | None = None) -> str:
    """A line as this stream (standard output) may have it: on a terminal without what is no character."""
    text = str(line)
    if text.isprintable() or not (stream or sys.stdout).isatty():
        return text
    from kafkastub.printable import printable

    return "\t".join(printable(part, sys.maxsize) for part in text.split("\t"))


def as_json(value: Any, *, indent: int | None = 2) -> None:
    """The answer as JSON, on standard output; without `indent` in one line."""
    print(_escaped(json.dumps(value, indent=indent, ensure_ascii=False)))


_PLAIN_JSON = re.compile(r"[^\n -~]")


def _escaped(text: str) -> str:
    """JSON with the same value in which everything can be printed."""
    return _PLAIN_JSON.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    return found[0] if found[0].isprintable() else json.dumps(found[0])[1:-1]


def copy(source: IO[bytes]) -> None:
    """JSON, line by line, as it comes, to standard output."""
    if not sys.stdout.isatty():
        import shutil

        shutil.copyfileobj(source, sys.stdout.buffer)
        return
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    while part := source.read(1 << 16):
        sys.stdout.write(_escaped(decoder.decode(part)))


def width(least: int, cells: Iterable[object]) -> int:
    """Of a column with these cells."""
    return max([least, *(len(fit(cell)) for cell in cells)])


def columns(widths: Sequence[int], cells: Sequence[object]) -> str:
    """A row as `printf` with `%-15s` and blanks between lays it out; a width of 0 is a plain `%s`."""
    fitting = map(fit, cells)
    return " ".join(f"{cell:<{width}}" if width else cell for width, cell in zip(widths, fitting, strict=True))


def table(named: Mapping[str, int], rows: Iterable[Sequence[object]], *, above: bool = False) -> None:
    """A heading and the rows, in columns of these names and widths; `above` leaves one line empty before them."""
    widths = list(named.values())
    heading(columns(widths, list(named)), above=above)
    for row in rows:
        say(columns(widths, row))


def print_result(form: str, said: Any, text: str) -> int:
    """A command's answer as JSON or as this text, as `--output` wants it. Gives the exit status."""
    if form == "json":
        as_json(said)
    else:
        say(text)
    return 0


def listed(
    form: str, found: Sequence[T], nothing: str, named: Mapping[str, int], row: Callable[[T], Sequence[object]]
) -> int:
    """What a command found as JSON or as a `table`, as `--output` wants it, or `nothing`. Gives the exit status."""
    if form == "json":
        as_json(found)
    elif not found:
        say(nothing)
    else:
        table(named, map(row, found))
    return 0


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
        say(f"… and {sum(map(len, entries[MOST_SHOWN:]))} more; --report tells all")


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
