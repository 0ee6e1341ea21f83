"""`simple` where all members subscribe to the same topics. Kafka: SimpleHomogeneousAssignmentBuilder."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from kafkastub.coordinator.modern.assignment import Assignment, GroupSpec, TopicDescriber
from kafkastub.coordinator.modern.assignors.simple_parts import (
    SharedTarget,
    Unfilled,
    desired_counts,
    desired_sharing,
    sized,
    targets_of,
)
from kafkastub.coordinator.modern.assignors.targets import results
from kafkastub.coordinator.modern.partition_sets import iteration_order, java_order
from kafkastub.steps import Pace
from kafkawire.java_order import hash_map_order, spread, uuid_hash

TopicPartition = tuple[bytes, int]
_FEW: Final = 12
"""So many a `HashSet` takes before it grows."""


def assign_homogeneous(
    spec: GroupSpec, topics: TopicDescriber, assignable: Mapping[bytes, Collection[int]], pace: Pace
) -> dict[str, Assignment]:
    """The new target of each member. Raises: AssignorError for a topic that does not exist."""
    topic_ids = next(iter(spec.members.values())).topic_ids
    wanted = [(topic, one) for topic in topic_ids for one in targets_of(topic, topics, assignable)]
    if not topic_ids:
        return {}
    pace(1 + len(wanted) // 20)
    group = _Group(spec, wanted, pace)
    group.keep(topic_ids)
    group.revoke_overfilled()
    group.revoke_overshared()
    group.assign_remaining(wanted)
    return results(dict(zip(spec.members, group.targets, strict=True)), pace)


class _Group:
    """Members by their index, in the order of the group.

    Attributes:
        targets: of each member.
        by_partition: the members that have it, in the order in which they were found to.
        by_member: the partitions that each has.
    """

    def __init__(self, spec: GroupSpec, wanted: Collection[TopicPartition], pace: Pace) -> None:
        self._pace = pace
        size = len(spec.members)
        self.targets = [SharedTarget(member.assigned) for member in spec.members.values()]
        self.by_partition: dict[TopicPartition, list[int]] = {}
        self.by_member: list[dict[TopicPartition, None]] = [{} for _ in range(size)]
        self._table = sized(len(wanted))
        self._most: dict[TopicPartition, int] = {}
        self._codes: dict[bytes, int] = {}
        self._sharing = desired_sharing(len(wanted), size)
        self._desired = desired_counts(self._sharing, len(wanted), size)
        self._unfilled: set[int] = set()
        self._overfilled: list[int] = []

    def keep(self, topic_ids: Collection[bytes]) -> None:
        """What members have of these topics stays with them for now, what they have of others does not."""
        by_partition = self.by_partition
        for index, target in enumerate(self.targets):
            kept, desired = self.by_member[index], self._desired[index]
            old = target.old
            for topic in hash_map_order((uuid_hash(topic), topic) for topic in old):
                if topic not in topic_ids:
                    target.forget(topic)
                    continue
                for partition in iteration_order(old[topic]):
                    key = topic, partition
                    kept[key] = None
                    members = by_partition.get(key)
                    if members is None:
                        by_partition[key] = [index]
                    else:
                        members.append(index)
                if len(kept) >= desired:
                    target.copy()
            if len(kept) < desired:
                self._unfilled.add(index)
            elif len(kept) > desired:
                self._overfilled.append(index)
            self._pace(1 + len(kept) // 4)

    def revoke_overfilled(self) -> None:
        """Who has too much gives up the first that it has."""
        for index in self._overfilled:
            kept = self.by_member[index]
            for topic_partition in self._in_order(kept)[: len(kept) - self._desired[index]]:
                self._take(index, topic_partition)
            self._pace(1 + len(kept) // 4)

    def revoke_overshared(self) -> None:
        """What too many have the first of them give up."""
        for topic_partition, members in self.by_partition.items():
            self._pace(1)
            more = len(members) - self._sharing
            if more <= 0:
                continue
            table = 16
            while self._most.get(topic_partition, len(members)) > table * 3 // 4:
                table *= 2
            for index in list(java_order(dict.fromkeys(members), table))[:more]:
                self._take(index, topic_partition)
                self._unfilled.add(index)

    def _take(self, index: int, topic_partition: TopicPartition) -> None:
        topic, partition = topic_partition
        self.targets[index].remove(topic, (partition,))
        members = self.by_partition[topic_partition]
        if len(members) > _FEW:
            self._most.setdefault(topic_partition, len(members))
        members.remove(index)
        del self.by_member[index][topic_partition]

    def assign_remaining(self, wanted: Collection[TopicPartition]) -> None:
        """Who has too little gets what too few have, one member after the other."""
        before = len(self.by_partition)
        for topic_partition in wanted:
            before = len(self.by_partition)
            if topic_partition not in self.by_partition:
                self.by_partition[topic_partition] = []
        unfilled = Unfilled(self._unfilled)
        if not unfilled:
            return
        for topic_partition in self._partitions_in_order(before):
            topic, partition = topic_partition
            has = self.by_partition[topic_partition]
            left = self._sharing - len(has)
            self._pace(1)
            while left > 0:
                self._pace(1)
                index = unfilled.next()
                if index is None:
                    break
                if index in has:
                    continue
                self.targets[index].add(topic, (partition,))
                given = self.by_member[index]
                given[topic_partition] = None
                left -= 1
                unfilled.gave(index, len(given) >= self._desired[index])
            if not unfilled:
                break

    def _partitions_in_order(self, before: int) -> list[TopicPartition]:
        """As a `HashMap` iterates that was filled by `computeIfAbsent`: what came last is the first in its bucket.

        Such a map grows when it is asked, before it looks: so it goes by how many it had `before` it was asked last.
        """
        table = self._table
        while before > table * 3 // 4:
            table *= 2
        mask, code_of = table - 1, self._code_of
        keys = list(self.by_partition)
        keys.reverse()
        keys.sort(key=lambda key: spread(code_of(key)) & mask)
        return keys

    def _in_order(self, kept: Collection[TopicPartition]) -> list[TopicPartition]:
        """Partitions in the order of a `HashSet` to which they were added in this order."""
        by_code = {self._code_of(one): one for one in kept}
        if len(by_code) < len(kept):
            return hash_map_order((self._code_of(one), one) for one in kept)
        return [by_code[code] for code in java_order(by_code, 16)]

    def _code_of(self, topic_partition: TopicPartition) -> int:
        """The hash code of Kafka's record TopicIdPartition, unsigned."""
        topic, partition = topic_partition
        code = self._codes.get(topic)
        if code is None:
            code = self._codes[topic] = 31 * uuid_hash(topic)
        return code + partition & 0xFFFFFFFF
