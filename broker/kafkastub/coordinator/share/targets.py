"""The target assignment of a group: when there is a new one, and what it is. Kafka: TargetAssignmentBuilder."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set

from kafkastub.coordinator.cluster import ClusterImage
from kafkastub.coordinator.modern.assignment import NO_ASSIGNMENT, Assignment, GroupSpec, MemberSubscription
from kafkastub.coordinator.modern.records import Partitions
from kafkastub.coordinator.modern.subscribed import Describer, topic_ids_of
from kafkastub.coordinator.records import Record
from kafkastub.coordinator.share.context import ShareContext
from kafkastub.coordinator.share.group import ShareGroup
from kafkastub.coordinator.share.member import ShareMember
from kafkawire.java_order import string_map_order


def compute(
    context: ShareContext,
    group: ShareGroup,
    epoch: int,
    updated: ShareMember,
    homogeneous: bool,
    records: list[Record],
    broker_ms: int,
) -> Assignment:
    """Append the records of what is new in the target, and of its epoch; gives the target of `updated`.

    Args:
        updated: the member whose heartbeat it is, as it is now.
        homogeneous: all members subscribe to the same.

    Raises: AssignorError.
    """
    image, known = context.image, group.partition_metadata
    members = {**group.members, updated.member_id: updated}
    by_names: dict[frozenset[str], Set[bytes]] = {}
    specs: dict[str, MemberSubscription] = {}
    for member_id in string_map_order(members):
        names = members[member_id].subscribed_topic_names
        if names not in by_names:
            by_names[names] = dict.fromkeys(topic_ids_of(names, image)).keys()
        specs[member_id] = MemberSubscription(
            members[member_id].rack_id, None, by_names[names], group.target_of(member_id)
        )
    assignable: Mapping[bytes, Collection[int]] = (
        {} if known is None else {topic_id: topic.partitions for topic_id, topic in known.initialized.items()}
    )
    target = context.assignor.assign(GroupSpec(specs, homogeneous), Describer(image), assignable)
    records += group.target_records(epoch, target, group.target, specs, broker_ms)
    return target.get(updated.member_id, NO_ASSIGNMENT)


def subscribed_part(target: Assignment, names: frozenset[str], image: ClusterImage) -> Partitions:
    """What of its target a member is told: topics to which it subscribes. Kafka: filterAssignedPartitions."""
    topic_ids = {image.topic_id(name) for name in names}
    if all(topic_id in topic_ids for topic_id in target):
        return target
    return {topic_id: partitions for topic_id, partitions in target.items() if topic_id in topic_ids}
