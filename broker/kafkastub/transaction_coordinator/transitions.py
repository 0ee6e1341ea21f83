"""What a transactional id becomes, step by step: from one record to the next. Kafka: TransactionMetadata.prepare….

None of these asks whether the step is allowed: that is the coordinator's business.
"""

from __future__ import annotations

from typing import Final

from kafkastub.transaction_coordinator.records import NO_TIMESTAMP, TransactionMetadata, TransactionState
from kafkawire.errors import ErrorCode, KafkaError

NO_PRODUCER_ID: Final = -1
NO_EPOCH: Final = -1
LAST_EPOCH: Final = 0x7FFF
"""Never a producer's: it is left for the coordinator, who must always be able to fence one."""
EPOCH_BUMPED_BY_END: Final = 2
"""The transaction version from which on each end of a transaction raises the epoch (KIP-890)."""

PREPARED: Final = (TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT)
COMPLETE: Final = (TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT)
OPEN: Final = (TransactionState.ONGOING, *PREPARED)
_made: Final = tuple.__new__
"""A tuple with names: its own constructor, which is written in Python, takes three times as long."""


def is_exhausted(epoch: int) -> bool:
    """Whether a producer may not have a higher epoch of the same id."""
    return epoch >= LAST_EPOCH - 1


def created(transactional_id: str, producer_id: int, timeout_ms: int, broker_ms: int) -> TransactionMetadata:
    """An id that nobody has used yet; no record of it is written before it has an epoch."""
    return TransactionMetadata(
        transactional_id=transactional_id,
        producer_id=producer_id,
        previous_producer_id=NO_PRODUCER_ID,
        next_producer_id=NO_PRODUCER_ID,
        producer_epoch=NO_EPOCH,
        last_producer_epoch=NO_EPOCH,
        timeout_ms=timeout_ms,
        state=TransactionState.EMPTY,
        partitions=(),
        start_timestamp=NO_TIMESTAMP,
        last_update_timestamp=broker_ms,
        client_transaction_version=0,
    )


def initialised(
    before: TransactionMetadata, timeout_ms: int, expected_epoch: int | None, broker_ms: int
) -> TransactionMetadata:
    """The epoch raised by one, nothing open.

    A producer that names its epoch (KIP-360) may ask again with the one before: it is given the same answer. KafkaError
    PRODUCER_FENCED where it is neither.
    """
    epoch, last = before.producer_epoch + 1, NO_EPOCH
    if expected_epoch is not None:
        if before.producer_epoch in (NO_EPOCH, expected_epoch):
            last = before.producer_epoch
        elif expected_epoch == before.last_producer_epoch:
            epoch, last = before.producer_epoch, before.last_producer_epoch
        else:
            raise KafkaError(ErrorCode.PRODUCER_FENCED)
    return _emptied(before, before.producer_id, epoch, last, timeout_ms, broker_ms)


def rotated(
    before: TransactionMetadata, producer_id: int, timeout_ms: int, keep_last_epoch: bool, broker_ms: int
) -> TransactionMetadata:
    """Another producer id, with epoch 0."""
    last = before.producer_epoch if keep_last_epoch else NO_EPOCH
    return _emptied(before, producer_id, 0, last, timeout_ms, broker_ms)


def _emptied(
    before: TransactionMetadata, producer_id: int, epoch: int, last_epoch: int, timeout_ms: int, broker_ms: int
) -> TransactionMetadata:
    return before._replace(
        producer_id=producer_id,
        previous_producer_id=before.producer_id,
        producer_epoch=epoch,
        last_producer_epoch=last_epoch,
        timeout_ms=timeout_ms,
        state=TransactionState.EMPTY,
        partitions=(),
        start_timestamp=NO_TIMESTAMP,
        last_update_timestamp=broker_ms,
    )


def with_partitions(
    before: TransactionMetadata, partitions: tuple[tuple[str, int], ...], transaction_version: int, broker_ms: int
) -> TransactionMetadata:
    """The transaction is open, with these partitions in all."""
    name, producer_id, _, next_id, epoch, last, timeout_ms, state, _, start, _, _ = before
    if state is not TransactionState.ONGOING:
        start = broker_ms
    return _made(TransactionMetadata, (
        name, producer_id, producer_id, next_id, epoch, last, timeout_ms, TransactionState.ONGOING, partitions, start,
        broker_ms, transaction_version,
    ))  # fmt: skip


def prepared(
    before: TransactionMetadata, commit: bool, transaction_version: int, next_producer_id: int, broker_ms: int
) -> TransactionMetadata:
    """The transaction's end is decided. From transaction version 2 on the epoch is raised, to the last one at most."""
    name, producer_id, _, _, epoch, last, timeout_ms, state, partitions, start, _, _ = before
    if transaction_version >= EPOCH_BUMPED_BY_END:
        epoch, last = min(epoch + 1, LAST_EPOCH), epoch
    if state is not TransactionState.ONGOING:
        start = broker_ms
    return _made(TransactionMetadata, (
        name, producer_id, producer_id, next_producer_id, epoch, last, timeout_ms, PREPARED[not commit], partitions,
        start, broker_ms, transaction_version,
    ))  # fmt: skip


def completed(before: TransactionMetadata, broker_ms: int) -> TransactionMetadata:
    """Every partition has its marker; the next producer id takes over where there is one."""
    name, previous, _, next_id, epoch, last, timeout_ms, state, _, start, _, version = before
    producer_id = previous
    if next_id != NO_PRODUCER_ID and version >= EPOCH_BUMPED_BY_END:
        producer_id, epoch = next_id, 0
    return _made(TransactionMetadata, (
        name, producer_id, previous, NO_PRODUCER_ID, epoch, last, timeout_ms, COMPLETE[PREPARED.index(state)], (),
        start, broker_ms, version,
    ))  # fmt: skip
