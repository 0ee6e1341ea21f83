"""Markers: the control records that end a transaction (KIP-98; EndTransactionMarker, ControlRecordType)."""

from __future__ import annotations

from struct import Struct, error
from typing import Final, NamedTuple

from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.records.batch import LOG_OVERHEAD, MAGIC, NO_SEQUENCE
from kafkawire.records.build import NewRecord
from kafkawire.records.checksum import crc32c
from kafkawire.records.record import Record

_KEY: Final = Struct(">hh")
_VALUE: Final = Struct(">hi")
_HEAD: Final = Struct(">qiibI")
"""A batch up to its CRC."""
_BODY: Final = Struct(">hiqqqhii 5B hh B hi B")
"""What the CRC covers: the rest of the header, and one record with its key and value."""
_LENGTH: Final = _HEAD.size + _BODY.size - LOG_OVERHEAD
MARKER_SIZE: Final = _HEAD.size + _BODY.size
"""Bytes of the batch."""
_RECORD: Final = (32, 0, 0, 0, 8)
"""Size, attributes, timestamp delta and offset delta of the record, size of its key; sizes as zigzag varints."""
_VALUE_SIZE: Final = 12
_NO_HEADERS: Final = 0
_VERSION: Final = 0
_ABORT: Final = 0
_COMMIT: Final = 1
_TRANSACTIONAL_CONTROL: Final = 0x30
_LOG_APPEND_TIME: Final = 0x08


class EndMarker(NamedTuple):
    """What a marker says beside its batch's producer id and epoch."""

    commit: bool
    coordinator_epoch: int


def build_marker(
    producer_id: int,
    producer_epoch: int,
    commit: bool,
    coordinator_epoch: int,
    timestamp: int,
    *,
    base_offset: int = 0,
    leader_epoch: int = -1,
    log_append_time: bool = False,
) -> bytes:
    """The batch that ends a producer's transaction in one partition. All of them have the same size."""
    attributes = _TRANSACTIONAL_CONTROL | (_LOG_APPEND_TIME if log_append_time else 0)
    kind = _COMMIT if commit else _ABORT
    body = _BODY.pack(
        attributes, 0, timestamp, timestamp, producer_id, producer_epoch, NO_SEQUENCE, 1,
        *_RECORD, _VERSION, kind, _VALUE_SIZE, _VERSION, coordinator_epoch, _NO_HEADERS,
    )  # fmt: skip
    return _HEAD.pack(base_offset, _LENGTH, leader_epoch, MAGIC, crc32c(body)) + body


def marker_record(marker: EndMarker, timestamp: int) -> NewRecord:
    """The record of such a batch."""
    key = _KEY.pack(_VERSION, _COMMIT if marker.commit else _ABORT)
    return NewRecord(key, _VALUE.pack(_VERSION, marker.coordinator_epoch), timestamp)


def read_marker(record: Record) -> EndMarker | None:
    """What a record of a control batch says; None for one of another kind (those of Raft).

    CORRUPT_MESSAGE where it is no control record at all.
    """
    try:
        _, kind = _KEY.unpack_from(record.key or b"")
        if kind not in (_ABORT, _COMMIT):
            return None
        _, coordinator_epoch = _VALUE.unpack_from(record.value or b"")
    except error:
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE, "a control record that is too short") from None
    return EndMarker(kind == _COMMIT, coordinator_epoch)
