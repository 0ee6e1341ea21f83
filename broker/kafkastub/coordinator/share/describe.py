"""A share group as ShareGroupDescribe tells it. Kafka: ShareGroup.asDescribedGroup, ShareGroupMember."""

from __future__ import annotations

from kafkastub.coordinator.cluster import ClusterImage
from kafkastub.coordinator.modern.describe import group_fields, member_fields, named, names_in_order
from kafkastub.coordinator.modern.partition_sets import iteration_order
from kafkastub.coordinator.share.group import ShareGroup
from kafkastub.coordinator.share.member import ShareMember
from kafkawire.messages.share_group_describe_response import Assignment, DescribedGroup, Member, TopicPartitions


def described(group: ShareGroup, assignor: str, image: ClusterImage) -> DescribedGroup:
    """The group; topics that are gone are left out of its assignments."""
    return DescribedGroup(
        **group_fields(group, assignor), members=[_member(member, image) for member in group.in_order()]
    )


def _member(member: ShareMember, image: ClusterImage) -> Member:
    assigned = {topic_id: iteration_order(some) for topic_id, some in member.assigned.items()}
    return Member(
        **member_fields(member),
        subscribed_topic_names=names_in_order(member.subscribed_topic_names),
        assignment=Assignment([TopicPartitions(*one) for one in named(assigned, image)]),
    )
