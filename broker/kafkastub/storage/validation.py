"""What a leader looks at before it takes a batch (UnifiedLog.analyzeAndValidateRecords, LogValidator).

The checks run in Kafka's order, so that a batch with two faults gets Kafka's answer.

An uncompressed payload is walked, as Kafka does. A compressed one is unpacked only where the header can't
tell: on a compacted topic (keys), where a record may be outside the bounds on timestamps, for a client that
claims LogAppendTime, and for a topic with a codec of its own. What a compressed payload holds beyond that is
the business of producer and consumer; Kafka would unpack it and look.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final, NamedTuple

from kafkawire.codec.varint import read_varint
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.records import (
    HEADER_SIZE,
    NO_PRODUCER_EPOCH,
    NO_TIMESTAMP,
    BatchHeader,
    InvalidRecordError,
    NewRecord,
    Record,
    TooMuchUnpacked,
    check_crc,
    compress,
    compute_crc,
    decompress,
    iterate_records,
    parse_header,
    scan_records,
    sole_batch,
    split_batches,
)
from kafkawire.records.build import append_record

from .errors import AppendError, RecordError, TooMuchToUnpack
from .settings import PRODUCER_COMPRESSION, UNLIMITED_RECORD, LogSettings

Buffer = bytes | bytearray | memoryview

_INT64_MAX = (1 << 63) - 1
_LAST_CODEC = 4
_TRANSACTIONAL = 0x10
_SHOWN_ERRORS = 3


class Unpacking:
    """How much may be unpacked for one request, all its batches together: 160 KB of them can stand for gigabytes.

    Kafka unpacks piece by piece, in one of its threads, and has no limit. Producers split a batch that is too large.
    """

    MOST_BYTES: Final = 32 << 20
    MOST_RECORDS: Final = 250_000
    MOST_ERRORS: Final = 10_000
    """Refused records that one answer names, each with a text, but for the first of each batch, which it always does.
    Kafka names them all: 24 MB of records without key are 200 MB of texts.
    """

    __slots__ = ("_bytes", "_records", "errors_left")

    def __init__(self) -> None:
        self.errors_left = self.MOST_ERRORS
        self._bytes = self.MOST_BYTES
        self._records = self.MOST_RECORDS

    def unpack(self, header: BatchHeader, payload: memoryview, partition: str) -> Buffer:
        """The records' bytes. AppendError where there are too many; KafkaError for what does not unpack."""
        if not self._bytes:
            raise self._refusal(partition, f"{self.MOST_BYTES} bytes of records")
        self._records -= header.record_count
        if self._records < 0:
            raise self._refusal(partition, f"{self.MOST_RECORDS} records")
        try:
            plain = decompress(header.compression, payload, self._bytes)
        except TooMuchUnpacked:
            self._bytes = 0
            raise self._refusal(partition, f"{self.MOST_BYTES} bytes of records") from None
        self._bytes -= len(plain)
        return plain

    @staticmethod
    def _refusal(partition: str, most: str) -> AppendError:
        why = f"the compressed batches of one request that have to be unpacked may hold {most}"
        return TooMuchToUnpack(
            ErrorCode.MESSAGE_TOO_LARGE, f"{why}; those up to the one for {partition} hold more: send smaller ones"
        )


class ValidBatch(NamedTuple):
    """A batch that may be appended, but for its producer's sequence."""

    header: BatchHeader
    payload: memoryview
    max_timestamp: int
    """The largest timestamp of its records, as far as they were looked at; what the header said otherwise."""


def analyze(records: bytes | memoryview, settings: LogSettings, partition: str) -> tuple[BatchHeader, memoryview]:
    """The one whole batch at the beginning of `records`, checked from outside: header and payload.

    AppendError: CORRUPT_MESSAGE, MESSAGE_TOO_LARGE, INVALID_RECORD. Torn bytes after the batch are ignored,
    as in Kafka.
    """
    sole = sole_batch(records)
    if sole is not None:
        return _analyze_one(sole, settings, partition), sole[HEADER_SIZE:]
    batches = list(split_batches(records))
    for magic, batch in batches:
        if magic != 2:
            raise AppendError(ErrorCode.INVALID_RECORD, f"batch of magic {magic} in {partition}")
        header = _analyze_one(batch, settings, partition)
    if len(batches) != 1:
        raise AppendError(ErrorCode.INVALID_RECORD, f"{len(batches)} batches for {partition}; it must be one")
    return header, batches[0][1][HEADER_SIZE:]


def _analyze_one(batch: memoryview, settings: LogSettings, partition: str) -> BatchHeader:
    """The header of a batch v2; AppendError where something is wrong with it from outside."""
    size = len(batch)
    if size < HEADER_SIZE:
        raise AppendError(
            ErrorCode.CORRUPT_MESSAGE,
            f"batch of {size} bytes in {partition} is smaller than its header",
            tells_log_start=False,
        )
    header = parse_header(batch)
    if header.base_offset != 0:
        raise AppendError(
            ErrorCode.INVALID_RECORD,
            f"The baseOffset of the record batch in the append to {partition} should be 0, "
            f"but it is {header.base_offset}",
        )
    if size > settings.max_message_bytes:
        raise AppendError(
            ErrorCode.MESSAGE_TOO_LARGE,
            f"a batch for {partition} has {size} bytes, allowed are {settings.max_message_bytes}",
            tells_log_start=False,
        )
    if not check_crc(batch):
        raise AppendError(
            ErrorCode.CORRUPT_MESSAGE,
            f"Record is corrupt (stored crc = {header.crc}) in topic partition {partition}.",
            tells_log_start=False,
        )
    if header.compression > _LAST_CODEC:
        raise AppendError(ErrorCode.UNKNOWN_SERVER_ERROR, f"Unknown compression type id: {header.compression}")
    return header


def validate(
    header: BatchHeader,
    payload: memoryview,
    settings: LogSettings,
    partition: str,
    now_ms: int,
    unpacking: Unpacking | None = None,
) -> ValidBatch:
    """The batch as it may be stored; timestamps are judged against `now_ms`. AppendError otherwise."""
    _validate_header(header, partition)
    unpacking = unpacking or Unpacking()
    try:
        if header.compression or settings.compression not in (PRODUCER_COMPRESSION, 0):
            return _validate_compressed(header, payload, settings, partition, now_ms, unpacking)
        return _validate_plain(header, payload, settings, partition, now_ms, unpacking)
    except InvalidRecordError as invalid:
        raise AppendError(invalid.code, invalid.message or "") from None
    except KafkaError as failure:
        if isinstance(failure, AppendError):
            raise
        # A stream that does not unpack is a KafkaException in Kafka, which has no code of its own.
        raise AppendError(ErrorCode.UNKNOWN_SERVER_ERROR, failure.message or "") from None


def _validate_header(header: BatchHeader, partition: str) -> None:
    """LogValidator.validateBatch, for a client's batch."""
    last, count = header.last_offset_delta, header.record_count
    if last < 0:
        why = f"Batch has an invalid offset range: [0, {last}]"
    elif count <= 0:
        why = f"Invalid reported count for record batch: {count}"
    elif last + 1 != count:
        why = f"Inconsistent batch offset range [0, {last}] and count of records {count}"
    elif header.control:
        why = "Clients are not allowed to write control records"
    elif header.has_producer and header.base_sequence < 0:
        why = f"Invalid sequence number {header.base_sequence} in record batch with producerId {header.producer_id}"
    else:
        return
    raise AppendError(ErrorCode.INVALID_RECORD, f"{why} in topic partition {partition}")


def _validate_plain(
    header: BatchHeader,
    payload: memoryview,
    settings: LogSettings,
    partition: str,
    now_ms: int,
    unpacking: Unpacking,
    *,
    partial: bool = False,
) -> ValidBatch:
    scan = scan_records(payload, header.record_count)
    client_append_time = header.log_append_time
    if client_append_time:
        smallest = largest = header.max_timestamp
    else:
        smallest = header.base_timestamp + scan.smallest_delta
        largest = header.base_timestamp + scan.largest_delta
    if client_append_time or not _within_bounds(smallest, largest, settings, now_ms):
        records = iterate_records(payload, header)
        _refuse_bad_records(header, records, settings, partition, now_ms, unpacking, partial=partial)
    elif scan.keyless and settings.compact:
        raise _without_key(header, payload, scan.keyless, partition, unpacking)
    return ValidBatch(header, payload, largest if largest > NO_TIMESTAMP else NO_TIMESTAMP)


def _validate_compressed(
    header: BatchHeader,
    payload: memoryview,
    settings: LogSettings,
    partition: str,
    now_ms: int,
    unpacking: Unpacking,
) -> ValidBatch:
    recompress = settings.compression not in (PRODUCER_COMPRESSION, header.compression)
    limited = header.compression and settings.max_decompressed_message_bytes < UNLIMITED_RECORD
    trusted = (
        not limited
        and not settings.compact
        and not recompress
        and not header.log_append_time
        and (settings.timestamp_before_max_ms == _INT64_MAX or settings.log_append_time)
        and (settings.log_append_time or header.max_timestamp - now_ms <= settings.timestamp_after_max_ms)
    )
    if trusted:
        return ValidBatch(header, payload, header.max_timestamp)
    plain = unpacking.unpack(header, payload, partition) if header.compression else payload
    if limited:
        _refuse_large_records(plain, header.record_count, settings.max_decompressed_message_bytes)
    unpacked = header._replace(attributes=header.attributes & ~7)
    if not recompress:
        try:
            valid = _validate_plain(unpacked, memoryview(plain), settings, partition, now_ms, unpacking, partial=True)
        except AppendError:
            raise
        except KafkaError:
            for _ in iterate_records(plain, unpacked):  # which calls some things otherwise, as Kafka does
                pass
            raise
        return ValidBatch(header, payload, valid.max_timestamp)
    records: list[Record] = []
    try:
        for record in iterate_records(plain, unpacked):
            records.append(record)
    except InvalidRecordError:
        if not header.compression and _size_has_no_end(plain, len(records)):
            raise AppendError(ErrorCode.UNKNOWN_SERVER_ERROR, "Varint is too long") from None
        raise
    _refuse_bad_records(header, records, settings, partition, now_ms, unpacking)
    largest = max(record.timestamp for record in records)
    header, plain = _as_built_anew(header, plain, records)
    return _recompressed(header, plain, settings, max(NO_TIMESTAMP, largest))


_LONGEST_VARINT: Final = 5
"""Bytes."""


def _refuse_large_records(plain: Buffer, count: int, most: int) -> None:
    """Kafka 4.4: DefaultRecord.readFrom. What is no record at all is for others to say."""
    at, view = 0, memoryview(plain)
    for _ in range(count):
        try:
            size, at = read_varint(view, at)
        except (IndexError, ValueError):
            return
        if size < 0:
            return
        if size > most:
            why = f"Invalid record size: {size} exceeds the configured maximum record size of {most}."
            raise InvalidRecordError(why)
        at += size


def _size_has_no_end(plain: Buffer, index: int) -> bool:
    """Whether the size of that record is no varint. Kafka tells it apart where the batch came without compression."""
    at, view = 0, memoryview(plain)
    for _ in range(index):
        size, at = read_varint(view, at)
        at += size
    size_bytes = view[at : at + _LONGEST_VARINT]
    return len(size_bytes) == _LONGEST_VARINT and min(size_bytes) > 127


def _as_built_anew(header: BatchHeader, plain: Buffer, records: Sequence[Record]) -> tuple[BatchHeader, Buffer]:
    """Header and records as MemoryRecordsBuilder writes them: offsets without gaps, times relative to the first one.

    Producers write them so already; then nothing is copied.
    """
    base = records[0].timestamp
    in_order = all(record.offset == header.base_offset + index for index, record in enumerate(records))
    if in_order and base == header.base_timestamp and not header.log_append_time:
        return header, plain
    out = bytearray()
    for index, record in enumerate(records):
        append_record(out, index, NewRecord(record.key, record.value, record.timestamp, record.headers), base)
    return header._replace(base_timestamp=base), bytes(out)


def _recompressed(header: BatchHeader, plain: Buffer, settings: LogSettings, largest: int) -> ValidBatch:
    if header.has_producer and header.producer_epoch == NO_PRODUCER_EPOCH:
        raise AppendError(ErrorCode.UNKNOWN_SERVER_ERROR, "Invalid negative producer epoch")
    packed = compress(settings.compression, plain)
    changed = header._replace(
        length=HEADER_SIZE - 12 + len(packed), attributes=header.attributes & _TRANSACTIONAL | settings.compression
    )
    changed = changed._replace(crc=compute_crc(changed.encode() + packed))
    if changed.size > settings.max_message_bytes:
        raise AppendError(
            ErrorCode.MESSAGE_TOO_LARGE,
            f"the batch has {changed.size} bytes after compression, allowed are {settings.max_message_bytes}",
            tells_log_start=False,
        )
    return ValidBatch(changed, memoryview(packed), largest)


def _within_bounds(smallest: int, largest: int, settings: LogSettings, now_ms: int) -> bool:
    """No record can be out of bounds; NO_TIMESTAMP never is, but is not told apart here."""
    if settings.log_append_time:
        return True
    return now_ms - smallest <= settings.timestamp_before_max_ms and largest - now_ms <= settings.timestamp_after_max_ms


def _without_key(header: BatchHeader, payload: Buffer, count: int, partition: str, unpacking: Unpacking) -> AppendError:
    """Of a batch on a compacted topic in which so many records have no key, and nothing else is wrong."""
    why, most = _no_key(partition), max(1, min(count, unpacking.errors_left))
    if count == header.record_count:
        return _refused_records([RecordError(index, why) for index in range(most)], count, unpacking)
    numbered = enumerate(iterate_records(payload, header))
    keyless = (RecordError(index, why) for index, record in numbered if record.key is None)
    return _refused_records(list(islice(keyless, most)), count, unpacking)


def _no_key(partition: str) -> str:
    return f"Compacted topic cannot accept message without key in topic partition {partition}"


def _refuse_bad_records(
    header: BatchHeader,
    records: Iterable[Record],
    settings: LogSettings,
    partition: str,
    now_ms: int,
    unpacking: Unpacking,
    *,
    partial: bool = False,
) -> None:
    """LogValidator.validateRecord over all of them: one AppendError naming bad records, or nothing.

    `partial`: Kafka would have skipped keys and values, and prints the records accordingly.
    """
    errors: list[RecordError] = []
    count, bad_timestamp, most, no_key = 0, False, max(1, unpacking.errors_left), _no_key(partition)
    low, high = now_ms - settings.timestamp_before_max_ms, now_ms + settings.timestamp_after_max_ms
    for index, record in enumerate(records):
        if settings.compact and record.key is None:
            why = None
        elif not settings.log_append_time and record.timestamp != NO_TIMESTAMP:
            if low <= record.timestamp <= high:
                continue
            why = "out of range"
        elif header.log_append_time:
            why = "type"
        else:
            continue
        count += 1
        bad_timestamp = bad_timestamp or why is not None
        if count <= most:
            errors.append(
                RecordError(index, no_key if why is None else _bad_timestamp(record, why, low, high, partial))
            )
        elif bad_timestamp:
            break  # the answer has no number of them then
    if not count:
        return
    if bad_timestamp:
        unpacking.errors_left = max(0, unpacking.errors_left - len(errors))
        raise AppendError(
            ErrorCode.INVALID_TIMESTAMP,
            "One or more records have been rejected due to invalid timestamp",
            record_errors=tuple(errors),
        )
    raise _refused_records(errors, count, unpacking)


def _bad_timestamp(record: Record, why: str, low: int, high: int, partial: bool) -> str:
    if why == "type":
        return (
            f"Invalid timestamp type in message {_shown(record, partial)}. Producer should not "
            "set timestamp type to LogAppendTime."
        )
    return (
        f"Timestamp {record.timestamp} of message with offset {record.offset} is out of "
        f"range. The timestamp should be within [{low}, {high}]"
    )


def _refused_records(errors: Sequence[RecordError], count: int, unpacking: Unpacking) -> AppendError:
    unpacking.errors_left = max(0, unpacking.errors_left - len(errors))
    shown = ", ".join(
        f"RecordError(batchIndex={error.batch_index}, message='{error.message}')" for error in errors[:_SHOWN_ERRORS]
    )
    return AppendError(
        ErrorCode.INVALID_RECORD,
        f"One or more records have been rejected due to {count} record errors in total, "
        f"and only showing the first three errors at most: [{shown}]",
        record_errors=tuple(errors),
    )


def _shown(record: Record, partial: bool) -> str:
    name, absent = ("PartialDefaultRecord", -1) if partial else ("DefaultRecord", 0)
    key = absent if record.key is None else len(record.key)
    value = absent if record.value is None else len(record.value)
    return f"{name}(offset={record.offset}, timestamp={record.timestamp}, key={key} bytes, value={value} bytes)"
