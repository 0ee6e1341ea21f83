"""The committed offsets of all groups: hard state, changed by records only (`OffsetStore.apply_commit`, …)."""

from __future__ import annotations

from kafkastub.coordinator.pending_offsets import PendingOffset, PendingStore, commit_of
from kafkastub.coordinator.records import (
    CommittedOffset,
    OffsetCommit,
    OffsetTombstone,
    PendingOffsets,
    TransactionMarker,
)
from kafkastub.coordinator.topic_offsets import NOWHERE, TopicOffsets


class OffsetStore:
    """The committed offsets of every group, by group and topic. Topics and groups without offsets are not in here.

    Attributes:
        count: how many offsets there are in all.
        pending: offsets of transactions that are not decided yet.
    """

    __slots__ = ("_groups", "count", "pending")

    def __init__(self) -> None:
        self._groups: dict[str, dict[str, TopicOffsets]] = {}
        self.pending = PendingStore()
        self.count = 0

    def copy(self) -> OffsetStore:
        """Others that are the same. Costs what there is of groups and their topics, and little more for an offset."""
        copied = OffsetStore()
        copied._groups = {
            group_id: {topic: columns.copy() for topic, columns in topics.items()}
            for group_id, topics in self._groups.items()
        }
        copied.pending = self.pending.copy()
        copied.count = self.count
        return copied

    def apply_commit(self, commit: OffsetCommit, serial: int | None = None) -> None:
        """Apply the record of a commit. `serial`: it was pending (`PendingOffset`)."""
        topics = self._groups.get(commit.group_id)
        if topics is None:
            topics = self._groups[commit.group_id] = {}
        columns = topics.get(commit.topic)
        if columns is None:
            columns = topics[commit.topic] = TopicOffsets()
        before = columns.count
        columns.put(commit)
        self.count += columns.count - before
        if self.pending.groups:
            self.pending.supersede(commit, serial)

    def apply_pending(self, record: PendingOffsets) -> None:
        """Apply the record of a commit within a transaction."""
        self.pending.put(record)

    def apply_marker(self, marker: TransactionMarker) -> None:
        """Apply the end of a transaction in one partition (OffsetMetadataManager.replayEndTransactionMarker)."""
        for group_id in marker.group_ids:
            ended = self.pending.end(marker.producer_id, group_id)
            if not marker.commit:
                continue
            for some in _by_commit(ended):
                self.apply_commit(commit_of(some), some[0].serial)
                for one in some:
                    if one.place != NOWHERE:
                        self._groups[group_id][one.record.commit.topic].note_log_offset(one.as_commit(), one.place)

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
        if self.pending.groups:
            self.pending.remove(tombstone.group_id, tombstone.topic, tombstone.partition)

    def drop(self, topic: str) -> dict[str, TopicOffsets]:
        """Forget all committed offsets of a topic, as tombstones would; gives what there was, by group.

        A group that is left without offsets stays until `forget_empty`: there may be a hundred thousand.
        """
        gone = {group_id: of_group.pop(topic) for group_id, of_group in self._groups.items() if topic in of_group}
        self.count -= sum(columns.count for columns in gone.values())
        return gone

    def forget_empty(self, group_id: str) -> None:
        """The group is not in here any more if nothing is left of its offsets."""
        if not self._groups.get(group_id, True):
            del self._groups[group_id]

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
        return self.pending.is_pending(group_id, topic, partition)

    def has_pending(self, group_id: str) -> bool:
        """Whether a transaction that is not decided yet has any offset for this group."""
        return self.pending.has(group_id)


def _by_commit(ended: list[PendingOffset]) -> list[list[PendingOffset]]:
    """Those that nothing supersedes, by what they were committed with, in the order of the log."""
    together: dict[int, list[PendingOffset]] = {}
    for one in ended:
        if not one.superseded:
            together.setdefault(one.serial, []).append(one)
    return [together[serial] for serial in sorted(together)]
