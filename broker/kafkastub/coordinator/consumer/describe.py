"""A consumer group as ConsumerGroupDescribe tells it. Kafka: ConsumerGroup.asDescribedGroup, ConsumerGroupMember."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from kafkastub.coordinator.cluster import ClusterImage
from kafkastub.coordinator.consumer.assignment_response import merged
from kafkastub.coordinator.consumer.group import ConsumerGroup
from kafkastub.coordinator.consumer.member import ConsumerMember
from kafkastub.coordinator.modern.assignment import NO_ASSIGNMENT, Assignment
from kafkastub.coordinator.modern.describe import group_fields, member_fields, named, names_in_order, topic_names
from kafkastub.coordinator.modern.partition_sets import iteration_order
from kafkawire.messages.consumer_group_describe_response import Assignment as DescribedAssignment
from kafkawire.messages.consumer_group_describe_response import DescribedGroup, Member, TopicPartitions

CLASSIC_MEMBER: Final = 0
CONSUMER_MEMBER: Final = 1


def described(
    group: ConsumerGroup, default_assignor: str, image: ClusterImage
) -> tuple[DescribedGroup, Iterator[Member | None]]:
    """See `GroupType.description`.

    Topics that are gone are left out of the assignments.
    """
    target, members = dict(group.target), group.members.values()
    shown = [*target.values(), *[m.assigned for m in members]]
    shown += [m.pending_revocation for m in members if m.pending_revocation]
    names = topic_names(shown, image)
    found = DescribedGroup(**group_fields(group, group.preferred_assignor() or default_assignor))
    return found, (
        None if member is None else _member(member, target.get(member.member_id, NO_ASSIGNMENT), names)
        for member in group.members_now()
    )


def _member(member: ConsumerMember, to_have: Assignment, names: Mapping[bytes, str | None]) -> Member:
    target = {topic_id: iteration_order(some) for topic_id, some in to_have.items()}
    return Member(
        **member_fields(member),
        instance_id=member.instance_id,
        subscribed_topic_names=names_in_order(member.subscribed_topic_names),
        subscribed_topic_regex=member.subscribed_topic_regex,
        assignment=_assignment(merged(member.assigned, member.pending_revocation), names),
        target_assignment=_assignment(target, names),
        member_type=CONSUMER_MEMBER if member.classic is None else CLASSIC_MEMBER,
    )


def _assignment(partitions: Mapping[bytes, Collection[int]], names: Mapping[bytes, str | None]) -> DescribedAssignment:
    return DescribedAssignment([TopicPartitions(*one) for one in named(partitions, names)])
