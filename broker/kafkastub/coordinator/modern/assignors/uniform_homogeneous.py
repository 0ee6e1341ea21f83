"""`uniform` where all members subscribe to the same topics. Kafka: UniformHomogeneousAssignmentBuilder.

Every member has a quota: partitions divided by members, and one more for as many members as the remainder says. Who has
more than that gives the rest back, the others are filled up with what is free, in the order of the members.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kafkastub.coordinator.modern.assignment import Assignment, GroupSpec, MemberSubscription, TopicDescriber
from kafkastub.coordinator.modern.assignors.errors import AssignorError
from kafkastub.coordinator.modern.assignors.targets import Target, results
from kafkastub.coordinator.modern.partition_sets import iteration_order, java_order, table_for
from kafkastub.steps import Pace
from kafkawire.java_order import copied, hash_map_order, uuid_hash


def assign_homogeneous(spec: GroupSpec, topics: TopicDescriber, pace: Pace) -> dict[str, Assignment]:
    """The new target of each member.

    Raises: AssignorError for a topic that does not exist, or an old target in which members share a partition.
    """
    subscription = next(iter(spec.members.values())).topic_ids
    topic_ids = hash_map_order(((uuid_hash(topic), topic) for topic in subscription), copied(len(subscription)))
    if not topic_ids:
        return {}
    counts = {topic: topics.partition_count(topic) for topic in topic_ids}
    if min(counts.values()) < 0:
        raise AssignorError("Members are subscribed to a topic which doesn't exist in the topic metadata.")
    free = _Free(counts, spec.members.values(), pace)
    targets = {}
    unfilled = []
    quota, larger = divmod(sum(counts.values()), len(spec.members))
    left = len(spec.members)
    for member_id, member in spec.members.items():
        target = targets[member_id] = Target(member.assigned)
        room = _keep(target, counts, quota + 1 if larger else quota, free)
        if larger:
            # as many of the larger quotas as there are members left are for those who have so many already
            if room and left > larger:
                room -= 1
            else:
                larger -= 1
        left -= 1
        if room:
            unfilled.append((target, room))
        pace(1)
    for target, room in unfilled:
        free.fill(target, room)
        pace(1)
    if free.left:
        raise AssignorError("Partitions were left unassigned")
    return results(targets, pace)


def _keep(target: Target, counts: Mapping[bytes, int], quota: int, free: _Free) -> int:
    """Take from a member what it may not keep. How many more it may have."""
    old = target.old
    has = sum(map(len, old.values()))
    if has <= quota and old.keys() <= counts.keys():
        return quota - has
    for topic in hash_map_order((uuid_hash(topic), topic) for topic in old):
        partitions = old[topic]
        if topic not in counts:
            target.forget(topic)
        elif len(partitions) <= quota:
            quota -= len(partitions)
        else:
            given_back = list(java_order(iteration_order(partitions), table_for(len(partitions))))[quota:]
            target.remove(topic, given_back)
            free.add(topic, given_back)
            quota = 0
    return quota


class _Free:
    """What nobody has, in the order in which it is given away: by topic, then what members have given back.

    Attributes:
        left: so many partitions.
    """

    def __init__(self, counts: Mapping[bytes, int], members: Iterable[MemberSubscription], pace: Pace) -> None:
        taken: dict[bytes, set[int]] = {topic: set() for topic in counts}
        for member in members:
            for topic, partitions in member.assigned.items():
                if topic in taken:
                    taken[topic].update(partitions)
            pace(1)
        self.left = 0
        self._runs: list[tuple[bytes, Sequence[int]]] = []
        self._run = self._at = 0
        for topic, count in counts.items():
            of_topic = taken[topic]
            self.add(topic, [p for p in range(count) if p not in of_topic] if of_topic else range(count))
            pace(1 + len(of_topic) // 100)

    def add(self, topic_id: bytes, partitions: Sequence[int]) -> None:
        """These as well, after all others."""
        if partitions:
            self._runs.append((topic_id, partitions))
            self.left += len(partitions)

    def fill(self, target: Target, room: int) -> None:
        """Give away so many, or what is left."""
        while room and self.left:
            topic, partitions = self._runs[self._run]
            given = partitions[self._at : self._at + room]
            target.add(topic, given)
            room -= len(given)
            self.left -= len(given)
            self._at += len(given)
            if self._at == len(partitions):
                self._run += 1
                self._at = 0
