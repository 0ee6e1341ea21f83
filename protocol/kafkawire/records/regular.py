"""A quick look at a payload whose records are all built alike, as those of one producer often are.

Records of one size stand at equal distances, so each byte of their frames makes a column: what a walk reads one by one,
a slice with a step reads at once. Measured: 100 records of 1 KB 22 us instead of 47, 1,000 of them 50 instead of 480.
"""

from __future__ import annotations

from typing import NamedTuple

from kafkawire.records.batch import Buffer

LEAST = 24
"""Records from which it is quicker than the walk."""
_WIDEST = 3
"""Bytes of a varint that is still looked at here."""
_GO_ON = bytes(range(128, 256))
"""What all bytes of a varint are but its last one."""


class _Run(NamedTuple):
    """Records that are like the first of them."""

    smallest: int
    largest: int
    """Of the timestamp deltas."""
    keyless: int
    records: int
    end: int


def scan_regular(payload: Buffer, count: int) -> tuple[int, int, int] | None:
    """What a walk over `count` records that fill the payload would find: smallest and largest timestamp delta, and how
    many have no key. None where only the walk can tell, errors among them.
    """
    view = memoryview(payload)
    at = done = 0
    runs: list[_Run] = []
    while done < count:
        try:
            run = _run(view, at, done, count - done)
        except IndexError:
            return None
        if run is None:
            return None
        runs.append(run)
        done += run.records
        at = run.end
    if at != len(view):
        return None
    return min(run.smallest for run in runs), max(run.largest for run in runs), sum(run.keyless for run in runs)


def _run(view: memoryview, at: int, done: int, left: int) -> _Run | None:
    """The records from `at` on, as many as have offset deltas (0, 1, 2 …) of one width; None if they differ."""
    size, body = _varint(view, at)
    time = body + 1  # behind the attributes, which nobody judges
    _, number = _varint(view, time)
    _, key_size_at = _varint(view, number)
    key_size, key = _varint(view, key_size_at)
    value_size_at = key + max(key_size, 0)
    value_size, value = _varint(view, value_size_at)
    last = value + max(value_size, 0)  # the number of headers, 0
    step = body + size - at
    if size < 0 or last + 1 != at + step:
        return None
    width = key_size_at - number
    count = left if width == _WIDEST else min(left, (1 << 7 * width - 1) - done)
    end = at + count * step
    if count < 1 or end > len(view):
        return None
    for place in (last, *range(at, body), *range(key_size_at, key), *range(value_size_at, value)):
        column = view[place:end:step].tobytes()
        if column.count(column[0]) != count:
            return None
    if view[last]:
        return None
    times = [view[place:end:step].tobytes() for place in range(time, number)]
    numbers = [view[place:end:step].tobytes() for place in range(number, key_size_at)]
    if not (_of_one_width(times) and _of_one_width(numbers)):
        return None
    if all(column.count(column[0]) == count for column in times):
        times = [column[:1] for column in times]
    deltas = [
        _unzigzag(sum((byte & 127) << 7 * n for n, byte in enumerate(one))) for one in set(zip(*times, strict=True))
    ]
    return _Run(min(deltas), max(deltas), count if key_size < 0 else 0, count, end)


def _of_one_width(columns: list[bytes]) -> bool:
    """Whether varints with these columns all end in the last one."""
    return columns[-1].isascii() and not any(column.translate(None, _GO_ON) for column in columns[:-1])


def _varint(view: memoryview, at: int) -> tuple[int, int]:
    """A signed varint and where the next field begins. IndexError for a wide one: nothing for here."""
    value = 0
    for shift in range(0, 7 * _WIDEST, 7):
        byte = view[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return _unzigzag(value), at
    raise IndexError


def _unzigzag(value: int) -> int:
    return (value >> 1) ^ -(value & 1)
