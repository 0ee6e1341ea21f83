"""The committed offsets of all groups: hard state, changed by records only (`OffsetStore.apply_commit`, …)."""

from __future__ import annotations

from kafkastub.coordinator.records import CommittedOffset, OffsetCommit, OffsetTombstone
from kafkastub.coordinator.topic_offsets import TopicOffsets


class OffsetStore:
    """The committed offsets of every group, by group and topic. Topics and groups without offsets are not in here.

    Attributes:
        count: how many offsets there are in all.
        pending: partitions with an offset of a transaction that is not decided yet, by group and topic; such an
            offset is not visible to a fetch that requires stable ones, and blocks expiry and deletion.
    """

    __slots__ = ("_groups", "count", "pending")

    def __init__(self) -> None:
        self._groups: dict[str, dict[str, TopicOffsets]] = {}
        self.pending: dict[str, dict[str, set[int]]] = {}
        self.count = 0

    def apply_commit(self, commit: OffsetCommit) -> None:
        """Apply the record of a commit."""
        topics = self._groups.get(commit.group_id)
        if topics is None:
            topics = self._groups[commit.group_id] = {}
        columns = topics.get(commit.topic)
        if columns is None:
            columns = topics[commit.topic] = TopicOffsets()
        before = columns.count
        columns.put(commit)
        self.count += columns.count - before

    def apply_tombstone(self, tombstone: OffsetTombstone) -> None:
        """Apply the record of an offset that is gone; a pending one of the same partition goes with it."""
        topics = self._groups.get(tombstone.group_id)
        columns = topics.get(tombstone.topic) if topics is not None else None
        if topics is not None and columns is not None and columns.remove(tombstone.partition):
            self.count -= 1
            if not columns.count:
                del topics[tombstone.topic]
                if not topics:
                    del self._groups[tombstone.group_id]
        pending = self.pending.get(tombstone.group_id)
        if pending is not None:
            pending.get(tombstone.topic, set()).discard(tombstone.partition)

    def topics(self, group_id: str) -> dict[str, TopicOffsets]:
        """A group's offsets by topic; empty where it has none. Not to be changed."""
        return self._groups.get(group_id, {})

    def topic(self, group_id: str, topic: str) -> TopicOffsets | None:
        """A group's offsets of one topic."""
        topics = self._groups.get(group_id)
        return None if topics is None else topics.get(topic)

    def get(self, group_id: str, topic: str, partition: int) -> CommittedOffset | None:
        """One committed offset."""
        columns = self.topic(group_id, topic)
        return None if columns is None else columns.get(partition)

    def group_ids(self) -> list[str]:
        """The groups with at least one offset."""
        return list(self._groups)

    def is_pending(self, group_id: str, topic: str, partition: int) -> bool:
        """Whether a transaction that is not decided yet has an offset for this partition."""
        pending = self.pending.get(group_id)
        return pending is not None and partition in pending.get(topic, ())

    def has_pending(self, group_id: str) -> bool:
        """Whether a transaction that is not decided yet has any offset for this group."""
        return any(self.pending.get(group_id, {}).values())
