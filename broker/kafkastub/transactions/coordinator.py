"""The transaction coordinator: every transactional id of the cluster, as one pure state machine.

No clock, no I/O, no loop: each call is given the moment, broker time (stamps, expiry of ids) and timer time
(transaction timeouts), and gives back a `Turn`: the records to append to `__transaction_state`, the markers to write,
the reply. Errors are raised as `KafkaError`. Kafka: TransactionCoordinator, TransactionStateManager.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from kafkastub.deadlines import Deadlines
from kafkastub.transactions.records import TransactionMetadata, TransactionRecord, TransactionState
from kafkastub.transactions.settings import TransactionSettings
from kafkastub.transactions.turn import ProducerIdAndEpoch, TopicPartition, Turn
from kafkawire.errors import ErrorCode


class TransactionDescription(NamedTuple):
    """What DescribeTransactions tells of a transactional id.

    Attributes:
        start_ms: broker milliseconds; -1 where none is open.
        partitions: those that have no marker yet.
    """

    transactional_id: str
    producer_id: int
    producer_epoch: int
    state: TransactionState
    timeout_ms: int
    start_ms: int
    partitions: tuple[TopicPartition, ...]


class TransactionCoordinator:
    """All transactional ids, and what can be done to them.

    Args:
        new_producer_id: hands out a producer id that nobody has.
        coordinator_epoch: the leader epoch of the partition of `__transaction_state` that a transactional id is in.

    Attributes:
        deadlines: transaction timeouts, on timer time; `deadlines.mark_dirty` is called where the next one may have
            come nearer.
    """

    def __init__(
        self,
        settings: TransactionSettings,
        new_producer_id: Callable[[], int],
        coordinator_epoch: Callable[[str], int] = lambda transactional_id: 0,
    ) -> None:
        self.settings = settings
        self.deadlines: Deadlines[Turn] = Deadlines()
        self._new_producer_id = new_producer_id
        self._coordinator_epoch = coordinator_epoch

    # -- requests ------------------------------------------------------------------------------------------------

    def init_producer_id(
        self, transactional_id: str, timeout_ms: int, expected: ProducerIdAndEpoch | None, turn: Turn
    ) -> Turn:
        """InitProducerId; the reply is the `ProducerIdAndEpoch`, the epoch raised.

        `expected` is what the producer believes to have (KIP-360). Where a transaction is open, it is aborted with an
        epoch of its own: the turn has its records and markers, and the error CONCURRENT_TRANSACTIONS.
        KafkaError INVALID_REQUEST (empty id), INVALID_TRANSACTION_TIMEOUT, PRODUCER_FENCED, CONCURRENT_TRANSACTIONS.
        """
        raise NotImplementedError

    def add_partitions(
        self,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        partitions: Iterable[TopicPartition],
        transaction_version: int,
        turn: Turn,
    ) -> Turn:
        """AddPartitionsToTxn and AddOffsetsToTxn of partitions that exist; no record where all are in already.

        KafkaError INVALID_REQUEST (empty id), INVALID_PRODUCER_ID_MAPPING, PRODUCER_FENCED, CONCURRENT_TRANSACTIONS.
        """
        raise NotImplementedError

    def verify_partitions(
        self, transactional_id: str, producer_id: int, producer_epoch: int, partitions: Iterable[TopicPartition]
    ) -> dict[TopicPartition, ErrorCode]:
        """AddPartitionsToTxn that only asks: NONE where a partition is in the transaction, else TRANSACTION_ABORTABLE.

        KafkaError as of `add_partitions`, where the code holds for all of them.
        """
        raise NotImplementedError

    def end(
        self,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        commit: bool,
        transaction_version: int,
        turn: Turn,
    ) -> Turn:
        """EndTxn; the reply is the `ProducerIdAndEpoch` to go on with (KIP-890).

        The turn has the Prepare record and the markers. A repeated request is answered alike, with neither.
        KafkaError INVALID_REQUEST (empty id), INVALID_PRODUCER_ID_MAPPING, PRODUCER_FENCED, CONCURRENT_TRANSACTIONS,
        INVALID_TXN_STATE.
        """
        raise NotImplementedError

    def markers_written(
        self,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        partitions: Iterable[TopicPartition],
        turn: Turn,
    ) -> Turn:
        """These partitions have their marker (or are no more). With the last one the transaction is complete.

        Reports of a transaction that is not (or no longer) being ended are ignored, with an empty turn.
        """
        raise NotImplementedError

    # -- what is known -------------------------------------------------------------------------------------------

    def describe(self, transactional_id: str) -> TransactionDescription:
        """DescribeTransactions. KafkaError INVALID_REQUEST (empty id), TRANSACTIONAL_ID_NOT_FOUND."""
        raise NotImplementedError

    def listing(
        self,
        broker_ms: int,
        *,
        states: Collection[TransactionState] = (),
        producer_ids: Collection[int] = (),
        min_duration_ms: int = -1,
        matches: Callable[[str], bool] | None = None,
    ) -> list[TransactionDescription]:
        """ListTransactions: those that fulfil every filter; an empty filter lets all through.

        `min_duration_ms`: only those that have been open for longer; -1 lets all through, those that have none open too.
        """
        raise NotImplementedError

    def metadata(self, transactional_id: str) -> TransactionMetadata | None:
        """The record as it stands, for those who look."""
        raise NotImplementedError

    # -- time ----------------------------------------------------------------------------------------------------

    def next_deadline(self) -> int | None:
        """The next moment, in timer milliseconds, at which a transaction times out."""
        return self.deadlines.next()

    def expire(self, broker_ms: int, timer_ms: int) -> Turn:
        """Abort the transactions whose timeout is over, their producers fenced. Kafka: abortTimedOutTransactions."""
        raise NotImplementedError

    def expire_ids(self, broker_ms: int) -> Turn:
        """Tombstones of ids that had no transaction for `transactional.id.expiration.ms`.

        Kafka: TransactionStateManager.removeExpiredTransactionalIds.
        """
        raise NotImplementedError

    def next_id_expiry(self) -> int | None:
        """`expire_ids` before this broker time finds nothing, unless something changes."""
        raise NotImplementedError

    # -- records -------------------------------------------------------------------------------------------------

    def apply(self, record: TransactionRecord) -> None:
        """Make a record of `__transaction_state` true, on loading; `loaded` follows the last one."""
        raise NotImplementedError

    def knows(self, transactional_id: str) -> bool:
        """Whether the records that are applied leave anything of the id."""
        raise NotImplementedError

    def loaded(self, broker_ms: int, timer_ms: int) -> Turn:
        """All records are applied: its markers are those of transactions that were being ended; timeouts count anew."""
        raise NotImplementedError

    def unload(self, broker_ms: int, timer_ms: int) -> Turn:
        """Forget everything."""
        raise NotImplementedError

    def reload(self, transactional_ids: Iterable[str], broker_ms: int, timer_ms: int) -> Turn:
        """These ids move to another coordinator, which knows of them what their records say; markers as in `loaded`."""
        raise NotImplementedError
