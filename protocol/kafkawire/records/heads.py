"""A walk over a batch's records that reads no more of them than it must, and makes no object of each.

A look at a million records takes half a second: it is taken window by window, so that others can have their turn
between. Kafka reads the same records as a stream.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import NamedTuple, TypeVar

from kafkawire.records.batch import BatchHeader, Buffer
from kafkawire.records.record import PREMATURE, REMAINING, InvalidRecordError, too_long, varint_at, varlong_at

T = TypeVar("T")

_WINDOW = 1 << 13
"""Bytes that are copied at a time to where single ones are read fastest."""
_HEAD = 32
"""More than length, attributes, both deltas and the size of a key can take."""
_LONGEST_VARINT = 5


class Head(NamedTuple):
    """One record's place and time."""

    timestamp: int
    offset: int


class Keyed(NamedTuple):
    """One record: where its bytes are, and what compaction asks of it. `key` is None where it has none."""

    start: int
    end: int
    timestamp_delta: int
    offset_delta: int
    key: bytes | None
    tombstone: bool


def first_head(
    data: Buffer, header: BatchHeader, timestamp: int, *, start_offset: int = 0, exactly: bool = False
) -> Generator[int, None, Head | None]:
    """The first record from `start_offset` on with at least that timestamp (with `exactly`: with just that one), of a
    batch whose records are unpacked in `data`.

    Gives how many records were looked at, window by window. InvalidRecordError where there are none any more; what is
    behind the record that was looked for is not looked at.
    """
    base, wanted = header.base_timestamp, timestamp - header.base_timestamp
    if header.log_append_time:
        base, exactly = header.max_timestamp, False
        wanted = -(1 << 63) if base >= timestamp else 1 << 63
    least_offset = start_offset - header.base_offset

    def look(window: bytes, last: int, at: int, left: int) -> tuple[int, int, Head | None]:
        inside = 0
        while left > 0 and inside < last:
            length, inside = varint_at(window, inside)
            end = inside + length
            if length < 0 or at + end > len(data):
                raise too_long(length, len(data) - at - inside)
            delta, inside = varlong_at(window, inside + 1)
            if delta >= wanted and (delta == wanted or not exactly):
                offset_delta, _ = varint_at(window, inside)
                if offset_delta >= least_offset:
                    found = base if header.log_append_time else base + delta
                    return end, left, Head(found, header.base_offset + offset_delta)
            inside = end
            left -= 1
        return inside, left, None

    for looked_at, head in _by_window(data, header.record_count, look):
        if head is not None:
            return head
        yield looked_at
    return None


def keyed_records(data: Buffer, header: BatchHeader) -> Iterator[list[Keyed]]:
    """All records of a batch, unpacked in `data`, window by window. InvalidRecordError where there are others."""
    view = memoryview(data)

    def look(window: bytes, last: int, at: int, left: int) -> tuple[int, int, list[Keyed]]:
        inside = 0
        found: list[Keyed] = []
        while left > 0 and inside < last:
            start = inside
            length, inside = varint_at(window, inside)
            end = inside + length
            if length < 0 or at + end > len(data):
                raise too_long(length, len(data) - at - inside)
            timestamp_delta, inside = varlong_at(window, inside + 1)
            offset_delta, inside = varint_at(window, inside)
            key_size, inside = varint_at(window, inside)
            behind = inside + max(key_size, 0)
            if behind + _LONGEST_VARINT <= len(window):
                key = window[inside:behind]
                value_size, _ = varint_at(window, behind)
            elif behind < end:
                key = bytes(view[at + inside : at + behind])
                value_size, _ = varint_at(bytes(view[at + behind : at + behind + _LONGEST_VARINT]), 0)
            else:
                raise InvalidRecordError(PREMATURE)
            found.append(
                Keyed(
                    at + start,
                    at + end,
                    timestamp_delta,
                    offset_delta,
                    None if key_size < 0 else key,
                    value_size < 0,
                )
            )
            inside = end
            left -= 1
        return inside, left, found

    return (found for _, found in _by_window(data, header.record_count, look))


def _by_window(
    data: Buffer, count: int, look: Callable[[bytes, int, int, int], tuple[int, int, T]]
) -> Iterator[tuple[int, T]]:
    """How many records were looked at in each window, and what came of it. InvalidRecordError where the records do not
    fill the data.

    Args:
        look: is given a window, where in it the last record may begin, where it lies in the data, and how many records
            are left; gives where in it the next record begins, how many are left then, and what came of it.
    """
    view, size, at = memoryview(data), len(data), 0
    while count > 0:
        window = bytes(view[at : at + _WINDOW])
        last = len(window) if at + len(window) == size else len(window) - _HEAD
        try:
            inside, left, found = look(window, last, at, count)
        except IndexError:
            raise InvalidRecordError(PREMATURE) from None
        if inside == 0:
            raise InvalidRecordError(PREMATURE)
        at += inside
        yield count - left, found
        count = left
    if at != size:
        raise InvalidRecordError(REMAINING)
