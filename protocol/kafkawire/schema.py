"""What the generated messages are made of.

A message is *version-neutral*: one class holds the fields of all its versions, as raw integers, strings, bytes and
sequences, each with the schema's default. Which fields a version carries, and how, is known to the codec alone; it
reads the `FIELDS` tables.

Types on the Python side: integers `int`, `bool`, `float64` `float`, strings `str`, uuids 16 raw `bytes`, bytes and
records `bytes` (a response's records also a sequence of chunks, which are then sent without being joined), arrays any
sequence (decoded as tuples, some as `Rows`), times as the milliseconds that the wire has.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

ZERO_UUID = bytes(16)
"""The uuid that means "none"."""

Records = bytes | memoryview | Sequence[bytes | memoryview]
"""Record batches as one buffer or as chunks."""

FieldRow = tuple[Any, ...]
"""(attribute, type, versions, nullable versions, tag, tagged versions[, never flexible]); ranges are inclusive."""


class Struct:
    """Base of every struct: equality and repr over all fields, whatever version it came from. It has no hash."""

    __slots__ = ()

    FIELDS: ClassVar[tuple[FieldRow, ...]] = ()
    NEUTRAL: ClassVar[type[Struct] | None] = None
    """Set on a decoding class: the neutral class that it stands for."""

    def __eq__(self, other: object) -> bool:
        mine, theirs = self.NEUTRAL or type(self), getattr(other, "NEUTRAL", None) or type(other)
        if mine is not theirs:
            return NotImplemented
        return all(_same(getattr(self, row[0]), getattr(other, row[0])) for row in self.FIELDS)

    def __reduce__(self) -> tuple[type[Struct], tuple[Any, ...]]:
        # Copies and pickles are of the neutral class: a decoding class has the fields of one version alone.
        return self.NEUTRAL or type(self), tuple(getattr(self, row[0]) for row in self.FIELDS)

    def __repr__(self) -> str:
        name = (self.NEUTRAL or type(self)).__name__
        return f"{name}({', '.join(f'{row[0]}={getattr(self, row[0])!r}' for row in self.FIELDS)})"


class Message(Struct):
    """A whole request, response, header or record; the unit that the codec encodes and decodes."""

    __slots__ = ()

    API_KEY: ClassVar[int] = -1
    VERSIONS: ClassVar[tuple[int, int]] = (0, 0)
    FLEXIBLE: ClassVar[tuple[int, int] | None] = None


def _same(left: Any, right: Any) -> bool:
    """Lists, tuples and rows of equal items are the same array."""
    if _is_array(left) and _is_array(right):
        return len(left) == len(right) and all(map(_same, left, right))
    return bool(left == right)


def _is_array(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray | memoryview)
