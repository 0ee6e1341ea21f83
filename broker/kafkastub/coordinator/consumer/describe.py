"""A consumer group as ConsumerGroupDescribe tells it. Kafka: ConsumerGroup.asDescribedGroup, ConsumerGroupMember."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from kafkastub.coordinator.cluster import ClusterImage
from kafkastub.coordinator.consumer.assignment_response import merged
from kafkastub.coordinator.consumer.group import ConsumerGroup
from kafkastub.coordinator.consumer.member import ConsumerMember
from kafkastub.coordinator.modern.describe import group_fields, member_fields, named, names_in_order
from kafkastub.coordinator.modern.partition_sets import iteration_order
from kafkawire.messages.consumer_group_describe_response import Assignment, DescribedGroup, Member, TopicPartitions

CLASSIC_MEMBER: Final = 0
CONSUMER_MEMBER: Final = 1


def described(group: ConsumerGroup, default_assignor: str, image: ClusterImage) -> DescribedGroup:
    """The group; topics that are gone are left out of its assignments."""
    return DescribedGroup(
        **group_fields(group, group.preferred_assignor() or default_assignor),
        members=[_member(group, member, image) for member in group.in_order()],
    )


def _member(group: ConsumerGroup, member: ConsumerMember, image: ClusterImage) -> Member:
    target = {topic_id: iteration_order(some) for topic_id, some in group.target_of(member.member_id).items()}
    return Member(
        **member_fields(member),
        instance_id=member.instance_id,
        subscribed_topic_names=names_in_order(member.subscribed_topic_names),
        subscribed_topic_regex=member.subscribed_topic_regex,
        assignment=_assignment(merged(member.assigned, member.pending_revocation), image),
        target_assignment=_assignment(target, image),
        member_type=CONSUMER_MEMBER if member.classic is None else CLASSIC_MEMBER,
    )


def _assignment(partitions: Mapping[bytes, Collection[int]], image: ClusterImage) -> Assignment:
    return Assignment([TopicPartitions(*one) for one in named(partitions, image)])
