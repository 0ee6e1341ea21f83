"""Who has a partition of a group's topics, told by the epoch of the member that has it."""

from __future__ import annotations

from collections.abc import Mapping

from kafkastub.coordinator.consumer.member import ConsumerMember
from kafkastub.coordinator.consumer.records import EpochsOfPartitions


class Owners:
    """The partitions that members have, or have not let go of yet. Kafka: ConsumerGroup.currentPartitionEpoch."""

    __slots__ = ("_epochs",)

    def __init__(self) -> None:
        self._epochs: dict[bytes, dict[int, int]] = {}

    def epoch(self, topic_id: bytes, partition: int) -> int | None:
        """The epoch of the member that has the partition; None where nobody has it."""
        of_topic = self._epochs.get(topic_id)
        return None if of_topic is None else of_topic.get(partition)

    def of_topic(self, topic_id: bytes) -> Mapping[int, int]:
        """The owned partitions of a topic, with their owners' epochs; to be read only."""
        return self._epochs.get(topic_id, {})

    def replace(self, old: ConsumerMember | None, new: ConsumerMember | None) -> None:
        """A member has changed, come (no `old`) or gone (no `new`)."""
        if old is not None:
            if new is not None and _same(old, new):
                return
            self._remove(old.assigned, old.member_epoch)
            self._remove(old.pending_revocation, old.member_epoch)
        if new is not None:
            self._add(new.assigned, new.member_epoch)
            self._add(new.pending_revocation, new.member_epoch)

    def _remove(self, partitions: EpochsOfPartitions, epoch: int) -> None:
        for topic_id, of_topic in partitions.items():
            epochs = self._epochs.get(topic_id)
            if epochs is None:
                continue
            for partition in of_topic:
                if epochs.get(partition) == epoch:  # else it is somebody else's by now
                    del epochs[partition]
            if not epochs:
                del self._epochs[topic_id]

    def _add(self, partitions: EpochsOfPartitions, epoch: int) -> None:
        """A log that says of two members that they have a partition gives it to the one of the higher epoch."""
        for topic_id, of_topic in partitions.items():
            epochs = self._epochs.setdefault(topic_id, {})
            for partition in of_topic:
                known = epochs.get(partition)
                if known is None or known < epoch:
                    epochs[partition] = epoch


def _same(old: ConsumerMember, new: ConsumerMember) -> bool:
    """Whether the member has what it had, in the same epoch."""
    same = old.assigned is new.assigned and old.pending_revocation is new.pending_revocation
    return same and old.member_epoch == new.member_epoch
