"""The way of share partitions, and of the group coordinator, to the share coordinator: in the same process a call.

Kafka: DefaultStatePersister, PersisterStateManager, which ask the share coordinator's node by the APIs 83 to 87.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from kafkastub.share_coordinator.coordinator import Turn
from kafkastub.share_coordinator.records import SharePartitionKey
from kafkastub.share_coordinator.state_batches import (
    UNINITIALIZED_START_OFFSET,
    UNKNOWN_DELIVERY_COMPLETE_COUNT,
    ReadState,
    StateBatch,
)
from kafkastub.state.share_coordinator.runtime import ShareRuntime


class Summary(NamedTuple):
    """Where a share partition is, without what is in flight.

    Attributes:
        state_epoch: how often it was initialised.
        leader_epoch: of the leader that has read it last.
        start_offset: -1 where it was never set, or nothing is known of the partition.
        delivery_complete_count: so many records behind it are done with; -1: unknown.
    """

    state_epoch: int
    leader_epoch: int
    start_offset: int
    delivery_complete_count: int


NOTHING: Final = Summary(0, 0, UNINITIALIZED_START_OFFSET, UNKNOWN_DELIVERY_COMPLETE_COUNT)
"""Of what is not known."""


class Persister:
    """What is kept of share partitions.

    Every method raises KafkaError: COORDINATOR_NOT_AVAILABLE where there is no `__share_group_state`
    (`state.share_group_persister_calls` makes it), or the share partition's part of it has no leader;
    COORDINATOR_LOAD_IN_PROGRESS while it is loading; KAFKA_STORAGE_ERROR where the disk takes no more;
    UNKNOWN_TOPIC_OR_PARTITION where there is no such partition. Then nothing has happened.
    """

    def __init__(self, shares: ShareRuntime) -> None:
        self._shares = shares

    def _key(self, group_id: str, topic_id: bytes, partition: int, *, reads_only: bool = False) -> SharePartitionKey:
        """Whom it is about; the share coordinator can be asked."""
        key = SharePartitionKey(group_id, topic_id, partition)
        self._shares.check_coordinated(key, reads_only)
        return key

    def initialize(
        self, group_id: str, topic_id: bytes, partition: int, state_epoch: int, start_offset: int, broker_ms: int
    ) -> None:
        """Make a share partition known, or let it begin anew. FENCED_STATE_EPOCH.

        Args:
            start_offset: -1 where `share.auto.offset.reset` is to say where it begins.
            broker_ms: now.
        """
        key, turn = self._key(group_id, topic_id, partition), Turn(broker_ms)
        self._shares.coordinator.initialize(key, state_epoch, start_offset, turn)
        self._shares.settle(turn)

    def read(self, group_id: str, topic_id: bytes, partition: int, leader_epoch: int, broker_ms: int) -> ReadState:
        """What is known of it, for the leader of the partition, whose epoch is written down.

        INVALID_REQUEST where it is not known, FENCED_LEADER_EPOCH.
        """
        key, turn = self._key(group_id, topic_id, partition), Turn(broker_ms)
        found = self._shares.coordinator.read(key, leader_epoch, turn)
        self._shares.settle(turn)
        return found

    def summary(self, group_id: str, topic_id: bytes, partition: int) -> Summary:
        """Where it is; what is not known has the start offset -1."""
        known = self._shares.coordinator.summary(self._key(group_id, topic_id, partition, reads_only=True))
        if known is None:
            return NOTHING
        return Summary(known.state_epoch, known.leader_epoch, known.start_offset, known.delivery_complete_count)

    def write(
        self,
        key: SharePartitionKey,
        state_epoch: int,
        leader_epoch: int,
        start_offset: int,
        delivery_complete_count: int,
        batches: Sequence[StateBatch],
        broker_ms: int,
    ) -> None:
        """Keep what has become of records.

        INVALID_REQUEST where the share partition is not known, FENCED_LEADER_EPOCH, FENCED_STATE_EPOCH.
        """
        shares, turn = self._shares, Turn(broker_ms)
        shares.check_coordinated(key)
        shares.coordinator.write(key, state_epoch, leader_epoch, start_offset, delivery_complete_count, batches, turn)
        shares.settle(turn)

    def delete(self, group_id: str, topic_id: bytes, partition: int, broker_ms: int) -> None:
        """Forget a share partition; nothing happens where it is not known."""
        key, turn = self._key(group_id, topic_id, partition), Turn(broker_ms)
        self._shares.coordinator.delete(key, turn)
        self._shares.settle(turn)
