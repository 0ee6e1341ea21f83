"""A share group as ShareGroupDescribe tells it. Kafka: ShareGroup.asDescribedGroup, ShareGroupMember."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kafkastub.coordinator.cluster import ClusterImage
from kafkastub.coordinator.modern.describe import group_fields, member_fields, named, names_in_order, topic_names
from kafkastub.coordinator.modern.partition_sets import iteration_order
from kafkastub.coordinator.share.group import ShareGroup
from kafkastub.coordinator.share.member import ShareMember
from kafkawire.messages.share_group_describe_response import Assignment, DescribedGroup, Member, TopicPartitions


def described(group: ShareGroup, assignor: str, image: ClusterImage) -> tuple[DescribedGroup, Iterator[Member | None]]:
    """See `GroupType.description`.

    Topics that are gone are left out of the assignments.
    """
    names = topic_names((member.assigned for member in group.members.values()), image)
    return DescribedGroup(**group_fields(group, assignor)), (
        None if member is None else _member(member, names) for member in group.members_now()
    )


def _member(member: ShareMember, names: Mapping[bytes, str | None]) -> Member:
    assigned = {topic_id: iteration_order(some) for topic_id, some in member.assigned.items()}
    return Member(
        **member_fields(member),
        subscribed_topic_names=names_in_order(member.subscribed_topic_names),
        assignment=Assignment([TopicPartitions(*one) for one in named(assigned, names)]),
    )
