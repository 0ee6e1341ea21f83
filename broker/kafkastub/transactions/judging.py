"""What a request may do to a transactional id, as it stands. Kafka: TransactionCoordinator.endTransaction, and more."""

from __future__ import annotations

from kafkastub.transactions.records import TransactionMetadata, TransactionState
from kafkastub.transactions.transitions import LAST_EPOCH, PREPARED, is_exhausted
from kafkastub.transactions.turn import ProducerIdAndEpoch
from kafkawire.errors import ErrorCode, KafkaError


def check_expected(metadata: TransactionMetadata, expected: ProducerIdAndEpoch | None) -> None:
    """Whether a producer that names its id may go on with this one. KafkaError PRODUCER_FENCED.

    Of the id before only the last epoch may: that producer has not heard of the new id.
    """
    if expected is None or expected.producer_id == metadata.producer_id:
        return
    if expected.producer_id != metadata.previous_producer_id or not is_exhausted(expected.epoch):
        raise KafkaError(ErrorCode.PRODUCER_FENCED)


def asks_again_past_last_epoch(metadata: TransactionMetadata, producer_id: int, epoch: int) -> bool:
    """Whether an EndTxn that led to a new producer id is repeated."""
    return metadata.previous_producer_id == producer_id and epoch == LAST_EPOCH - 1 and metadata.producer_epoch == 0


def ends_v1(metadata: TransactionMetadata, epoch: int, commit: bool) -> bool:
    """Whether EndTxn below version 5 ends a transaction; False where that has been done.

    KafkaError PRODUCER_FENCED, CONCURRENT_TRANSACTIONS, INVALID_TXN_STATE.
    """
    if epoch != metadata.producer_epoch:
        raise KafkaError(ErrorCode.PRODUCER_FENCED)
    if metadata.state is TransactionState.ONGOING:
        return True
    if metadata.state is (TransactionState.COMPLETE_COMMIT if commit else TransactionState.COMPLETE_ABORT):
        return False
    raise KafkaError(_not_ending(metadata, commit))


def ends_v2(metadata: TransactionMetadata, producer_id: int, epoch: int, commit: bool) -> bool:
    """The same from version 5 on (KIP-890): a repeated request is known by its epoch, one below that of the answer.

    A producer may abort where it has no partitions yet.
    """
    state = metadata.state
    again = metadata.producer_epoch == epoch + 1
    if state in PREPARED:
        allowed = again
    elif state in (TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT):
        again = again or asks_again_past_last_epoch(metadata, producer_id, epoch)
        allowed = again or metadata.producer_epoch == epoch
    else:
        allowed = metadata.producer_epoch == epoch
    if not allowed:
        raise KafkaError(ErrorCode.PRODUCER_FENCED)
    if state is TransactionState.ONGOING:
        return True
    if state in PREPARED:
        raise KafkaError(_not_ending(metadata, commit))
    if again:
        if state is (TransactionState.COMPLETE_COMMIT if commit else TransactionState.COMPLETE_ABORT):
            return False
    elif not commit:
        return True
    raise KafkaError(ErrorCode.INVALID_TXN_STATE)


def _not_ending(metadata: TransactionMetadata, commit: bool) -> ErrorCode:
    """What is answered where there is nothing to end (any more)."""
    if metadata.state is (TransactionState.PREPARE_COMMIT if commit else TransactionState.PREPARE_ABORT):
        return ErrorCode.CONCURRENT_TRANSACTIONS
    return ErrorCode.INVALID_TXN_STATE
