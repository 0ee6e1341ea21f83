"""The assignor `range`: of each topic a member gets partitions that are next to each other. Kafka: RangeAssignor.

Members that have the same topics get the same partitions of topics with equally many (what joins two topics by key
needs), and a static member gets the same ones again after a restart, as its instance id decides where it stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from kafkastub.coordinator.modern.assignment import Assignment, GroupSpec, MemberSubscription, TopicDescriber
from kafkastub.coordinator.modern.assignors.errors import AssignorError
from kafkastub.coordinator.modern.partition_sets import PartitionSet
from kafkastub.steps import Pace, no_pause
from kafkawire.java_order import hash_map_order, string_order, uuid_hash


class RangeAssignor:
    """An `Assignor`."""

    name: Final = "range"

    def assign(self, spec: GroupSpec, topics: TopicDescriber, pace: Pace = no_pause) -> dict[str, Assignment]:
        """The new target of each member. What a member had makes no difference.

        Raises: AssignorError for a topic that does not exist.
        """
        members = sorted(spec.members.items(), key=_place)
        if not members:
            return {}
        if spec.homogeneous:
            subscription = members[0][1].topic_ids
            parts = {topic: _Parts(topic, topics, len(members)) for topic in subscription}
            in_order = _in_map_order(subscription, len(parts), parts)
            same: dict[str, Assignment] = {}
            for member_id, _ in members:
                same[member_id] = _next(in_order, parts)
                pace(1 + len(in_order) // 4)
            return same
        subscribers: dict[bytes, int] = {}
        for _, member in members:
            for topic in member.topic_ids:
                subscribers[topic] = subscribers.get(topic, 0) + 1
            pace(1)
        parts = {topic: _Parts(topic, topics, count) for topic, count in subscribers.items()}
        target = {}
        for member_id, member in members:
            in_order = _in_map_order(member.topic_ids, len(member.topic_ids), parts)
            target[member_id] = _next(in_order, parts)
            pace(1 + len(in_order) // 4)
        return target


class _Parts:
    """What is left of one topic while its subscribers get theirs."""

    __slots__ = ("count", "hash", "larger", "next", "quota")

    def __init__(self, topic_id: bytes, topics: TopicDescriber, subscribers: int) -> None:
        self.count = topics.partition_count(topic_id)
        if self.count < 0:
            raise AssignorError("Member is subscribed to a non-existent topic")
        self.quota, self.larger = divmod(self.count, subscribers)
        self.next = 0
        self.hash = uuid_hash(topic_id)


def _next(topic_ids: list[bytes], parts: dict[bytes, _Parts]) -> Assignment:
    """The next member's."""
    assigned: dict[bytes, frozenset[int]] = {}
    for topic in topic_ids:
        part = parts[topic]
        start = part.next
        if start == part.count:
            continue
        end = start + part.quota
        if part.larger:
            end += 1
            part.larger -= 1
        part.next = end
        assigned[topic] = PartitionSet(range(start, end)) if end - start > 1 else frozenset((start,))
    return assigned


def _place(item: tuple[str, MemberSubscription]) -> tuple[bool, bytes]:
    """Static members first, by instance id; the others by member id."""
    member_id, member = item
    if member.instance_id is not None:
        return False, string_order(member.instance_id)
    return True, string_order(member_id)


def _in_map_order(topic_ids: Iterable[bytes], size: int, parts: Mapping[bytes, _Parts]) -> list[bytes]:
    """The topics in the order of the map that a member's assignment is, which is made for so many."""
    return hash_map_order([(parts[topic].hash, topic) for topic in topic_ids], int(size / 0.75 + 1))
