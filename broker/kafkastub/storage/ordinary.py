"""A quick look at a batch: is it what producers send every day, and beyond doubt?

One pass says yes, or that `validation` has to look, which alone knows what is wrong with a batch and how Kafka puts it.
Nothing is judged differently here: whatever passes would have passed there, and be stored the same.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

from kafkawire.records import HEADER_SIZE, MAGIC, NO_TIMESTAMP, scan_inside
from kafkawire.records.checksum import crc32c

from .settings import PRODUCER_COMPRESSION, UNLIMITED_RECORD, LogSettings

_INT64_MAX: Final = (1 << 63) - 1
_LAST_CODEC: Final = 4
_header = Struct(">qiibIhiqqqhii").unpack_from
TRANSACTIONAL = 0x10
_CRC_FROM = 21
_COPIED_UP_TO = 512
"""Bytes that are sliced faster than a view of them is made."""


def ordinary_header(
    data: bytes | bytearray, start: int, end: int, settings: LogSettings, now_ms: int, wanted_attributes: int = 0
) -> tuple[int, ...] | None:
    """The header of the one batch in `data[start:end]`, where a log with these settings takes it just as it is.

    That is: one whole batch v2 within the limits, with just these attributes (by itself without transaction or control
    records; or TRANSACTIONAL) and any codec, with a good CRC. Without compression: the declared records in it, their
    largest timestamp in the header, and no record outside the bounds on timestamps (measured from `now_ms`) or without
    a key that it must have. With compression: a batch that nothing needs unpacked. None where `validation` has to
    look. The producer's sequence is not looked at. What is returned are the fields of a `BatchHeader`, which takes a
    while to make.
    """
    size = end - start
    if not HEADER_SIZE <= size <= settings.max_message_bytes or size > settings.segment_bytes:
        return None
    fields: tuple[int, ...] = _header(data, start)
    (
        base_offset,
        length,
        _,
        magic,
        crc,
        attributes,
        last,
        base_timestamp,
        max_timestamp,
        producer,
        _,
        sequence,
        count,
    ) = fields
    if (
        base_offset
        or magic != MAGIC
        or length != size - 12
        or last + 1 != count
        or count <= 0
        or (sequence < 0 <= producer)
        or settings.log_append_time
    ):
        return None
    compressed = attributes != wanted_attributes
    if compressed:
        if not _is_stored_packed(attributes ^ wanted_attributes, max_timestamp - now_ms, settings):
            return None
    elif settings.compression > 0:
        return None
    start += _CRC_FROM
    if crc32c(data[start:end] if size <= _COPIED_UP_TO else memoryview(data)[start:end]) != crc:
        return None
    if compressed:
        return fields
    scan = scan_inside(data, count, start + HEADER_SIZE - _CRC_FROM, end)
    if scan is None:
        return None
    smallest, largest, keyless = scan
    if (
        base_timestamp + largest != max_timestamp
        or max_timestamp < NO_TIMESTAMP
        or max_timestamp - now_ms > settings.timestamp_after_max_ms
        or now_ms - base_timestamp - smallest > settings.timestamp_before_max_ms
        or (keyless and settings.compact)
    ):
        return None
    return fields


def _is_stored_packed(codec: int, ahead_ms: int, settings: LogSettings) -> bool:
    """Whether `validation` takes a compressed batch without unpacking it, in a log that keeps the producer's times.

    `codec` is what the attributes have beyond the expected ones: anything else than a codec is refused here.
    `ahead_ms` is how far the header's largest timestamp is ahead of the clock.
    """
    return (
        1 <= codec <= _LAST_CODEC
        and settings.compression in (PRODUCER_COMPRESSION, codec)
        and ahead_ms <= settings.timestamp_after_max_ms
        and settings.timestamp_before_max_ms == _INT64_MAX
        and not settings.compact
        and settings.max_decompressed_message_bytes >= UNLIMITED_RECORD
    )
