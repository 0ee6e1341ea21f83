"""The records of consumer groups as keys and values of `__consumer_offsets`, and back; loaded with the first of them.

They are written as Apache Kafka 4.4 writes them: what was added later, the metadata hash (4.1), the epochs of
assignments and the timestamp of the target (4.4), are tagged fields, which older brokers skip and which are missing in
what those have written.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from kafkastub.coordinator.consumer import records
from kafkastub.coordinator.consumer.records import EpochsOfPartitions
from kafkastub.coordinator.modern.codec import Field, Form, GroupCodec, form
from kafkastub.coordinator.modern.partition_sets import of_record, with_epochs
from kafkastub.coordinator.modern.records import Partitions
from kafkawire.messages.consumer_group_current_member_assignment_value import TopicPartitions
from kafkawire.messages.consumer_group_member_metadata_value import ClassicMemberMetadata, ClassicProtocol
from kafkawire.messages.consumer_group_partition_metadata_value import TopicMetadata
from kafkawire.messages.consumer_group_target_assignment_member_value import TopicPartition
from kafkawire.offsets_topic import RecordType


def _written_classic(classic: records.ClassicMemberMetadata | None) -> ClassicMemberMetadata | None:
    if classic is None:
        return None
    protocols = [ClassicProtocol(*one) for one in classic.supported_protocols]
    return ClassicMemberMetadata(classic.session_timeout_ms, protocols)


def _read_classic(classic: ClassicMemberMetadata | None) -> records.ClassicMemberMetadata | None:
    if classic is None:
        return None
    protocols = (records.ClassicProtocol(one.name, bytes(one.metadata)) for one in classic.supported_protocols)
    return records.ClassicMemberMetadata(classic.session_timeout_ms, tuple(protocols))


def _written_target(partitions: Partitions) -> list[TopicPartition]:
    return [TopicPartition(topic_id, sorted(some)) for topic_id, some in partitions.items()]


def _read_target(topics: Iterable[TopicPartition]) -> Partitions:
    return {bytes(one.topic_id): of_record(one.partitions) for one in topics}


def _written_current(record: records.ConsumerGroupCurrentMemberAssignment) -> tuple[Any, ...]:
    return (
        record.member_epoch,
        record.previous_member_epoch,
        record.state,
        _written_epochs(record.assigned),
        _written_epochs(record.pending_revocation),
    )


def _read_current(value: Any) -> tuple[Any, ...]:
    return (
        value.member_epoch,
        value.previous_member_epoch,
        value.state,
        _read_epochs(value.assigned_partitions, value.member_epoch),
        _read_epochs(value.partitions_pending_revocation, value.member_epoch),
    )


def _written_epochs(assigned: EpochsOfPartitions) -> list[TopicPartitions]:
    topics = ((topic_id, sorted(epochs), epochs) for topic_id, epochs in assigned.items())
    return [TopicPartitions(topic_id, some, [epochs[one] for one in some]) for topic_id, some, epochs in topics]


def _read_epochs(topics: Iterable[TopicPartitions], member_epoch: int) -> EpochsOfPartitions:
    """Kafka: Utils.assignmentFromTopicPartitions."""
    since = max(member_epoch, 0)
    return {bytes(one.topic_id): with_epochs(one.partitions, one.assignment_epochs, since) for one in topics}


CODEC: Final = GroupCodec(
    form(RecordType.CONSUMER_GROUP_METADATA, records.ConsumerGroupMetadata),
    form(
        RecordType.CONSUMER_GROUP_PARTITION_METADATA,
        records.ConsumerGroupPartitionMetadata,
        topics=Field(
            lambda topics: tuple(sorted(one.topic_name for one in topics)),
            lambda names: [TopicMetadata(topic_name=name) for name in names],
        ),
    ),
    form(
        RecordType.CONSUMER_GROUP_MEMBER_METADATA,
        records.ConsumerGroupMemberMetadata,
        subscribed_topic_names=Field(tuple),
        classic=Field(_read_classic, _written_classic),
    ),
    form(RecordType.CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA, records.ConsumerGroupTargetAssignmentMetadata),
    form(
        RecordType.CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER,
        records.ConsumerGroupTargetAssignmentMember,
        partitions=Field(_read_target, _written_target),
    ),
    Form(
        RecordType.CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT,
        records.ConsumerGroupCurrentMemberAssignment,
        _written_current,
        _read_current,
    ),
    form(RecordType.CONSUMER_GROUP_REGULAR_EXPRESSION, records.ConsumerGroupRegularExpression, topics=Field(tuple)),
)
