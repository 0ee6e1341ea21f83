"""What a request may do to a transactional id, as it stands. Kafka: TransactionCoordinator.endTransaction, and more."""

from __future__ import annotations

from kafkastub.transaction_coordinator.records import TransactionMetadata, TransactionState
from kafkastub.transaction_coordinator.transitions import COMPLETE, LAST_EPOCH, PREPARED, is_exhausted
from kafkawire.errors import ErrorCode, KafkaError


def check_expected(metadata: TransactionMetadata, expected: tuple[int, int] | None) -> None:
    """Whether a producer that names its id may go on with this one. KafkaError PRODUCER_FENCED.

    Of the id before only the last epoch may: that producer has not heard of the new id.
    """
    if expected is None or expected[0] == metadata.producer_id:
        return
    if expected[0] != metadata.previous_producer_id or not is_exhausted(expected[1]):
        raise KafkaError(ErrorCode.PRODUCER_FENCED)


def asks_again_past_last_epoch(metadata: TransactionMetadata, producer_id: int, epoch: int) -> bool:
    """Whether an EndTxn that led to a new producer id is repeated."""
    return metadata.previous_producer_id == producer_id and epoch == LAST_EPOCH - 1 and metadata.producer_epoch == 0


def check_producer_id(metadata: TransactionMetadata, producer_id: int, epoch: int = -1) -> None:
    """KafkaError INVALID_PRODUCER_ID_MAPPING where it is not the producer's.

    The id before counts too where a producer asks again with its last epoch: it has not heard of the new one yet.
    """
    if metadata.producer_id != producer_id and not asks_again_past_last_epoch(metadata, producer_id, epoch):
        raise KafkaError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)


def ends_v1(metadata: TransactionMetadata, epoch: int, commit: bool) -> bool:
    """Whether EndTxn below version 5 ends a transaction; False where that has been done.

    KafkaError PRODUCER_FENCED, CONCURRENT_TRANSACTIONS, INVALID_TXN_STATE.
    """
    if epoch != metadata.producer_epoch:
        raise KafkaError(ErrorCode.PRODUCER_FENCED)
    if metadata.state in PREPARED:
        raise KafkaError(ErrorCode.CONCURRENT_TRANSACTIONS)
    if metadata.state is TransactionState.ONGOING:
        return True
    if _is_result(metadata, commit):
        return False
    raise KafkaError(ErrorCode.INVALID_TXN_STATE)


def ends_v2(metadata: TransactionMetadata, producer_id: int, epoch: int, commit: bool) -> bool:
    """The same from version 5 on (KIP-890): a repeated request is known by its epoch, one below that of the answer.

    A producer may abort where it has no partitions yet. No transaction is being ended already.
    """
    again = metadata.state in COMPLETE and (
        metadata.producer_epoch == epoch + 1 or asks_again_past_last_epoch(metadata, producer_id, epoch)
    )
    if not again and metadata.producer_epoch != epoch:
        raise KafkaError(ErrorCode.PRODUCER_FENCED)
    if metadata.state is TransactionState.ONGOING or not (again or commit):
        return True
    if again and _is_result(metadata, commit):
        return False
    raise KafkaError(ErrorCode.INVALID_TXN_STATE)


def _is_result(metadata: TransactionMetadata, commit: bool) -> bool:
    """Whether the last transaction has come to this end."""
    return metadata.state is (TransactionState.COMPLETE_COMMIT if commit else TransactionState.COMPLETE_ABORT)
