"""The header of a record batch, and the cutting of a buffer into batches.

Offsets and lengths in bytes, timestamps in unix milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.records.checksum import crc32c

Buffer = bytes | bytearray | memoryview

NO_TIMESTAMP = -1
NO_PRODUCER_ID = -1
NO_PRODUCER_EPOCH = -1
NO_SEQUENCE = -1
MAGIC = 2

_HEADER = Struct(">qiibIhiqqqhii")
HEADER_SIZE = _HEADER.size
LOG_OVERHEAD = 12
"""What comes before the bytes that the length field counts: base offset and the length itself."""
_UP_TO_MAGIC = 17
_CRC_AT = 17
_CRC_FROM = 21
_SMALLEST_LENGTH = 14
"""The least length field of any format; v0's header."""
_LENGTH = Struct(">i")
_UNSIGNED = Struct(">I")

_COMPRESSION_MASK = 0x07
_LOG_APPEND_TIME = 0x08
_TRANSACTIONAL = 0x10
_CONTROL = 0x20
_DELETE_HORIZON = 0x40
_KNOWN_ATTRIBUTES = 0x7F
_INT32_MAX = 0x7FFFFFFF


def corrupt(why: str) -> KafkaError:
    """CORRUPT_MESSAGE; Kafka's CorruptRecordException."""
    return KafkaError(ErrorCode.CORRUPT_MESSAGE, why)


class BatchHeader(NamedTuple):
    """The 61 bytes before the records, in their order on the wire."""

    base_offset: int
    length: int
    """Bytes after the length field."""
    leader_epoch: int
    magic: int
    crc: int
    """CRC-32C of everything after it; offset, length, epoch and magic may change without touching it."""
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int

    @property
    def size(self) -> int:
        """The whole batch, header included."""
        return LOG_OVERHEAD + self.length

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def last_sequence(self) -> int:
        if self.base_sequence == NO_SEQUENCE:
            return NO_SEQUENCE
        return add_sequence(self.base_sequence, self.last_offset_delta)

    @property
    def compression(self) -> int:
        """0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd; 5 to 7 mean nothing."""
        return self.attributes & _COMPRESSION_MASK

    @property
    def log_append_time(self) -> bool:
        """Every record has the batch's max timestamp, set by the broker."""
        return bool(self.attributes & _LOG_APPEND_TIME)

    @property
    def transactional(self) -> bool:
        return bool(self.attributes & _TRANSACTIONAL)

    @property
    def control(self) -> bool:
        return bool(self.attributes & _CONTROL)

    @property
    def has_producer(self) -> bool:
        """A producer id was set: Kafka takes any id above -1 for one."""
        return self.producer_id > NO_PRODUCER_ID

    def encode(self) -> bytes:
        return _HEADER.pack(*self)


def add_sequence(sequence: int, increment: int) -> int:
    """Sequence numbers wrap from 2^31-1 to 0 (DefaultRecordBatch.incrementSequence)."""
    return (sequence + increment) & _INT32_MAX if sequence > _INT32_MAX - increment else sequence + increment


def parse_header(batch: Buffer, at: int = 0) -> BatchHeader:
    """The header at `at`. CORRUPT_MESSAGE where there are not even its 61 bytes."""
    if len(batch) - at < HEADER_SIZE:
        raise corrupt(f"a batch of {len(batch) - at} bytes is smaller than its header")
    return BatchHeader._make(_HEADER.unpack_from(batch, at))


def compute_crc(batch: Buffer) -> int:
    """The CRC-32C that the header of this batch ought to carry. `batch` is exactly one batch."""
    return crc32c(memoryview(batch)[_CRC_FROM:])


def check_crc(batch: Buffer) -> bool:
    """Does the stored CRC fit? `batch` is exactly one batch."""
    return bool(_UNSIGNED.unpack_from(batch, _CRC_AT)[0] == compute_crc(batch))


def split_batches(records: Buffer) -> Iterator[tuple[int, memoryview]]:
    """(magic, batch) for each whole batch in the buffer; a torn last one is left out, as Kafka leaves it.

    CORRUPT_MESSAGE for a length below any format's or a magic that never was. Nothing else is looked at: a
    batch may be too short for its own header. Source: ByteBufferLogInputStream.
    """
    view = memoryview(records)
    at, end = 0, len(view)
    while end - at >= LOG_OVERHEAD:
        (length,) = _LENGTH.unpack_from(view, at + 8)
        if length < _SMALLEST_LENGTH:
            raise corrupt(f"Record size {length} is less than the minimum record overhead ({_SMALLEST_LENGTH})")
        if end - at < _UP_TO_MAGIC:
            return
        magic = view[at + 16]
        if magic > MAGIC:
            raise corrupt(f"Invalid magic found in record: {magic if magic < 128 else magic - 256}")
        if end - at < LOG_OVERHEAD + length:
            return
        yield magic, view[at : at + LOG_OVERHEAD + length]
        at += LOG_OVERHEAD + length


def sole_batch(records: Buffer) -> memoryview | None:
    """The batch, where the buffer is one whole batch v2 and nothing else: what producers send. None otherwise.

    `split_batches` would give the same; this takes a third of its time.
    """
    size = len(records)
    if size < HEADER_SIZE or records[16] != MAGIC or _LENGTH.unpack_from(records, 8)[0] != size - LOG_OVERHEAD:
        return None
    return memoryview(records)


def patched_header(
    header: BatchHeader,
    payload: Buffer,
    *,
    base_offset: int,
    leader_epoch: int,
    max_timestamp: int,
    log_append_time: bool,
) -> BatchHeader:
    """The header as the leader writes it: offset and epoch always, timestamps and CRC where they change.

    `payload` is everything after the header, needed for a new CRC. Source:
    LogValidator.assignOffsetsNonCompressed and DefaultRecordBatch.setMaxTimestamp (which drops attribute bits
    that mean nothing).
    """
    if header.max_timestamp == max_timestamp and header.log_append_time == log_append_time:
        # Half the time of `_replace`.
        return BatchHeader._make((base_offset, header[1], leader_epoch, *header[3:]))
    attributes = header.attributes & _KNOWN_ATTRIBUTES & ~_LOG_APPEND_TIME
    if log_append_time:
        attributes |= _LOG_APPEND_TIME
    changed = header._replace(
        base_offset=base_offset, leader_epoch=leader_epoch, attributes=attributes, max_timestamp=max_timestamp
    )
    encoded = changed.encode()
    crc = crc32c(payload, crc32c(encoded[_CRC_FROM:]))
    return changed._replace(crc=crc)
