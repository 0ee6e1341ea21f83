"""The target assignment of a group: when there is a new one, and what it is. Kafka: TargetAssignmentBuilder."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set
from dataclasses import dataclass

from kafkastub.coordinator.cluster import ClusterImage
from kafkastub.coordinator.consumer.group import ConsumerGroup
from kafkastub.coordinator.consumer.member import ConsumerMember
from kafkastub.coordinator.consumer.records import (
    ConsumerGroupRegularExpression,
    ConsumerGroupTargetAssignmentMember,
    ConsumerGroupTargetAssignmentMetadata,
)
from kafkastub.coordinator.modern.assignment import NO_ASSIGNMENT, Assignment, Assignor, GroupSpec, MemberSubscription
from kafkastub.coordinator.modern.subscribed import Describer
from kafkastub.coordinator.records import Record
from kafkawire.java_order import copied, string_map_order


class TopicIds:
    """What members subscribe to, as ids of the topics that exist, in the order in which Kafka goes through them."""

    __slots__ = ("_image", "_known", "_resolved")

    def __init__(self, image: ClusterImage, resolved: Mapping[str, ConsumerGroupRegularExpression]) -> None:
        self._image = image
        self._resolved = resolved
        self._known: dict[tuple[frozenset[str], str], Set[bytes]] = {}

    def subscribes(self, member: ConsumerMember) -> bool:
        """Whether it subscribes to anything, be it to topics that do not exist."""
        matched = self._resolved.get(member.subscribed_topic_regex or "")
        return bool(member.subscribed_topic_names) or (matched is not None and bool(matched.topics))

    def of(self, member: ConsumerMember) -> Set[bytes]:
        """The topics by id."""
        key = member.subscribed_topic_names, member.subscribed_topic_regex or ""
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = dict.fromkeys(self._in_order(member)).keys()
        return known

    def _in_order(self, member: ConsumerMember) -> list[bytes]:
        matched = self._resolved.get(member.subscribed_topic_regex or "")
        names, topics = member.subscribed_topic_names, () if matched is None else matched.topics
        parts = [self._of_set(names)]
        if topics:
            parts.insert(1 if len(names) > len(topics) else 0, self._of_set(topics))
        return [topic_id for part in parts for topic_id in part]

    def _of_set(self, names: Collection[str]) -> list[bytes]:
        """Ids in the order of a set of all these names; only those of topics that exist are looked at for long."""
        found = {name: topic_id for name in names if (topic_id := self._image.topic_id(name)) is not None}
        order = sorted(found) if isinstance(names, frozenset) else found
        return [found[name] for name in string_map_order(order, copied(len(names)))]


@dataclass(frozen=True, slots=True)
class Computation:
    """What a new target is computed of.

    Attributes:
        updated: the member whose heartbeat it is, as it is now.
        homogeneous: all members subscribe to the same.
    """

    group: ConsumerGroup
    epoch: int
    updated: ConsumerMember
    homogeneous: bool
    assignor: Assignor
    image: ClusterImage
    topic_ids: TopicIds
    broker_ms: int

    def run(self, records: list[Record]) -> Assignment:
        """Append the records of what is new in the target, and of its epoch; gives the target of `updated`.

        Raises what the assignor raises.
        """
        group, updated = self.group, self.updated
        members, replaced = dict(group.members), group.static_member(updated.instance_id)
        members[updated.member_id] = updated
        old = group.target.get(updated.member_id)
        if replaced is not None and replaced.member_id != updated.member_id:
            del members[replaced.member_id]
            old = group.target.get(replaced.member_id, old)
        specs: dict[str, MemberSubscription] = {}
        for member_id in string_map_order(members):
            member = members[member_id]
            assigned = (old or NO_ASSIGNMENT) if member is updated else group.target_of(member_id)
            specs[member_id] = MemberSubscription(
                member.rack_id, member.instance_id, self.topic_ids.of(member), assigned
            )
        target = self.assignor.assign(GroupSpec(specs, self.homogeneous), Describer(self.image))
        for member_id in specs:
            new = target.get(member_id, NO_ASSIGNMENT)
            before = old if member_id == updated.member_id else group.target.get(member_id)
            if before is None or new != before:
                records.append(ConsumerGroupTargetAssignmentMember(group.group_id, member_id, new))
        records.append(ConsumerGroupTargetAssignmentMetadata(group.group_id, self.epoch, self.broker_ms))
        return target.get(updated.member_id, NO_ASSIGNMENT)
