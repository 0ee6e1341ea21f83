"""Making record batches: for internal topics, recompression, and tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kafkawire.records.batch import (
    HEADER_SIZE,
    LOG_OVERHEAD,
    MAGIC,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    BatchHeader,
)
from kafkawire.records.checksum import crc32c
from kafkawire.records.compression import Compression, compress


class NewRecord(NamedTuple):
    """A record to be written. Timestamp in unix milliseconds; None as a value is a tombstone."""

    key: bytes | None
    value: bytes | None
    timestamp: int
    headers: tuple[tuple[bytes, bytes | None], ...] = ()


def build_batch(
    records: Sequence[NewRecord],
    *,
    base_offset: int = 0,
    leader_epoch: int = -1,
    compression: int = Compression.NONE,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = NO_PRODUCER_EPOCH,
    base_sequence: int = NO_SEQUENCE,
    attributes: int = 0,
    offset_deltas: Sequence[int] | None = None,
    last_offset_delta: int | None = None,
) -> bytes:
    """One batch v2 of at least one record. `attributes` are further bits beside the codec's.

    A compacted batch has holes: `offset_deltas` are its records' offsets from the base offset, ascending, and
    `last_offset_delta` that of its last offset, which may be none of a record that is left.
    """
    if not records:
        raise ValueError("a batch has at least one record")
    base = records[0].timestamp
    payload = bytearray()
    deltas = range(len(records)) if offset_deltas is None else offset_deltas
    for delta, record in zip(deltas, records, strict=True):
        append_record(payload, delta, record, base)
    packed = compress(compression, payload) if compression else bytes(payload)
    header = BatchHeader(
        base_offset=base_offset,
        length=HEADER_SIZE - LOG_OVERHEAD + len(packed),
        leader_epoch=leader_epoch,
        magic=MAGIC,
        crc=0,
        attributes=attributes | compression,
        last_offset_delta=deltas[-1] if last_offset_delta is None else last_offset_delta,
        base_timestamp=base,
        max_timestamp=max(record.timestamp for record in records),
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        record_count=len(records),
    )
    crc = crc32c(packed, crc32c(header.encode()[21:]))
    return header._replace(crc=crc).encode() + packed


def append_record(out: bytearray, offset_delta: int, record: NewRecord, base_timestamp: int) -> None:
    """Append one record to an uncompressed payload; its timestamp is written relative to the base."""
    body = bytearray(1)
    _append_varint(body, record.timestamp - base_timestamp)
    _append_varint(body, offset_delta)
    _append_nullable(body, record.key)
    _append_nullable(body, record.value)
    _append_varint(body, len(record.headers))
    for name, content in record.headers:
        _append_nullable(body, name)
        _append_nullable(body, content)
    _append_varint(out, len(body))
    out += body


def record_size(offset_delta: int, timestamp_delta: int, record: NewRecord) -> int:
    """Bytes of a record in an uncompressed payload (DefaultRecord.sizeInBytes)."""
    body = 1 + _varint_size(timestamp_delta) + _varint_size(offset_delta)
    body += _nullable_size(record.key) + _nullable_size(record.value) + _varint_size(len(record.headers))
    for name, content in record.headers:
        body += _nullable_size(name) + _nullable_size(content)
    return _varint_size(body) + body


def _nullable_size(content: bytes | None) -> int:
    return 1 if content is None else _varint_size(len(content)) + len(content)


def _varint_size(value: int) -> int:
    raw = (value << 1) ^ (value >> 63)
    return (max(raw.bit_length(), 1) + 6) // 7


def _append_nullable(out: bytearray, content: bytes | None) -> None:
    if content is None:
        out.append(1)
    else:
        _append_varint(out, len(content))
        out += content


def _append_varint(out: bytearray, value: int) -> None:
    """Zigzag, then seven bits a byte, the least first; 32 and 64 bits look the same."""
    raw = (value << 1) ^ (value >> 63)
    while raw > 127:
        out.append(raw & 0x7F | 0x80)
        raw >>= 7
    out.append(raw)
