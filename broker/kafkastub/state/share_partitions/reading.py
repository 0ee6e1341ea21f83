"""What a share fetch reads of logs: how much of which partition, which batches that is, and what of it is sent.

Kafka: PartitionMaxBytesStrategy, ShareFetchUtils.maybeSliceFetchRecords.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from struct import Struct
from typing import Final, NamedTuple

from kafkastub.share_partitions.log_batches import Acquired, LogBatch
from kafkastub.storage import Read
from kafkawire.records import HEADER_SIZE, BatchHeader, iterate_records, parse_header, read_marker

_LOG_OVERHEAD: Final = 12
_LENGTH: Final = Struct(">i").unpack_from
_FRONT: Final = Struct(">qi").unpack_from
_ATTRIBUTES: Final = Struct(">hi").unpack_from
_PRODUCER: Final = Struct(">q").unpack_from
_TRANSACTIONAL: Final = 0x10
_CONTROL: Final = 0x20


class Found(NamedTuple):
    """The whole batches of what was read, and how large each is."""

    batches: list[LogBatch]
    sizes: list[int]


def shares(max_bytes: int, wanted: int, acquired: int, source: Random) -> list[int]:
    """How many bytes may be read of each of the `wanted` partitions of a fetch that has locked `acquired` of them.

    All the same, what is left over is for one of them; where there are more partitions than bytes, a byte for some.
    Kafka: PartitionMaxBytesStrategy.UNIFORM.
    """
    among = acquired if max_bytes >= acquired else wanted
    if max_bytes < among:
        first = source.randrange(wanted)
        return [int((index - first) % wanted < max_bytes) for index in range(wanted)]
    each, left = divmod(max_bytes, among)
    found = [each] * wanted
    if left:
        found[source.randrange(wanted)] += left
    return found


def batches_in(read: Read, upto: int) -> Found:
    """The batches, without one that is cut off at the end, up to the one behind that with the offset `upto`.

    The header of a batch is in one chunk, as logs keep it, unless it is cut off.
    """
    batches: list[LogBatch] = []
    sizes: list[int] = []
    left, skip = read.size, 0
    is_last = False
    for chunk in read.chunks:
        at, end = skip, len(chunk)
        while at < end:
            if left < HEADER_SIZE or end - at < HEADER_SIZE:
                return Found(batches, sizes)
            base_offset, length = _FRONT(chunk, at)
            size = length + _LOG_OVERHEAD
            if size > left:
                return Found(batches, sizes)
            attributes, delta = _ATTRIBUTES(chunk, at + 21)
            if attributes & (_TRANSACTIONAL | _CONTROL):
                aborts = bool(attributes & _CONTROL) and _is_abort_marker(bytes(chunk[at : at + size]))
                producer_id = _PRODUCER(chunk, at + 43)[0]
                batches.append(
                    LogBatch(base_offset, base_offset + delta, producer_id, bool(attributes & _TRANSACTIONAL), aborts)
                )
            else:
                batches.append(LogBatch(base_offset, base_offset + delta))
            sizes.append(size)
            if is_last:
                return Found(batches, sizes)
            is_last = base_offset + delta >= upto
            left -= size
            at += size
        skip = at - end
    return Found(batches, sizes)


def _is_abort_marker(batch: bytes) -> bool:
    header: BatchHeader = parse_header(batch)
    if header.size > len(batch):
        return False
    for record in iterate_records(memoryview(batch)[HEADER_SIZE:], header):
        marker = read_marker(record)
        return marker is not None and not marker.commit
    return False


def sent(read: Read, found: Found, acquired: Sequence[Acquired]) -> list[bytes | memoryview]:
    """The batches that have what was acquired: all from the first to the last of them.

    A single batch is sent as it was read, with what there may be of the next one.
    """
    batches, sizes = found
    if len(batches) < 2:
        return read.chunks
    first, last = acquired[0].first_offset, acquired[-1].last_offset
    begin, start = 0, 0
    while begin + 1 < len(batches) and batches[begin + 1].base_offset <= first:
        start += sizes[begin]
        begin += 1
    stop, size = begin + 1, sizes[begin]
    while stop < len(batches) and batches[stop].base_offset <= last:
        size += sizes[stop]
        stop += 1
    if start == 0 and size == read.size:
        return read.chunks
    return _cut(read.chunks, start, size)


def _cut(chunks: Sequence[bytes | memoryview], start: int, size: int) -> list[bytes | memoryview]:
    kept: list[bytes | memoryview] = []
    for chunk in chunks:
        length = len(chunk)
        if start >= length:
            start -= length
            continue
        piece = chunk if start == 0 and length <= size else memoryview(chunk)[start : start + size]
        kept.append(piece)
        size -= len(piece)
        start = 0
        if size <= 0:
            break
    return kept
