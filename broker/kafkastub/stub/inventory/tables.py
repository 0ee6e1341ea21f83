"""What a table is, and texts that are short."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar

from kafkastub.config.durations import LAST_MS
from kafkastub.printable import printable

T = TypeVar("T")

LONGEST: Final = 400
"""Characters of a text in a cell."""
_LONGEST_MESSAGE: Final = 1500
"""Of a request, or an answer."""
_LONGEST_FIELD: Final = 120
_MOST_ITEMS: Final = 8
"""Of a list in a message."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

Row = tuple[str, ...]


class Table(NamedTuple):
    """Rows of texts. None of them is markup.

    Attributes:
        left_out: how many rows there are beyond these.
        marks: of each row "error", "fault" or "", or nothing at all.
        newest: whether its last rows are what matters most.
        folded: the columns that are long, by their number.
    """

    name: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...] = ()
    left_out: int = 0
    marks: tuple[str, ...] = ()
    newest: bool = False
    folded: frozenset[int] = frozenset()


class Inventory(NamedTuple):
    """A stub at one moment.

    Attributes:
        facts: what there is one of, with its name.
        note: why something is missing, "" where nothing is.
    """

    taken: datetime
    facts: tuple[tuple[str, str], ...]
    tables: tuple[Table, ...]
    note: str = ""


def some(found: Iterable[T], most: int) -> tuple[list[T], int]:
    """The first ones, and how many more there are."""
    rest = iter(found)
    return list(islice(rest, most)), sum(1 for _ in rest)


def cell(value: object) -> str:
    """A value as a cell has it; of none an empty one."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return printable(str(value), LONGEST)


def places(partitions: Iterable[tuple[str, int]] | None, most: int = 20) -> str:
    """`orders-0, orders-1, … 3 more`."""
    if partitions is None:
        return ""
    first, more = some(partitions, most)
    return ", ".join(
        [f"{printable(topic, LONGEST)}-{index}" for topic, index in first] + ([f"… {more} more"] if more else [])
    )


def moment(ms: int | None) -> str:
    """Unix milliseconds as a date, in UTC; of none, and of what no date can be, as it is."""
    if ms is None or not 0 <= ms <= LAST_MS:
        return "" if ms is None or ms == -1 else str(ms)
    return (_EPOCH + timedelta(milliseconds=ms)).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]


def content(value: bytes | None) -> str:
    """The beginning of bytes: as text where they are one, else in hexadecimal digits."""
    if value is None:
        return "null"
    cut = value[:LONGEST]
    more = f"… ({len(value)} bytes)" if len(value) > LONGEST else ""
    for spare in range(4 if more else 1):  # a character may have been cut in two
        try:
            text = cut[: len(cut) - spare].decode()
        except UnicodeDecodeError:
            continue
        if all(one.isprintable() or one in "\t\n\r" for one in text):
            return printable(text) + more
        break
    return f"0x{cut[:100].hex()}" + (f"… ({len(value)} bytes)" if len(value) > 100 else "")


def message(values: dict[str, Any] | None) -> str:
    """A message's fields in one line, long ones and long lists cut."""
    if values is None:
        return ""
    parts: list[str] = []
    left = _LONGEST_MESSAGE
    for token in _tokens(values):
        parts.append(token)
        left -= len(token)
        if left < 0:
            parts.append(" …")
            break
    return "".join(parts)


def _tokens(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield "{"
        for number, (name, one) in enumerate(value.items()):
            yield f"{', ' if number else ''}{name}: "
            yield from _tokens(one)
        yield "}"
    elif isinstance(value, list):
        yield "["
        for number, one in enumerate(value[:_MOST_ITEMS]):
            yield ", " if number else ""
            yield from _tokens(one)
        yield f", … {len(value) - _MOST_ITEMS} more]" if len(value) > _MOST_ITEMS else "]"
    elif isinstance(value, str):
        yield json.dumps(printable(value, _LONGEST_FIELD), ensure_ascii=False)
    else:
        yield json.dumps(value)
