"""The transaction coordinator: every transactional id of the cluster, as one pure state machine.

No clock, no I/O, no loop: each call is given the moment, broker time (stamps, expiry of ids) and timer time
(transaction timeouts), and gives back a `Turn`: the records to append to `__transaction_state`, the markers to write,
the reply. Errors are raised as `KafkaError`. Kafka: TransactionCoordinator, TransactionStateManager.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from itertools import islice, takewhile
from typing import Final

from kafkastub.transaction_coordinator import transitions
from kafkastub.transaction_coordinator.records import (
    TransactionMetadata,
    TransactionState,
    TransactionTombstone,
    kafka_order,
)
from kafkastub.transaction_coordinator.settings import TransactionSettings
from kafkastub.transaction_coordinator.store import Transaction, TransactionDescription, TransactionStore, described
from kafkastub.transaction_coordinator.transitions import EPOCH_BUMPED_BY_END, LAST_EPOCH, PREPARED, is_exhausted
from kafkastub.transaction_coordinator.turn import Markers, ProducerIdAndEpoch, TopicPartition, Turn
from kafkastub.transaction_coordinator.validation import check_expected, check_producer_id, ends_v1, ends_v2
from kafkawire.errors import ErrorCode, KafkaError

_MOST_ABORTED: Final = 1000
"""Partitions whose transactions are aborted in one turn."""
_LEAST: Final = 10
"""So many a transaction counts as that has fewer."""
_MOST_EXPIRED: Final = 1000
"""Transactional ids that expire in one turn."""


class TransactionCoordinator(TransactionStore):
    """All transactional ids, and what can be done to them.

    Args:
        new_producer_id: hands out a producer id that nobody has.
        coordinator_epoch: the leader epoch of the partition of `__transaction_state` that a transactional id is in.
    """

    def __init__(
        self,
        settings: TransactionSettings,
        new_producer_id: Callable[[], int],
        coordinator_epoch: Callable[[str], int] = lambda transactional_id: 0,
    ) -> None:
        super().__init__(self._abort_timed_out)
        self.settings = settings
        self._new_producer_id = new_producer_id
        self._coordinator_epoch = coordinator_epoch

    def turn(self, broker_ms: int, timer_ms: int) -> Turn:
        """What a request is given: this moment."""
        return Turn(broker_ms, timer_ms)

    # -- requests ------------------------------------------------------------------------------------------------

    def init_producer_id(
        self, transactional_id: str, timeout_ms: int, expected: tuple[int, int] | None, turn: Turn
    ) -> Turn:
        """InitProducerId; the reply is the `ProducerIdAndEpoch`, the epoch raised.

        `expected` is the id and epoch that the producer believes to have (KIP-360). Where a transaction is open, it is
        aborted with an epoch of its own: the turn has its records and markers, and the error CONCURRENT_TRANSACTIONS.
        KafkaError INVALID_REQUEST (empty id), INVALID_TRANSACTION_TIMEOUT, PRODUCER_FENCED, CONCURRENT_TRANSACTIONS.
        """
        if not transactional_id:
            raise KafkaError(ErrorCode.INVALID_REQUEST)
        if not 0 < timeout_ms <= self.settings.max_timeout_ms:
            raise KafkaError(ErrorCode.INVALID_TRANSACTION_TIMEOUT)
        now = turn.broker_ms
        known = self.transactions.get(transactional_id)
        if known is None:
            new = transitions.created(transactional_id, self._new_producer_id(), timeout_ms, now)
            self.log(turn, transitions.initialised(new, timeout_ms, None, now))
        else:
            _check_settled(known)
            check_expected(known.metadata, expected)
            if known.metadata.state is TransactionState.ONGOING:
                self._fence(known, turn)
                turn.error = ErrorCode.CONCURRENT_TRANSACTIONS
                return turn
            self.log(turn, self._initialised(known.metadata, timeout_ms, expected, now))
        turn.reply = self._current(transactional_id)
        return turn

    def _initialised(
        self, before: TransactionMetadata, timeout_ms: int, expected: tuple[int, int] | None, now: int
    ) -> TransactionMetadata:
        exhausted = is_exhausted(before.producer_epoch)
        if exhausted and (expected is None or expected[1] == before.producer_epoch):
            return transitions.rotated(before, self._new_producer_id(), timeout_ms, expected is not None, now)
        return transitions.initialised(before, timeout_ms, None if expected is None else expected[1], now)

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
        known = self._known(transactional_id)
        _check_settled(known)  # first: the producer may have the id and epoch that come with completion
        _check_producer(known, producer_id, producer_epoch)
        added = dict.fromkeys(partitions)
        if known.metadata.state is not TransactionState.ONGOING:
            self.log(
                turn, transitions.with_partitions(known.metadata, tuple(added), transaction_version, turn.broker_ms)
            )
        elif not added.keys() <= known.partitions.keys():
            every = tuple(known.partitions | added)
            self.log(turn, transitions.with_partitions(known.metadata, every, transaction_version, turn.broker_ms))
        return turn

    def verify_partitions(
        self, transactional_id: str, producer_id: int, producer_epoch: int, partitions: Iterable[TopicPartition]
    ) -> dict[TopicPartition, ErrorCode]:
        """AddPartitionsToTxn that only asks: NONE where a partition is in the transaction, else TRANSACTION_ABORTABLE.

        KafkaError as of `add_partitions`, where the code holds for all of them.
        """
        known = self._known(transactional_id)
        _check_producer(known, producer_id, producer_epoch)
        _check_settled(known)
        return {
            one: ErrorCode.NONE if one in known.partitions else ErrorCode.TRANSACTION_ABORTABLE for one in partitions
        }

    def _known(self, transactional_id: str) -> Transaction:
        """KafkaError INVALID_REQUEST, INVALID_PRODUCER_ID_MAPPING."""
        if not transactional_id:
            raise KafkaError(ErrorCode.INVALID_REQUEST)
        known = self.transactions.get(transactional_id)
        if known is None:
            raise KafkaError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        return known

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
        known = self._known(transactional_id)
        if transaction_version < EPOCH_BUMPED_BY_END:
            check_producer_id(known.metadata, producer_id)
            ends = ends_v1(known.metadata, producer_epoch, commit)
        else:
            _check_settled(known)
            check_producer_id(known.metadata, producer_id, producer_epoch)
            ends = ends_v2(known.metadata, producer_id, producer_epoch, commit)
        if ends:
            self._prepare(known.metadata, commit, transaction_version, turn)
            if known.metadata.next_producer_id != transitions.NO_PRODUCER_ID:
                turn.reply = ProducerIdAndEpoch(known.metadata.next_producer_id, 0)
                return turn
        turn.reply = self._current(transactional_id)
        return turn

    def _prepare(self, before: TransactionMetadata, commit: bool, transaction_version: int, turn: Turn) -> None:
        """Decide the end: the record, and its markers. A new producer id follows where the epochs are used up."""
        next_id = transitions.NO_PRODUCER_ID
        if transaction_version >= EPOCH_BUMPED_BY_END and is_exhausted(before.producer_epoch):
            next_id = self._new_producer_id()
        self.log(turn, transitions.prepared(before, commit, transaction_version, next_id, turn.broker_ms))
        turn.markers.append(self._markers(self.transactions[before.transactional_id]))

    def _fence(self, transaction: Transaction, turn: Turn) -> None:
        """Abort in place of the producer, whose epoch is over. Kafka: prepareFenceProducerEpoch and what follows it."""
        version, before = self.settings.transaction_version, transaction.metadata
        if version < EPOCH_BUMPED_BY_END:  # from then on, every end raises the epoch
            version = 0
            epoch = min(before.producer_epoch + 1, LAST_EPOCH)
            before = before._replace(producer_epoch=epoch, last_producer_epoch=transitions.NO_EPOCH)
        self._prepare(before, False, version, turn)

    def _markers(self, transaction: Transaction) -> Markers:
        metadata = transaction.metadata
        return Markers(
            metadata.transactional_id,
            metadata.producer_id,
            metadata.producer_epoch,
            metadata.state is TransactionState.PREPARE_COMMIT,
            tuple(transaction.partitions),
            self._coordinator_epoch(metadata.transactional_id),
            metadata.client_transaction_version,
        )

    def markers_written(
        self,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        partitions: Iterable[TopicPartition],
        turn: Turn,
    ) -> Turn:
        """These partitions have their marker (or are no more). With the last one the transaction is complete.

        One without partitions is complete when it is reported with none.

        Reports of a transaction that is not (or no longer) being ended are ignored, with an empty turn.
        """
        known = self.transactions.get(transactional_id)
        if known is None or known.metadata.state not in PREPARED:
            return turn
        if (known.metadata.producer_id, known.metadata.producer_epoch) != (producer_id, producer_epoch):
            return turn
        for one in partitions:
            known.partitions.pop(one, None)
        if not known.partitions:
            self.log(turn, transitions.completed(known.metadata, turn.broker_ms))
        return turn

    # -- what is known -------------------------------------------------------------------------------------------

    def describe(self, transactional_id: str) -> TransactionDescription:
        """DescribeTransactions. KafkaError INVALID_REQUEST (empty id), TRANSACTIONAL_ID_NOT_FOUND."""
        if not transactional_id:
            raise KafkaError(ErrorCode.INVALID_REQUEST)
        known = self.transactions.get(transactional_id)
        if known is None:
            raise KafkaError(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND)
        return described(known)._replace(partitions=tuple(kafka_order(known.partitions)))

    def listing(
        self,
        broker_ms: int,
        *,
        states: Collection[TransactionState] = (),
        producer_ids: Collection[int] = (),
        min_duration_ms: int = -1,
        among: Iterable[Transaction] | None = None,
    ) -> list[TransactionMetadata]:
        """ListTransactions: those that fulfil every filter, of all or `among` some; an empty filter lets all through.

        `min_duration_ms`: only those that began longer ago; as in Kafka, those that have not begun any are among them.
        """
        return [
            one.metadata
            for one in (self.transactions.values() if among is None else among)
            if (not producer_ids or one.metadata.producer_id in producer_ids)
            and (not states or one.metadata.state in states)
            and (min_duration_ms < 0 or broker_ms - one.metadata.start_timestamp > min_duration_ms)
        ]

    def metadata(self, transactional_id: str) -> TransactionMetadata | None:
        """The record as it stands, for those who look."""
        known = self.transactions.get(transactional_id)
        return None if known is None else known.metadata

    def _current(self, transactional_id: str) -> ProducerIdAndEpoch:
        metadata = self.transactions[transactional_id].metadata
        return ProducerIdAndEpoch(metadata.producer_id, metadata.producer_epoch)

    # -- time ----------------------------------------------------------------------------------------------------

    def next_deadline(self) -> int | None:
        """The next moment, in timer milliseconds, at which a transaction times out."""
        return self.deadlines.next()

    def expire(self, broker_ms: int, timer_ms: int) -> Turn:
        """Abort transactions whose timeout is over, their producers fenced. Kafka: abortTimedOutTransactions.

        Of very many some are left, and stay due: a turn is short.
        """
        turn = Turn(broker_ms, timer_ms)
        left = _MOST_ABORTED
        for deadline in self.deadlines.due(timer_ms):
            ended = len(turn.markers)
            deadline.fire(turn)
            left -= max(_LEAST, *(len(one.partitions) for one in turn.markers[ended:]), 0)
            if left <= 0:
                break
        return turn

    def _abort_timed_out(self, transactional_id: str, turn: Turn) -> None:
        known = self.transactions.get(transactional_id)
        if known is not None and known.metadata.state is TransactionState.ONGOING:
            self.meters.timed_out += 1
            self._fence(known, turn)

    def expire_ids(self, broker_ms: int) -> Turn:
        """Tombstones of ids that had no transaction for `transactional.id.expiration.ms`.

        Of very many some are left: a turn is short.

        Kafka: TransactionStateManager.removeExpiredTransactionalIds.
        """
        turn = Turn(broker_ms, 0)
        due = broker_ms - self.settings.id_expiration_ms
        oldest = islice(self.idle.items(), _MOST_EXPIRED)
        for transactional_id in [name for name, _ in takewhile(lambda one: one[1] <= due, oldest)]:
            self.log(turn, TransactionTombstone(transactional_id))
        return turn

    def next_id_expiry(self) -> int | None:
        """`expire_ids` before this broker time finds nothing, unless something changes."""
        first = next(iter(self.idle.values()), None)
        return None if first is None else first + self.settings.id_expiration_ms

    # -- records -------------------------------------------------------------------------------------------------

    def knows(self, transactional_id: str) -> bool:
        """Whether the records that are applied leave anything of the id."""
        return transactional_id in self.transactions

    def saved(self) -> tuple[TransactionMetadata, ...]:
        """The last record of each id."""
        return tuple(known.metadata for known in self.transactions.values())

    def take_up(self, saved: Iterable[TransactionMetadata]) -> None:
        """Know what these records say; `loaded` follows."""
        for metadata in saved:
            self.apply(metadata._replace(last_producer_epoch=transitions.NO_EPOCH))

    def loaded(self, broker_ms: int, timer_ms: int) -> Turn:
        """All records are applied: the markers of transactions that were being ended are to be written (again).

        What is left of the timeouts of open ones is counted in broker time from their start.
        """
        turn = Turn(broker_ms, timer_ms)
        for known in self.transactions.values():
            self._resume(known, turn)
        self.idle = dict(sorted(self.idle.items(), key=lambda one: one[1]))
        return turn

    def _resume(self, known: Transaction, turn: Turn) -> None:
        """Go on from where the record says that it was."""
        metadata = known.metadata
        if metadata.state in PREPARED:
            turn.markers.append(self._markers(known))
        elif metadata.state is TransactionState.ONGOING:
            left = min(max(metadata.start_timestamp + metadata.timeout_ms - turn.broker_ms, 0), metadata.timeout_ms)
            self.deadlines.arm(known.deadline, turn.timer_ms + left)

    def unload(self, broker_ms: int, timer_ms: int) -> Turn:
        """Forget everything."""
        self.deadlines.clear()
        self.transactions.clear()
        self.idle.clear()
        return Turn(broker_ms, timer_ms)

    def reload(self, transactional_ids: Iterable[str], broker_ms: int, timer_ms: int) -> Turn:
        """These ids move to another coordinator, which knows of them what their records say; markers as in `loaded`."""
        turn = Turn(broker_ms, timer_ms)
        for transactional_id in transactional_ids:
            known = self.transactions.get(transactional_id)
            if known is not None:
                known.metadata = known.metadata._replace(last_producer_epoch=transitions.NO_EPOCH)
                known.partitions = dict.fromkeys(known.metadata.partitions)
                self._resume(known, turn)
        return turn


def _check_settled(transaction: Transaction) -> None:
    """KafkaError CONCURRENT_TRANSACTIONS while markers are under way."""
    if transaction.metadata.state in PREPARED:
        raise KafkaError(ErrorCode.CONCURRENT_TRANSACTIONS)


def _check_producer(transaction: Transaction, producer_id: int, producer_epoch: int) -> None:
    """KafkaError INVALID_PRODUCER_ID_MAPPING, PRODUCER_FENCED."""
    check_producer_id(transaction.metadata, producer_id)
    if transaction.metadata.producer_epoch != producer_epoch:
        raise KafkaError(ErrorCode.PRODUCER_FENCED)
