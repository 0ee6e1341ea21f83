"""Transactions in `__consumer_offsets`: how their batches look, and what a batch is to the log's producer states.

A transactional commit is a batch of its producer, and its end a control batch, as in any log (KIP-98). Kafka:
CoordinatorRuntime.scheduleTransactionalWriteOperation, completeTransaction.
"""

from __future__ import annotations

from typing import Any, Final

from kafkastub.coordinator import PendingOffsets, TransactionMarker
from kafkastub.storage import Marker
from kafkastub.storage.state_log import PLAIN, BatchForm, StateLog
from kafkawire.records import (
    HEADER_SIZE,
    MAGIC,
    NO_SEQUENCE,
    BatchHeader,
    EndMarker,
    NewRecord,
    iterate_records,
    marker_record,
    read_marker,
)

_TRANSACTIONAL: Final = 0x10
_CONTROL: Final = 0x20


def form_of(content: Any) -> BatchForm:
    """Of the batch of an item with that content."""
    if type(content) is PendingOffsets:
        return pending_form(content.producer_id, content.producer_epoch)
    if type(content) is TransactionMarker:
        attributes = _TRANSACTIONAL | _CONTROL
        return BatchForm(content.producer_id, content.producer_epoch, NO_SEQUENCE, attributes, compressed=False)
    return PLAIN


def pending_form(producer_id: int, producer_epoch: int) -> BatchForm:
    """Of a batch with a producer's transactional commits."""
    return BatchForm(producer_id, producer_epoch, attributes=_TRANSACTIONAL)


def record_of(marker: TransactionMarker) -> NewRecord:
    """The marker's record."""
    return marker_record(EndMarker(marker.commit, marker.coordinator_epoch), marker.timestamp)


def pending_appended(log: StateLog, pending: PendingOffsets, base_offset: int, records: int, broker_ms: int) -> None:
    """A batch of transactional commits was appended there: its producer has a transaction in the log from now on."""
    form = form_of(pending)
    header = BatchHeader(
        base_offset=base_offset,
        length=0,
        leader_epoch=-1,
        magic=MAGIC,
        crc=0,
        attributes=form.attributes,
        last_offset_delta=records - 1,
        base_timestamp=broker_ms,
        max_timestamp=broker_ms,
        producer_id=form.producer_id,
        producer_epoch=form.producer_epoch,
        base_sequence=form.base_sequence,
        record_count=records,
    )
    log.producer_states.update(header, base_offset, broker_ms, broker_ms)


def marker_appended(log: StateLog, marker: TransactionMarker, offset: int) -> None:
    """A marker was appended there: the producer's transaction is over."""
    ended = Marker(marker.producer_id, marker.producer_epoch, marker.commit, marker.coordinator_epoch)
    log.producer_states.end(ended, offset, marker.timestamp, marker.timestamp)


def marker_in(header: BatchHeader, batch: memoryview, group_ids: tuple[str, ...]) -> TransactionMarker | None:
    """What a control batch says, None where it is another kind of control. KafkaError for a broken one."""
    for record in iterate_records(batch[HEADER_SIZE:], header):
        end = read_marker(record)
        if end is not None:
            return TransactionMarker(
                header.producer_id,
                header.producer_epoch,
                end.commit,
                end.coordinator_epoch,
                record.timestamp,
                group_ids,
            )
    return None
