"""Offsets of transactions that are not decided yet: hard state, changed by records only.

One is not read, but a fetch that requires stable offsets waits for it; it blocks expiry, and its marker makes it a
committed offset, or nothing. What was committed later stands, however late the marker comes: that goes by the order of
the records, not of the markers. Kafka: OffsetMetadataManager.pendingTransactionalOffsets, openTransactions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafkastub.coordinator.records import CommittedPartition, OffsetCommit, PartitionCommit, PendingOffsets
from kafkastub.coordinator.topic_offsets import NOWHERE


class PendingOffset:
    """One of them.

    Attributes:
        record: what it came with.
        serial: that of its commit; a larger one has its records behind this one's on the log.
        superseded: an offset was committed since then: the transaction's will not be, whatever becomes of it.
        place: where on the log its record stood that is compacted now.
    """

    __slots__ = ("partition", "place", "record", "serial", "superseded")

    def __init__(self, record: PendingOffsets, partition: CommittedPartition, serial: int) -> None:
        self.record = record
        self.partition = PartitionCommit(
            partition.partition_index,
            partition.committed_offset,
            partition.committed_leader_epoch,
            partition.committed_metadata or "",
        )
        self.serial = serial
        self.superseded = False
        self.place = NOWHERE

    def copy(self) -> PendingOffset:
        """Another one that is the same."""
        copied = PendingOffset.__new__(PendingOffset)
        for name in self.__slots__:
            setattr(copied, name, getattr(self, name))
        return copied

    def as_commit(self) -> OffsetCommit:
        """The commit of this one alone."""
        return commit_of([self])


def commit_of(some: Sequence[PendingOffset]) -> OffsetCommit:
    """The commit of some that came together."""
    commit = some[0].record.commit
    return OffsetCommit(
        commit.group_id,
        commit.topic,
        [one.partition for one in some],
        commit.commit_timestamp,
        commit.expire_timestamp,
        commit.topic_id,
        commit.version,
    )


_OfPartition = dict[int, PendingOffset]
"""By producer id."""


class PendingStore:
    """All of them.

    Attributes:
        groups: by group, topic, partition and producer id; to be read only.
    """

    __slots__ = ("_producers", "_serial", "groups")

    def __init__(self) -> None:
        self.groups: dict[str, dict[str, dict[int, _OfPartition]]] = {}
        self._producers: dict[int, dict[str, dict[tuple[str, int], PendingOffset]]] = {}
        """The same by producer and group."""
        self._serial = 0

    def copy(self) -> PendingStore:
        """Others that are the same."""
        copied = PendingStore()
        copied._serial = self._serial
        same: dict[PendingOffset, PendingOffset] = {}
        for producer_id, groups in self._producers.items():
            copied._producers[producer_id] = of_producer = {}
            for group_id, mine in groups.items():
                of_producer[group_id] = {where: same.setdefault(one, one.copy()) for where, one in mine.items()}
        copied.groups = {
            group_id: {
                topic: {
                    partition: {producer_id: same[one] for producer_id, one in producers.items()}
                    for partition, producers in partitions.items()
                }
                for topic, partitions in topics.items()
            }
            for group_id, topics in self.groups.items()
        }
        return copied

    # -- reading -------------------------------------------------------------------------------------------------

    def has(self, group_id: str) -> bool:
        """Whether the group has any."""
        return group_id in self.groups

    def is_pending(self, group_id: str, topic: str, partition: int) -> bool:
        """Whether the partition has any."""
        topics = self.groups.get(group_id)
        return topics is not None and partition in topics.get(topic, ())

    def groups_of(self, producer_id: int) -> list[str]:
        """The groups in which a producer has any."""
        return list(self._producers.get(producer_id, ()))

    def each(self, group_id: str) -> Iterator[tuple[str, int, PendingOffset]]:
        """Topic, partition and offset, of all that a group has."""
        for topic, partitions in self.groups.get(group_id, {}).items():
            for partition, producers in partitions.items():
                for pending in producers.values():
                    yield topic, partition, pending

    def of(self, producer_id: int, group_id: str, topic: str, partition: int) -> PendingOffset | None:
        """A producer's for that partition."""
        return self._producers.get(producer_id, {}).get(group_id, {}).get((topic, partition))

    # -- writing: by records only --------------------------------------------------------------------------------

    def put(self, record: PendingOffsets) -> None:
        """Store the offsets of a transactional commit; a producer's older ones for the same partitions are gone."""
        commit, producer_id = record.commit, record.producer_id
        topic = commit.topic
        partitions = self.groups.setdefault(commit.group_id, {}).setdefault(topic, {})
        mine = self._producers.setdefault(producer_id, {}).setdefault(commit.group_id, {})
        self._serial += 1
        for p in commit.partitions:
            pending = PendingOffset(record, p, self._serial)
            partitions.setdefault(p.partition_index, {})[producer_id] = pending
            mine[topic, p.partition_index] = pending

    def supersede(self, commit: OffsetCommit, serial: int | None) -> None:
        """Offsets were committed: those of open transactions for the same partitions will not be any more.

        `serial`: it was a transaction's, so that only what is older is meant.
        """
        partitions = self.groups.get(commit.group_id, {}).get(commit.topic)
        if partitions is None:
            return
        for p in commit.partitions:
            for pending in partitions.get(p.partition_index, {}).values():
                if serial is None or pending.serial < serial:
                    pending.superseded = True

    def end(self, producer_id: int, group_id: str) -> list[PendingOffset]:
        """A producer's transaction is decided: take its offsets for a group."""
        of_producer = self._producers.get(producer_id, {})
        ended = of_producer.pop(group_id, {})
        if not of_producer:
            self._producers.pop(producer_id, None)
        for topic, partition in ended:
            self._forget(producer_id, group_id, topic, partition)
        return list(ended.values())

    def remove(self, group_id: str, topic: str, partition: int) -> None:
        """Forget what every producer has for a partition: its offset was deleted."""
        for producer_id in list(self.groups.get(group_id, {}).get(topic, {}).get(partition, ())):
            self._forget(producer_id, group_id, topic, partition)
            of_producer = self._producers[producer_id]
            del of_producer[group_id][topic, partition]
            if not of_producer[group_id]:
                del of_producer[group_id]
                if not of_producer:
                    del self._producers[producer_id]

    def _forget(self, producer_id: int, group_id: str, topic: str, partition: int) -> None:
        """Take one out of the tree by group."""
        topics = self.groups[group_id]
        partitions = topics[topic]
        others = partitions[partition]
        del others[producer_id]
        if not others:
            del partitions[partition]
            if not partitions:
                del topics[topic]
                if not topics:
                    del self.groups[group_id]

    # -- the log's column ----------------------------------------------------------------------------------------

    def note_log_offset(self, record: PendingOffsets, place: int) -> None:
        """The records of a commit stood on the log from that offset on, and are compacted now."""
        commit = record.commit
        mine = self._producers.get(record.producer_id, {}).get(commit.group_id, {})
        for at, p in enumerate(commit.partitions, place):
            pending = mine.get((commit.topic, p.partition_index))
            if pending is not None and _is(pending, commit, p):
                pending.place = at


def _is(pending: PendingOffset, commit: OffsetCommit, partition: CommittedPartition) -> bool:
    """Whether a pending offset is the one of that commit, as far as a reader could tell them apart."""
    return (
        pending.record.commit.commit_timestamp == commit.commit_timestamp
        and pending.partition.committed_offset == partition.committed_offset
    )
