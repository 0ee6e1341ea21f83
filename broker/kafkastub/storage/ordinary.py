"""A quick look at a batch: is it what producers send every day, and beyond doubt?

One pass says yes, or that `validation` has to look, which alone knows what is wrong with a batch and how Kafka puts it.
Nothing is judged differently here: whatever passes would have passed there, and be stored the same.
"""

from __future__ import annotations

from struct import Struct

from kafkawire.records import HEADER_SIZE, MAGIC, NO_TIMESTAMP, scan_inside
from kafkawire.records.checksum import crc32c

from .settings import LogSettings

_header = Struct(">qiibIhiqqqhii").unpack_from
TRANSACTIONAL = 0x10
_CRC_FROM = 21
_COPIED_UP_TO = 512
"""Bytes that are sliced faster than a view of them is made."""


def ordinary_header(
    data: bytes | bytearray, start: int, end: int, settings: LogSettings, now_ms: int, wanted_attributes: int = 0
) -> tuple[int, ...] | None:
    """The header of the one batch in `data[start:end]`, where a log with these settings takes it just as it is.

    That is: one whole batch v2 within the limits, with just these attributes (by itself without compression,
    transaction or control records; or TRANSACTIONAL), with a good CRC, the declared records in it, their largest
    timestamp in the header, and no record outside the bounds on timestamps (measured from `now_ms`) or without a key
    that it must have. None where `validation` has to look. The producer's sequence is not looked at. What is returned
    are the fields of a `BatchHeader`, which takes a while to make.
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
        or attributes != wanted_attributes
        or last + 1 != count
        or count <= 0
        or (sequence < 0 <= producer)
        or settings.compression > 0
        or settings.log_append_time
    ):
        return None
    start += _CRC_FROM
    if crc32c(data[start:end] if size <= _COPIED_UP_TO else memoryview(data)[start:end]) != crc:
        return None
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
