"""Markers: the control records that end a transaction (KIP-98; EndTransactionMarker, ControlRecordType)."""

from __future__ import annotations

from struct import Struct, error
from typing import Final, NamedTuple

from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.records.build import NewRecord, build_batch
from kafkawire.records.record import Record

_KEY: Final = Struct(">hh")
_VALUE: Final = Struct(">hi")
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
    log_append_time: bool = False,
) -> bytes:
    """The batch that ends a producer's transaction in one partition."""
    return build_batch(
        [marker_record(EndMarker(commit, coordinator_epoch), timestamp)],
        base_offset=base_offset,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        attributes=_TRANSACTIONAL_CONTROL | (_LOG_APPEND_TIME if log_append_time else 0),
    )


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
