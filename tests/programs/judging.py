"""The judge of every program: each record once in the read_committed output, and none of an aborted transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

SHOWN_AT_MOST: Final = 5


class Wrong(Exception):
    """A program's result is not what it promises; the text says what is."""


class Record(NamedTuple):
    """A record as a reader sees it."""

    partition: int
    offset: int
    key: str
    value: str


def each_once(expected: Iterable[object], seen: Iterable[object], what: str = "records") -> str:
    """A line that tells that everything expected was seen once and nothing else. Raises Wrong."""
    wanted, found = Counter(expected), Counter(seen)
    lost = list((wanted - found).elements())
    more = list((found - wanted).elements())
    if lost or more:
        raise Wrong(
            "; ".join(
                f"{len(rows)} {what} are {name} ({_some(rows)})"
                for name, rows in (("lost", lost), ("too many", more))
                if rows
            )
        )
    return f"{wanted.total()} {what}, each once"


def at_least_once(expected: Iterable[object], seen: Iterable[object], what: str = "records") -> str:
    """A line that tells that everything expected was seen, maybe more than once, and nothing else. Raises Wrong."""
    return each_once(expected, set(seen), what).replace("once", "at least once")


def in_order(records: Sequence[Record], expected: dict[int, list[str]]) -> str:
    """A line that tells that each partition has these values in this order. Raises Wrong."""
    for partition, values in expected.items():
        found = [record.value for record in records if record.partition == partition]
        if found != values:
            place = next((i for i, pair in enumerate(zip(found, values, strict=False)) if pair[0] != pair[1]), 0)
            raise Wrong(f"partition {partition} is out of order from its record {place} on")
    return f"in order in each of {len(expected)} partitions"


def aborted(committed: Sequence[Record], everything: Sequence[Record]) -> str:
    """A line that tells that there are aborted records, and that read_committed hides them. Raises Wrong.

    Without any, the run would have shown nothing.
    """
    places = {(record.partition, record.offset) for record in everything}
    invented = [record for record in committed if (record.partition, record.offset) not in places]
    if invented:
        raise Wrong(f"read_committed shows what is not there: {_some(invented)}")
    if len(everything) <= len(committed):
        raise Wrong("no record of an aborted transaction is in the log: no transaction was interrupted")
    return "records of aborted transactions are in the log, and read_committed shows none"


def same(found: object, wanted: object, line: str) -> str:
    """The line, where both are equal. Raises Wrong."""
    if found != wanted:
        raise Wrong(f"not so: {line}, but {found} instead of {wanted}")
    return line


def _some(rows: Sequence[object]) -> str:
    return ", ".join(_short(rows)) + (", …" if len(rows) > SHOWN_AT_MOST else "")


def _short(rows: Sequence[object]) -> Iterator[str]:
    return (str(row) for row in rows[:SHOWN_AT_MOST])
