"""The target assignment of a group: when there is a new one, and what it is. Kafka: TargetAssignmentBuilder."""

from __future__ import annotations

from collections.abc import Mapping, Set

from kafkastub.coordinator.cluster import ClusterImage
from kafkastub.coordinator.consumer.group import ConsumerGroup
from kafkastub.coordinator.consumer.member import ConsumerMember
from kafkastub.coordinator.consumer.records import ConsumerGroupRegularExpression
from kafkastub.coordinator.modern.assignment import NO_ASSIGNMENT, Assignment, Assignor, GroupSpec, MemberSubscription
from kafkastub.coordinator.modern.subscribed import Describer, topic_ids_of
from kafkastub.coordinator.records import Record
from kafkawire.java_order import string_map_order


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
        parts = [topic_ids_of(names, self._image)]
        if topics:
            parts.insert(1 if len(names) > len(topics) else 0, topic_ids_of(topics, self._image))
        return [topic_id for part in parts for topic_id in part]


def compute(
    group: ConsumerGroup,
    epoch: int,
    updated: ConsumerMember,
    homogeneous: bool,
    assignor: Assignor,
    image: ClusterImage,
    records: list[Record],
    broker_ms: int,
) -> Assignment:
    """Append the records of what is new in the target, and of its epoch; gives the target of `updated`.

    Args:
        updated: the member whose heartbeat it is, as it is now.
        homogeneous: all members subscribe to the same.

    Raises what the assignor raises.
    """
    members, replaced = {**group.members, updated.member_id: updated}, group.replaced_by(updated)
    before, topic_ids = group.target_with(updated, replaced), TopicIds(image, group.subscriptions.resolved)
    if replaced is not None:
        del members[replaced]
    specs: dict[str, MemberSubscription] = {}
    for member_id in string_map_order(members):
        member, assigned = members[member_id], before.get(member_id, NO_ASSIGNMENT)
        specs[member_id] = MemberSubscription(member.rack_id, member.instance_id, topic_ids.of(member), assigned)
    target = assignor.assign(GroupSpec(specs, homogeneous), Describer(image))
    records += group.target_records(epoch, target, before, specs, broker_ms)
    return target.get(updated.member_id, NO_ASSIGNMENT)
