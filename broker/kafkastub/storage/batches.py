"""Batches one behind the other, as in a segment's file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kafkawire.errors import KafkaError
from kafkawire.records import (
    HEADER_SIZE,
    MAGIC,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    BatchHeader,
    check_crc,
    compute_crc,
    parse_header,
)
from kafkawire.records.batch import LOG_OVERHEAD


class FoundBatch(NamedTuple):
    """One batch of a file: its header and all of its bytes."""

    header: BatchHeader
    data: memoryview


class Damage(NamedTuple):
    """Where a file ceases to be whole batches, and why."""

    position: int
    why: str


def batches_of(data: memoryview) -> Iterator[FoundBatch]:
    """The batches of a file that was found in order."""
    at = 0
    while at < len(data):
        header = parse_header(data, at)
        yield FoundBatch(header, data[at : at + header.size])
        at += header.size


def whole_batches(data: memoryview, base_offset: int, *, holes: bool) -> tuple[int, int, Damage | None]:
    """Bytes of the whole batches from the beginning on, the offset behind them, and what comes then instead of more.

    `holes`: a cleaning may have left some; the segment that is written to has none. No CRC covers offsets.
    """
    at, end, size = 0, base_offset, len(data)
    while at < size:
        why = None
        try:
            header = parse_header(data, at)
        except KafkaError:
            return at, end, Damage(at, f"{size - at} bytes are no header of a batch")
        if header.magic != MAGIC:
            why = f"a batch of magic {header.magic}"
        elif header.size < HEADER_SIZE:
            why = f"a batch of {header.size} bytes"
        elif at + header.size > size:
            why = f"{size - at} bytes of a batch of {header.size}"
        elif not check_crc(data[at : at + header.size]):
            why = "a batch that does not match its CRC"
        elif header.base_offset < end or (header.base_offset > end and not holes) or header.last_offset_delta < 0:
            why = f"a batch at offset {header.base_offset}, where {end} is due"
        if why is not None:
            return at, end, Damage(at, why)
        at += header.size
        end = header.last_offset + 1
    return at, end, None


def empty_batch(offset: int, leader_epoch: int, timestamp: int) -> BatchHeader:
    """The header of a batch of that offset whose record compaction has removed: it is all that there is of it
    (DefaultRecordBatch.writeEmptyHeader).
    """
    header = BatchHeader(
        base_offset=offset,
        length=HEADER_SIZE - LOG_OVERHEAD,
        leader_epoch=leader_epoch,
        magic=MAGIC,
        crc=0,
        attributes=0,
        last_offset_delta=0,
        base_timestamp=timestamp,
        max_timestamp=timestamp,
        producer_id=NO_PRODUCER_ID,
        producer_epoch=NO_PRODUCER_EPOCH,
        base_sequence=NO_SEQUENCE,
        record_count=0,
    )
    return header._replace(crc=compute_crc(header.encode()))
