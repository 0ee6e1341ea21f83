"""Hashes and orders of Java collections, where a client of Kafka can see them.

Which of two equally popular protocols a group selects, in which order a batch of groups is answered, which of two
faults is told: all of it follows from `String.hashCode` and the iteration order of `HashMap`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from operator import mul
from struct import unpack
from typing import Generic, TypeVar

T = TypeVar("T")

_POWERS = 300
"""Of texts that are not longer; names, ids and addresses are not."""
_FRONT = 256
"""Of longer texts, so many characters and a multiple of it are the front."""


@cache
def _powers(length: int) -> tuple[int, ...]:
    """What the characters of a text of this length count."""
    return tuple(pow(31, length - 1 - i, 1 << 32) for i in range(length))


def string_hash(text: str) -> int:
    """`String.hashCode`, as an unsigned 32-bit number."""
    length = len(text)
    if length < _POWERS:
        return _short_hash(text)
    # Long texts that are hashed one after the other often differ in their ends: partitions of one group, say.
    front = length // _FRONT * _FRONT
    return _hash(text[front:], _front_hash(text[:front]))


@lru_cache(16_384)
def _short_hash(text: str) -> int:
    """Kept for a while: the members of a large group come again."""
    return _hash(text, 0)


@lru_cache(64)
def _front_hash(text: str) -> int:
    """Kept are few: each may have 32 KB."""
    return _hash(text, 0)


def _hash(text: str, h: int) -> int:
    """Go on from the hash of what stands before."""
    length = len(text)
    if length < _POWERS and text.isascii():
        total: int = sum(map(mul, text.encode("ascii"), _powers(length)))
        return (h * pow(31, length, 1 << 32) + total) & 0xFFFFFFFF
    units = string_order(text)
    for i in range(0, len(units), 2):
        h = (31 * h + (units[i] << 8 | units[i + 1])) & 0xFFFFFFFF
    return h


def uuid_hash(uuid: bytes) -> int:
    """`hashCode` of Kafka's `Uuid`, given as its 16 bytes: as an unsigned 32-bit number."""
    a, b, c, d = unpack(">4I", uuid)
    return int(a ^ b ^ c ^ d)


def uuid_order(uuid: bytes) -> tuple[int, int]:
    """Sorts as `Uuid.compareTo`: the halves are signed numbers."""
    most, least = unpack(">2q", uuid)
    return most, least


def string_order(text: str) -> bytes:
    """Sorts as `String.compareTo`: by UTF-16 units."""
    return text.encode("utf-16-be", "surrogatepass")


def spread(code: int) -> int:
    """The bits of a hash code of which a `HashMap` takes the lowest for the bucket."""
    return code ^ code >> 16


def hash_map_order(keys: Iterable[tuple[int, T]], capacity: int = 16) -> list[T]:
    """Items in the iteration order of a `HashMap` into which they were put one after the other.

    Args:
        keys: distinct items, each with the unsigned hash code of its key.
        capacity: for so many the map was made, `new HashMap<>(capacity)`.
    """
    items = list(keys)
    mask = hash_map_size(len(items), capacity) - 1
    items.sort(key=lambda pair: (pair[0] ^ pair[0] >> 16) & mask)
    return [item for _, item in items]


def hash_map_size(count: int, capacity: int = 16) -> int:
    """The buckets of a `HashMap` with so many keys, which was made for `capacity`."""
    size = 1
    while size < capacity or count > size * 3 // 4:
        size *= 2
    return size


def string_map_order(texts: Iterable[str], capacity: int = 16) -> list[str]:
    """Texts in the order of a map, or a set, that has them as its keys; each once."""
    once = list(dict.fromkeys(texts))
    if len(once) < 2:
        return once
    return hash_map_order(((string_hash(text), text) for text in once), capacity)


def copied(count: int) -> int:
    """The capacity of a `HashSet` that was made from a collection of so many."""
    return max(int(count / 0.75) + 1, 16)


class TimelineOrder(Generic[T]):
    """The same as `timeline_order`, of items that are added some at a time: there may be very many.

    Args:
        count: how many items there will be.
    """

    __slots__ = ("_shift", "_slots")

    def __init__(self, count: int, peak: int) -> None:
        self._shift = _shift(max(peak, count))
        self._slots: dict[int, list[T]] = {}

    def add(self, keys: Iterable[tuple[int, T]]) -> None:
        """These are behind those that were added before."""
        _put(self._slots, self._shift, keys)

    def in_order(self) -> list[T]:
        """What `timeline_order` gives for all that were added."""
        slots = self._slots
        return [item for slot in sorted(slots) for item in reversed(slots[slot])]


def _shift(size: int) -> int:
    """The bits of a product of 64 that do not belong to the slot, in a table for so many items."""
    bits = 1
    while size * 3 > 4 << bits:
        bits += 1
    return 64 - bits


def _put(slots: dict[int, list[T]], shift: int, keys: Iterable[tuple[int, T]]) -> None:
    for h, item in keys:
        signed = h - ((h & 0x80000000) << 1)
        slot = (signed * -7046029254386353131 & 0xFFFFFFFFFFFFFFFF) >> shift
        slots.setdefault(slot, []).append(item)


def timeline_order(keys: Iterable[tuple[int, T]], peak: int) -> list[T]:
    """Items in the iteration order of Kafka's `TimelineHashMap` into which they were put one after the other.

    Args:
        keys: distinct items, each with the unsigned hash code of its key.
        peak: the largest number that the map has ever had; it never becomes smaller. (BaseHashTable)

    Of items in one slot the last comes first. (SnapshottableHashTable.CurrentIterator)
    """
    items = list(keys)
    slots: dict[int, list[T]] = {}
    _put(slots, _shift(max(peak, len(items))), items)
    return [item for slot in sorted(slots) for item in reversed(slots[slot])]


def string_timeline_order(texts: Iterable[str], peak: int = 0) -> list[str]:
    """Texts in the order of such a map that has them as its keys."""
    return timeline_order(((string_hash(text), text) for text in texts), peak)
