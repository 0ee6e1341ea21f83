"""The transaction coordinator in its broker: what it decides is written, and its markers are sent.

Kafka: TransactionCoordinator, TransactionStateManager, TransactionMarkerChannelManager, AddPartitionsToTxnManager.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from typing import Final

from kafkastub.coordinator import partition_for
from kafkastub.metadata import TRANSACTION_STATE
from kafkastub.metadata.features import TRANSACTION
from kafkastub.state.internal_topics.internal_topic import InternalTopic
from kafkastub.state.runtime import Runtime
from kafkastub.state.transaction_coordinator.at_once import AtOnce
from kafkastub.state.transaction_coordinator.joining import adds, called
from kafkastub.state.transaction_coordinator.markers import TopicPartition, write_marker
from kafkastub.state.transaction_coordinator.needed_state import NeededState
from kafkastub.state.transaction_coordinator.pending_markers import PendingMarkers
from kafkastub.state.transaction_coordinator.topic import transactions_topic
from kafkastub.state.turns import AT_ONCE, Turns
from kafkastub.transaction_coordinator import (
    Transaction,
    TransactionCodec,
    TransactionCoordinator,
    TransactionMetadata,
    TransactionRecord,
    TransactionSettings,
    Turn,
)
from kafkastub.transaction_coordinator.transitions import PREPARED
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError

_BY_WRITING: Final = 2
"""The transaction version of who adds partitions by writing to them. Kafka: TransactionVersion."""
_partition_for: Final = lru_cache(1000)(partition_for)
"""A hash takes microseconds, and each end of a transaction asks twice."""


class TransactionRuntime(Runtime[TransactionRecord]):
    """One broker's transactions: the runtime of their coordinator.

    Attributes:
        coordinator: of all transactional ids. Handlers come to it by `state.transactional_ids.coordinator_of`.
        topic: `__transaction_state`.
        watchers: called whenever something has changed in a transaction.
    """

    coordinator: TransactionCoordinator
    topic: InternalTopic[TransactionRecord]

    def __init__(self, state: NeededState) -> None:
        self._state = state
        self._codec = TransactionCodec()
        settings = TransactionSettings.of(state.config)
        coordinator = TransactionCoordinator(settings, self._new_producer_id, self._coordinator_epoch)
        coordinator.deadlines.mark_dirty = state.mark_dirty
        super().__init__(transactions_topic(state, self._codec, coordinator), coordinator)
        self.watchers: list[Callable[[], None]] = []
        self.turns = Turns(state.mark_dirty)
        """Work of requests about transactions."""
        self.at_once = AtOnce(state, self)
        self._markers = PendingMarkers(partial(write_marker, state), self._has_coordinator)
        self.follow_features()

    def follow_features(self) -> None:
        """`transaction.version` may have another level."""
        level = self._state.features.level(TRANSACTION)
        self.coordinator.settings.transaction_version = level
        self._codec.version = min(level, 1)

    def _new_producer_id(self) -> int:
        allocated = self._state.logs.producer_ids.allocate()
        self._state.producer_ids_changed()
        return allocated.producer_id

    # -- where a transactional id is coordinated ------------------------------------------------------------------

    def _partition(self, transactional_id: str) -> tuple[int, int]:
        """Leader and leader epoch of its partition of `__transaction_state`; -1, 0 where there is no topic."""
        topic = self._state.cluster.topic(TRANSACTION_STATE)
        if topic is None:
            return -1, 0
        one = topic.partitions[_partition_for(transactional_id, len(topic.partitions))]
        return one.leader, one.leader_epoch

    def coordinated_by(self, transactional_id: str) -> int | None:
        """The epoch of its coordinator; None where it has none that could write now."""
        if self.loading is not None:
            return None
        topic = self._state.cluster.topics.get(TRANSACTION_STATE)
        if topic is None:
            return None
        one = topic.partitions[_partition_for(transactional_id, len(topic.partitions))]
        return one.leader_epoch if one.leader >= 0 and self._state.is_writable else None

    def _coordinator_epoch(self, transactional_id: str) -> int:
        return self._partition(transactional_id)[1]

    def _has_coordinator(self, transactional_id: str) -> bool:
        return self.coordinated_by(transactional_id) is not None

    # -- what the coordinator decided ----------------------------------------------------------------------------

    def settle(self, turn: Turn, *, batch_per_id: bool = False) -> Turn:
        """Everything that the coordinator decided goes on from here.

        Its records are written to `__transaction_state`, and its markers are sent: at once, or with a data directory
        when the records are as safe there as an acknowledged one. What the markers that are written lead to (the
        transaction is complete) is settled with them. KAFKA_STORAGE_ERROR. `batch_per_id`: the turn is several things
        that happened to several transactional ids.
        """
        if turn.records:
            self.topic.write(turn, batch_per_id)
            if self.topic.watched:
                self._state.wake(TRANSACTION_STATE)
        if turn.markers:
            self._send(turn)
        for look in tuple(self.watchers):
            look()
        return turn

    def decided(
        self, known: Transaction, records: Sequence[TransactionMetadata], broker_ms: int, timer_ms: int
    ) -> None:
        """What follows for a transactional id, one behind the other; markers are the caller's.

        Not with a data directory.
        """
        topic = self.topic
        self.coordinator.go_on(known, records[-1], timer_ms)
        topic.write_each(records, broker_ms, len(records[0].partitions))  # what is complete has none
        if topic.watched:
            self._state.wake(TRANSACTION_STATE)
        if self.watchers:
            for look in tuple(self.watchers):
                look()

    def _send(self, turn: Turn) -> None:
        decided = [self._markers.add(markers) for markers in turn.markers]
        disk = self._state.disk

        def kept(failure: str | None) -> None:
            if failure is None:
                self._go(decided, turn)
                self._go_on_unserved(turn)

        if not turn.records or disk is None or not disk.wait(kept):
            self._go(decided, turn)

    def _go(self, decided: Iterable[Callable[[], object]], turn: Turn) -> None:
        """What was decided is kept: its markers may be written."""
        for safe in decided:
            safe()
        self._step(turn.broker_ms, turn.timer_ms)

    def _go_on_unserved(self, turn: Turn) -> None:
        """Write the rest of the markers: no request is being served, and nobody looks whether anything is due."""
        if self._markers.is_due:
            disk = self._state.disk
            assert disk is not None
            self._step(turn.broker_ms, turn.timer_ms)
            disk.runner.soon(partial(self._go_on_unserved, turn))

    def _step(self, broker_ms: int, timer_ms: int) -> None:
        """Write a part of the markers that can be written; the rest has its turn in time."""
        with suppress(KafkaError):  # a disk that takes no more: everything is then what the files say
            for markers, done in self._markers.step(broker_ms):
                self.settle(
                    self.coordinator.markers_written(
                        markers.transactional_id,
                        markers.producer_id,
                        markers.producer_epoch,
                        done,
                        Turn(broker_ms, timer_ms),
                    )
                )
        if self._markers.is_due:
            self._state.mark_dirty()

    # -- markers under way ---------------------------------------------------------------------------------------

    def going(self) -> set[object]:
        """Transactions whose markers wait for nothing but the disk, or their turn: an object for each."""
        return self._markers.going()

    def go_on(self, broker_ms: int, timer_ms: int) -> None:
        """Give some of the markers their turn that can be written now."""
        self._step(broker_ms, timer_ms)

    def hold_markers(self, transactional_id: str) -> None:
        """From now on its transactions stay in PrepareCommit or PrepareAbort, until `release_markers`."""
        self._markers.held.add(transactional_id)

    def release_markers(self, transactional_id: str, broker_ms: int, timer_ms: int) -> None:
        """Send what was held, and hold no more of it. Nothing happens where nothing is held."""
        self._markers.held.discard(transactional_id)
        self._markers.send(transactional_id)
        self._step(broker_ms, timer_ms)

    @property
    def held(self) -> frozenset[str]:
        """The transactional ids whose markers are held."""
        return frozenset(self._markers.held)

    def is_held(self, transactional_id: str) -> bool:
        """Whether its markers are held."""
        return transactional_id in self._markers.held

    def is_ending(self, transactional_id: str) -> bool:
        """Whether its transaction's end is decided, and markers are missing."""
        found = self.coordinator.metadata(transactional_id)
        return found is not None and found.state in PREPARED

    def under_way_of(self, transactional_id: str) -> list[TopicPartition]:
        """The partitions that its marker has yet to be written to."""
        return self._markers.left_of(transactional_id)

    @property
    def under_way(self) -> dict[str, list[TopicPartition]]:
        """By transactional id: the partitions that a marker has yet to be written to."""
        return self._markers.left()

    # -- joining -------------------------------------------------------------------------------------------------

    def join(
        self,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        partitions: Iterable[TopicPartition],
        *,
        api_key: ApiKey,
        api_version: int,
        broker_ms: int,
        timer_ms: int,
    ) -> dict[TopicPartition, ErrorCode]:
        """Ask whether a producer may write to partitions in which it has no open transaction.

        Kafka: ReplicaManager.maybeSendPartitionsToTransactionCoordinator, AddPartitionsToTxnManager. Produce from
        version 12 and TxnOffsetCommit from version 5 on add the partitions to the transaction (KIP-890); below, it is
        verified that they were added, unless `transaction.partition.verification.enable` is off. Kafka's leader asks
        again for a tenth of a second while markers are under way; here the client does.

        Args:
            partitions: (topic, partition); those of `__consumer_offsets` too.
            api_key: PRODUCE or TXN_OFFSET_COMMIT.
            api_version: of that request: it decides what is asked, and how an error is called.

        Returns:
            NONE, or what speaks against it, for each of the partitions: what TxnOffsetCommit answers; Produce calls
            errors of the coordinator's absence its own way (`transactional_appends`).
        """
        wanted = dict.fromkeys(partitions, ErrorCode.NONE)
        by_writing = adds(api_key, api_version)
        if not by_writing and not self._state.config["transaction.partition.verification.enable"]:
            return wanted
        try:
            self._check_available(transactional_id)
            if by_writing:
                turn = Turn(broker_ms, timer_ms)
                self.settle(
                    self.coordinator.add_partitions(
                        transactional_id, producer_id, producer_epoch, wanted, _BY_WRITING, turn
                    )
                )
                return wanted
            found = self.coordinator.verify_partitions(transactional_id, producer_id, producer_epoch, wanted)
        except KafkaError as error:
            return dict.fromkeys(wanted, called(error.code, api_key, api_version))
        return {one: called(code, api_key, api_version) for one, code in found.items()}

    def _check_available(self, transactional_id: str) -> None:
        """Whoever asks, it is asked at the node that leads, if there is one. KafkaError."""
        if self._partition(transactional_id)[0] < 0:
            raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        if self.loading is not None:
            raise KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)

    # -- the runtime ---------------------------------------------------------------------------------------------

    def loaded(self) -> None:
        """No producer id of those that are in the records is handed out again, whatever was written down of them."""
        known = (one.metadata for one in self.coordinator.transactions.values())
        highest = max((max(one.producer_id, one.next_producer_id) for one in known), default=-1)
        self._state.logs.producer_ids.skip_to(highest + 1)

    def unloaded(self) -> None:
        self._markers.clear()

    def leaders_changed(self, partitions: Collection[int], count: int, broker_ms: int, timer_ms: int) -> None:
        """Their new coordinator knows what the log says, and sends under its own epoch what was under way."""
        moved = [one for one in self.coordinator.transactions if partition_for(one, count) in partitions]
        self.settle(self.coordinator.reload(moved, broker_ms, timer_ms), batch_per_id=True)

    def retry_waiting(self, broker_ms: int, timer_ms: int) -> None:
        if self._markers:
            self._markers.send_all()
            self._step(broker_ms, timer_ms)

    def topics_deleted(self, names: Iterable[str], broker_ms: int, timer_ms: int) -> None:
        """Who waits for a leader of one of their partitions waits no more."""
        self.retry_waiting(broker_ms, timer_ms)

    def read_only(self) -> None:
        self.coordinator.deadlines.clear()

    # -- time ----------------------------------------------------------------------------------------------------

    def next_deadline(self) -> int | None:
        """Timer time (ms) at which a transaction times out, or work has its turn; None where there is neither."""
        return AT_ONCE if self._markers.is_due or self.turns else self.coordinator.next_deadline()

    def expire(self, broker_ms: int, timer_ms: int) -> None:
        """Do what is due at `timer_ms`."""
        self.turns.expire()
        with suppress(KafkaError):  # a disk that takes no more: nothing has happened
            self.settle(self.coordinator.expire(broker_ms, timer_ms), batch_per_id=True)
        self._step(broker_ms, timer_ms)

    def expire_ids(self, broker_ms: int) -> bool:
        """Forget transactional ids that nobody has used for long (`transactional.id.expiration.ms`, broker time).

        A part of them, if they are many: whether there may be more.
        """
        with suppress(KafkaError):  # a disk that takes no more: nothing has happened
            return bool(self.settle(self.coordinator.expire_ids(broker_ms)).records)
        return False
