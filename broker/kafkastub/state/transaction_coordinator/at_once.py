"""Transactions that go on, or end, with nothing in their way: in one go.

`TransactionRuntime` takes what comes: transactions of a million partitions, markers that are held, or wait for the disk
or a leader, producers that are fenced. Most transactions have a few partitions that are all there. For these the same
is done here without anything being passed about; where one thing is out of the ordinary, nothing has happened.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from kafkastub.state.transaction_coordinator.markers import TopicPartition
from kafkastub.state.transaction_coordinator.needed_state import NeededState
from kafkastub.storage import Marker
from kafkastub.transaction_coordinator import (
    Transaction,
    TransactionCoordinator,
    TransactionMetadata,
    TransactionState,
    transitions,
)

_FEW: Final = 10
"""Partitions of a transaction that is ended in one go."""


class Decisions(Protocol):
    """What becomes of transactions (`TransactionRuntime`)."""

    coordinator: TransactionCoordinator

    def coordinated_by(self, transactional_id: str) -> int | None: ...
    def is_held(self, transactional_id: str) -> bool: ...
    def decided(
        self, known: Transaction, records: Sequence[TransactionMetadata], broker_ms: int, timer_ms: int
    ) -> None: ...


class AtOnce:
    """The short ways through one broker's transactions, in memory."""

    def __init__(self, state: NeededState, transactions: Decisions) -> None:
        self._state = state
        self._transactions = transactions
        self._coordinator = transactions.coordinator

    def may_write(self, transactional_id: str, producer_id: int, epoch: int, partition: TopicPartition) -> bool:
        """Whether the partition is in the producer's open transaction (`TransactionCoordinator.verify_partitions`)."""
        known = self._coordinator.transactions.get(transactional_id)
        if known is None or partition not in known.partitions:
            return False
        metadata = known.metadata
        return (
            metadata.state is TransactionState.ONGOING
            and metadata.producer_epoch == epoch
            and metadata.producer_id == producer_id
            and self._transactions.coordinated_by(transactional_id) is not None
        )

    def add(
        self,
        transactional_id: str,
        producer_id: int,
        epoch: int,
        partitions: tuple[TopicPartition, ...],
        transaction_version: int,
        broker_ms: int,
        timer_ms: int,
    ) -> bool:
        """Add partitions, which are there, each named once (`TransactionCoordinator.add_partitions`)."""
        known = self._coordinator.transactions.get(transactional_id)
        if known is None:
            return False
        before = known.metadata
        state = before.state
        if before.producer_epoch != epoch or before.producer_id != producer_id or state in transitions.PREPARED:
            return False
        if self._state.disk is not None or self._transactions.coordinated_by(transactional_id) is None:
            return False
        if state is TransactionState.ONGOING:
            return known.partitions.keys() >= set(partitions)  # more of them are for the careful way
        record = transitions.with_partitions(before, partitions, transaction_version, broker_ms)
        self._transactions.decided(known, (record,), broker_ms, timer_ms)
        return True

    def end(
        self,
        transactional_id: str,
        producer_id: int,
        epoch: int,
        commit: bool,
        transaction_version: int,
        broker_ms: int,
        timer_ms: int,
    ) -> tuple[int, int] | None:
        """End a transaction: both its records, and its markers (`TransactionCoordinator.end`).

        Producer id and epoch to go on with.
        """
        transactions, state = self._transactions, self._state
        known = self._coordinator.transactions.get(transactional_id)
        if known is None or len(known.partitions) > _FEW or state.disk is not None:
            return None
        before = known.metadata
        if before.state is not TransactionState.ONGOING:
            return None
        coordinator_epoch = transactions.coordinated_by(transactional_id)
        if coordinator_epoch is None or before.producer_epoch != epoch or before.producer_id != producer_id:
            return None
        if transactions.is_held(transactional_id):
            return None
        raised = epoch
        if transaction_version >= transitions.EPOCH_BUMPED_BY_END:
            if transitions.is_exhausted(epoch):
                return None
            raised += 1
        marker = tuple.__new__(Marker, (producer_id, raised, commit, coordinator_epoch, transaction_version))
        places = []
        for name, index in known.partitions:
            topic = state.cluster.topic(name)
            if topic is None or topic.internal or index >= len(topic.partitions):
                return None
            partition, topic_id = topic.partitions[index], topic.topic_id
            log = state.logs.log(topic_id, index)
            if log is None or partition.leader < 0 or not log.producer_states.takes(marker):
                return None
            places.append((log, partition.leader_epoch, topic_id, index))
        for log, leader_epoch, _, _ in places:
            log.append_taken(marker, leader_epoch, broker_ms)
        prepared = transitions.prepared(before, commit, transaction_version, transitions.NO_PRODUCER_ID, broker_ms)
        transactions.decided(known, (prepared, transitions.completed(prepared, broker_ms)), broker_ms, timer_ms)
        if state.fetch_purgatory.waiting:
            for _, _, topic_id, index in places:
                state.fetch_purgatory.appended(topic_id, index)
        return producer_id, raised
