"""A classic group becomes a consumer group when somebody joins it with the new protocol (KIP-848, migration).

Its members stay, as members that use the classic protocol; its generation becomes the epoch. Kafka:
GroupMetadataManager.validateOnlineUpgrade, convertToConsumerGroup; ConsumerGroup.fromClassicGroup.
"""

from __future__ import annotations

from typing import Final

from kafkastub.coordinator.classic.group import CONSUMER_PROTOCOL_TYPE, ClassicGroup
from kafkastub.coordinator.classic.member import ClassicMember
from kafkastub.coordinator.cluster import ClusterImage
from kafkastub.coordinator.consumer import embedded
from kafkastub.coordinator.consumer.member import FORMS, ConsumerMember
from kafkastub.coordinator.consumer.records import (
    ClassicMemberMetadata,
    ClassicProtocol,
    ConsumerGroupMetadata,
    ConsumerGroupTargetAssignmentMember,
    ConsumerGroupTargetAssignmentMetadata,
)
from kafkastub.coordinator.consumer.settings import ConsumerSettings
from kafkastub.coordinator.records import Record
from kafkawire.errors import ErrorCode, KafkaError, MalformedMessage
from kafkawire.java_order import string_timeline_order

POLICIES: Final = frozenset({"upgrade", "bidirectional"})
"""The migration policies that let classic groups become consumer groups."""


def check_upgrade(group: ClassicGroup, settings: ConsumerSettings) -> None:
    """Raises GROUP_ID_NOT_FOUND with Kafka's message where the group cannot be upgraded, whatever its members say."""
    if settings.migration_policy not in POLICIES:
        raise _refused(group, "online upgrade is disabled.")
    if group.protocol_type != CONSUMER_PROTOCOL_TYPE:
        raise _refused(group, "the group does not use the consumer embedded protocol.")
    if group.size > settings.max_size:
        raise _refused(group, "the group size exceeds the consumer group maximum size.")


def upgraded_members(group: ClassicGroup, cluster: ClusterImage) -> list[ConsumerMember]:
    """The members of a classic group as those of a consumer group, in Kafka's order; nothing has happened yet.

    Raises GROUP_ID_NOT_FOUND with Kafka's message where what they say stands against it, and UNKNOWN_SERVER_ERROR, as
    Kafka does, where a member does not support what the group has agreed on, nothing was ever agreed on, or a partition
    is assigned to two.
    """
    taken: set[tuple[bytes, int]] = set()
    members = []
    for member_id in string_timeline_order(group.members):
        try:
            member = _upgraded(group, group.members[member_id], cluster)
        except MalformedMessage:
            raise _refused(group, "the embedded consumer protocol is malformed.") from None
        mine = {(topic_id, partition) for topic_id, of_topic in member.assigned.items() for partition in of_topic}
        if mine & taken:
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
        taken |= mine
        members.append(member)
    return members


def _upgraded(group: ClassicGroup, member: ClassicMember, cluster: ClusterImage) -> ConsumerMember:
    """Raises MalformedMessage, GROUP_ID_NOT_FOUND, UNKNOWN_SERVER_ERROR."""
    partitions: dict[bytes, frozenset[int]] = {}
    if member.assignment:
        assignment = embedded.assignment(member.assignment)
        if assignment.user_data:
            why = "an unsupported custom assignor is in use."
            advice = (
                "Please refer to the documentation or switch to a default assignor before re-attempting the upgrade."
            )
            raise _refused(group, f"{why} {advice}")
        partitions = embedded.by_topic_id(assignment.assigned_partitions, cluster)
    metadata = dict(member.protocols).get(group.protocol or "")
    if metadata is None:
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
    subscription = embedded.subscription(metadata)
    epoch = group.generation
    return ConsumerMember(
        member.member_id,
        member_epoch=epoch,
        previous_member_epoch=epoch,
        instance_id=member.group_instance_id,
        rack_id=subscription.rack_id or None,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=frozenset(subscription.topics),
        assigned={
            topic_id: dict.fromkeys(sorted(of_topic), epoch) for topic_id, of_topic in partitions.items() if of_topic
        },
        classic=ClassicMemberMetadata(
            member.session_timeout_ms, tuple(ClassicProtocol(*protocol) for protocol in member.protocols)
        ),
    )


def upgrade_records(group_id: str, epoch: int, members: list[ConsumerMember], metadata_hash: int) -> list[Record]:
    """What makes the consumer group, once the classic one has its tombstone. Kafka: createConsumerGroupRecords.

    What the members have is their target; the target's time is not known, so that the next may come at once.
    """
    return [
        *(FORMS.metadata_record(group_id, member) for member in members),
        ConsumerGroupMetadata(group_id, epoch, metadata_hash),
        *(
            ConsumerGroupTargetAssignmentMember(
                group_id, one.member_id, {topic_id: frozenset(of_topic) for topic_id, of_topic in one.assigned.items()}
            )
            for one in members
        ),
        ConsumerGroupTargetAssignmentMetadata(group_id, epoch, 0),
        *(FORMS.assignment_record(group_id, member) for member in members),
    ]


def _refused(group: ClassicGroup, why: str) -> KafkaError:
    what = f"Cannot upgrade classic group {group.group_id} to consumer group because {why}"
    return KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, what)
