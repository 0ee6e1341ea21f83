"""`simple` where members subscribe to different topics: topic by topic. Kafka: SimpleHeterogeneousAssignmentBuilder.

What a member has of a topic that nobody subscribes to any more stays in its target; it is not told of it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from kafkastub.coordinator.modern.assignment import Assignment, GroupSpec, TopicDescriber
from kafkastub.coordinator.modern.assignors.simple_parts import (
    Computed,
    Members,
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
from kafkawire.java_order import hash_map_order, uuid_hash


def assign_heterogeneous(
    spec: GroupSpec, topics: TopicDescriber, assignable: Mapping[bytes, Collection[int]], pace: Pace
) -> dict[str, Assignment]:
    """The new target of each member. Raises: AssignorError for a topic that does not exist."""
    subscribers: dict[bytes, list[int]] = {}
    for index, member in enumerate(spec.members.values()):
        for topic in member.topic_ids:
            subscribers.setdefault(topic, []).append(index)
        pace(1)
    in_order = hash_map_order((uuid_hash(topic), topic) for topic in subscribers)
    wanted = {topic: targets_of(topic, topics, assignable) for topic in in_order}
    if not wanted:
        return {}
    targets = [SharedTarget(member.assigned) for member in spec.members.values()]
    for topic in in_order:
        of_topic = _Topic(topic, targets, wanted[topic], subscribers[topic], pace)
        of_topic.keep()
        of_topic.revoke_overfilled()
        of_topic.revoke_overshared()
        of_topic.assign_remaining(wanted[topic])
    return results(dict(zip(spec.members, targets, strict=True)), pace)


class _Topic:
    """One topic; members by their index, in the order of the group."""

    def __init__(
        self,
        topic_id: bytes,
        targets: Sequence[SharedTarget],
        wanted: Sequence[int],
        subscribers: Sequence[int],
        pace: Pace,
    ) -> None:
        self._pace = pace
        self._topic_id = topic_id
        self._targets = targets
        self._subscribers = subscribers
        self._sharing = desired_sharing(len(wanted), len(subscribers))
        counts = desired_counts(self._sharing, len(wanted), len(subscribers))
        self._desired = dict(zip(subscribers, counts, strict=True))
        self._by_partition: Computed[int, Members] = Computed(sized(len(wanted)), lambda partition: partition)
        self._by_member: dict[int, dict[int, None]] = {}

    def keep(self) -> None:
        """What members have of the topic stays with them for now, whether they subscribe to it or not."""
        for index, target in enumerate(self._targets):
            had = target.old.get(self._topic_id)
            for partition in () if had is None else iteration_order(had):
                self._by_partition.get(partition, Members).add(index)
                self._by_member.setdefault(index, {})[partition] = None
            self._pace(1)

    def revoke_overfilled(self) -> None:
        """Who has too much gives up the first that it has."""
        for index, kept in self._by_member.items():
            more = len(kept) - self._desired.get(index, 0)
            for partition in list(java_order(kept, 16))[:more] if more > 0 else ():
                self._targets[index].remove(self._topic_id, [partition])
                self._by_partition.entries[partition].remove(index)
                del kept[partition]
            self._pace(1)

    def revoke_overshared(self) -> None:
        """What too many have the first of them give up."""
        for partition, members in self._by_partition.entries.items():
            more = len(members.present) - self._sharing
            for index in list(members.in_order())[:more] if more > 0 else ():
                self._targets[index].remove(self._topic_id, [partition])
                members.remove(index)
                self._by_member[index].pop(partition, None)
            self._pace(1)

    def assign_remaining(self, wanted: Sequence[int]) -> None:
        """Who has too little gets what too few have, one member after the other."""
        table = sized(len(self._subscribers))
        for partition in wanted:
            self._by_partition.get(partition, lambda: Members(table))
        unfilled = Unfilled(
            [one for one in self._subscribers if len(self._by_member.get(one, ())) < self._desired[one]]
        )
        for partition in self._by_partition.in_order():
            has = self._by_partition.entries[partition].present
            left = self._sharing - len(has)
            self._pace(1)
            while left > 0:
                self._pace(1)
                index = unfilled.next()
                if index is None:
                    break
                if index in has:
                    continue
                self._targets[index].add(self._topic_id, [partition])
                given = self._by_member.setdefault(index, {})
                given[partition] = None
                left -= 1
                unfilled.gave(index, len(given) >= self._desired[index])
            if not unfilled:
                break
