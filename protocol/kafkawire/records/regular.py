"""A quick look at a payload whose records are all built alike, as those of one producer often are.

Records of one size stand at equal distances, so each byte of their frames makes a column: what a walk reads one by one,
a slice with a step reads at once. Measured: 100 records of 1 KB 22 us instead of 47, 1,000 of them 50 instead of 480.
"""

from __future__ import annotations

from kafkawire.records.batch import Buffer

LEAST = 24
"""Records from which it is quicker than the walk."""
_WIDEST = 3
"""Bytes of a varint that is still looked at here."""
_GO_ON = bytes(range(128, 256))
"""What all bytes of a varint are but its last one."""


def scan_regular(payload: Buffer, count: int, at: int = 0, end: int | None = None) -> tuple[int, int, int] | None:
    """What a walk over `count` records that fill `payload[at:end]` would find: smallest and largest timestamp delta,
    and how many have no key. None where only the walk can tell, errors among them.
    """
    if end is None:
        end = len(payload)
    data = payload if isinstance(payload, bytes) else memoryview(payload)
    done = keyless = 0
    smallest = largest = None
    while done < count:
        try:
            run = _run(data, at, end, done, count - done)
        except IndexError:
            return None
        if run is None:
            return None
        low, high, without_key, records, at = run
        if smallest is None or low < smallest:
            smallest = low
        if largest is None or high > largest:
            largest = high
        keyless += without_key
        done += records
    if at != end or smallest is None or largest is None:
        return None
    return smallest, largest, keyless


def _run(data: bytes | memoryview, at: int, stop: int, done: int, left: int) -> tuple[int, int, int, int, int] | None:
    """The records from `at` on, as many as have offset deltas (0, 1, 2 …) of one width; None if they differ.

    Smallest and largest timestamp delta, how many have no key, how many there are, and where they end.
    """
    size, body = _varint(data, at)
    time = body + 1  # behind the attributes, which nobody judges
    delta, number = _varint(data, time)
    _, key_size_at = _varint(data, number)
    key_size, key = _varint(data, key_size_at)
    value_size_at = key + key_size if key_size > 0 else key
    value_size, value = _varint(data, value_size_at)
    last = value + value_size if value_size > 0 else value  # the number of headers, 0
    step = body + size - at
    if size < 0 or last + 1 != at + step or data[last]:
        return None
    width = key_size_at - number
    count = left if width == _WIDEST else min(left, (1 << 7 * width - 1) - done)
    end = at + count * step
    if count < 1 or end > stop:
        return None
    for place in (last, *range(at, body), *range(key_size_at, key), *range(value_size_at, value)):
        column = bytes(data[place:end:step])
        if column.count(column[0]) != count:
            return None
    numbers = [bytes(data[place:end:step]) for place in range(number, key_size_at)]
    if not _of_one_width(numbers):
        return None
    keyless = count if key_size < 0 else 0
    times = [bytes(data[place:end:step]) for place in range(time, number)]
    for column in times:
        if column.count(column[0]) != count:
            break
    else:
        return delta, delta, keyless, count, end
    if not _of_one_width(times):
        return None
    deltas = [
        _unzigzag(sum((byte & 127) << 7 * n for n, byte in enumerate(one))) for one in set(zip(*times, strict=True))
    ]
    return min(deltas), max(deltas), keyless, count, end


def _of_one_width(columns: list[bytes]) -> bool:
    """Whether varints with these columns all end in the last one."""
    return columns[-1].isascii() and not b"".join(columns[:-1]).translate(None, _GO_ON)


def _varint(data: bytes | memoryview, at: int) -> tuple[int, int]:
    """A signed varint and where the next field begins. IndexError for a wide one: nothing for here."""
    byte = data[at]
    if byte < 128:
        return (byte >> 1) ^ -(byte & 1), at + 1
    value = byte & 127
    for shift in range(7, 7 * _WIDEST, 7):
        at += 1
        byte = data[at]
        value |= (byte & 127) << shift
        if byte < 128:
            return _unzigzag(value), at + 1
    raise IndexError


def _unzigzag(value: int) -> int:
    return (value >> 1) ^ -(value & 1)
