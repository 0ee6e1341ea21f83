"""The records of consumer groups as keys and values of `__consumer_offsets`, and back; loaded with the first of them.

All values have one version, 0, and are written as Apache Kafka 4.4 writes them (GroupCoordinatorRecordHelpers): what
was added later, the metadata hash (4.1), the epochs of assignments and the timestamp of the target (4.4), are tagged
fields, which older brokers skip and which are missing in what those have written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from kafkastub.coordinator.consumer import records
from kafkastub.coordinator.consumer.records import EpochsOfPartitions
from kafkastub.coordinator.modern.partition_sets import of_record
from kafkastub.coordinator.modern.records import Partitions
from kafkastub.coordinator.records import ConsumerRecord
from kafkastub.state.internal_topics.group_codec import Form, GroupCodec, Named, of_group, of_member
from kafkawire.messages.consumer_group_current_member_assignment_value import (
    ConsumerGroupCurrentMemberAssignmentValue,
    TopicPartitions,
)
from kafkawire.messages.consumer_group_member_metadata_value import (
    ClassicMemberMetadata,
    ClassicProtocol,
    ConsumerGroupMemberMetadataValue,
)
from kafkawire.messages.consumer_group_metadata_value import ConsumerGroupMetadataValue
from kafkawire.messages.consumer_group_partition_metadata_value import (
    ConsumerGroupPartitionMetadataValue,
    TopicMetadata,
)
from kafkawire.messages.consumer_group_regular_expression_value import ConsumerGroupRegularExpressionValue
from kafkawire.messages.consumer_group_target_assignment_member_value import (
    ConsumerGroupTargetAssignmentMemberValue,
    TopicPartition,
)
from kafkawire.messages.consumer_group_target_assignment_metadata_value import (
    ConsumerGroupTargetAssignmentMetadataValue,
)
from kafkawire.offsets_topic import RecordType
from kafkawire.schema import Message

# -- encoding ----------------------------------------------------------------------------------------------------------


def _metadata(record: records.ConsumerGroupMetadata) -> Message:
    return ConsumerGroupMetadataValue(record.epoch, record.metadata_hash)


def _partition_metadata(record: records.ConsumerGroupPartitionMetadata) -> Message:
    return ConsumerGroupPartitionMetadataValue([TopicMetadata(topic_name=name) for name in record.topics])


def _member(record: records.ConsumerGroupMemberMetadata) -> Message:
    classic = record.classic
    return ConsumerGroupMemberMetadataValue(
        instance_id=record.instance_id,
        rack_id=record.rack_id,
        client_id=record.client_id,
        client_host=record.client_host,
        subscribed_topic_names=record.subscribed_topic_names,
        subscribed_topic_regex=record.subscribed_topic_regex,
        rebalance_timeout_ms=record.rebalance_timeout_ms,
        server_assignor=record.server_assignor,
        classic_member_metadata=None
        if classic is None
        else ClassicMemberMetadata(
            classic.session_timeout_ms, [ClassicProtocol(*one) for one in classic.supported_protocols]
        ),
    )


def _target_metadata(record: records.ConsumerGroupTargetAssignmentMetadata) -> Message:
    return ConsumerGroupTargetAssignmentMetadataValue(record.assignment_epoch, record.assignment_timestamp)


def _target(record: records.ConsumerGroupTargetAssignmentMember) -> Message:
    topics = [TopicPartition(topic_id, sorted(some)) for topic_id, some in record.partitions.items()]
    return ConsumerGroupTargetAssignmentMemberValue(topics)


def _current(record: records.ConsumerGroupCurrentMemberAssignment) -> Message:
    return ConsumerGroupCurrentMemberAssignmentValue(
        member_epoch=record.member_epoch,
        previous_member_epoch=record.previous_member_epoch,
        state=record.state,
        assigned_partitions=_topics(record.assigned),
        partitions_pending_revocation=_topics(record.pending_revocation),
    )


def _topics(assigned: EpochsOfPartitions) -> list[TopicPartitions]:
    topics = []
    for topic_id, epochs in assigned.items():
        partitions = sorted(epochs)
        topics.append(TopicPartitions(topic_id, partitions, [epochs[one] for one in partitions]))
    return topics


def _expression(record: records.ConsumerGroupRegularExpression) -> Message:
    return ConsumerGroupRegularExpressionValue(record.topics, record.version, record.timestamp)


# -- decoding ----------------------------------------------------------------------------------------------------------


def _metadata_of(key: Any, value: Any) -> ConsumerRecord:
    return records.ConsumerGroupMetadata(key.group_id, value.epoch, value.metadata_hash)


def _partition_metadata_of(key: Any, value: Any) -> ConsumerRecord:
    names = tuple(sorted(one.topic_name for one in value.topics))
    return records.ConsumerGroupPartitionMetadata(key.group_id, names)


def _member_of(key: Any, value: Any) -> ConsumerRecord:
    classic = value.classic_member_metadata
    return records.ConsumerGroupMemberMetadata(
        group_id=key.group_id,
        member_id=key.member_id,
        instance_id=value.instance_id,
        rack_id=value.rack_id,
        client_id=value.client_id,
        client_host=value.client_host,
        subscribed_topic_names=tuple(value.subscribed_topic_names),
        subscribed_topic_regex=value.subscribed_topic_regex,
        rebalance_timeout_ms=value.rebalance_timeout_ms,
        server_assignor=value.server_assignor,
        classic=None
        if classic is None
        else records.ClassicMemberMetadata(
            classic.session_timeout_ms,
            tuple(records.ClassicProtocol(one.name, bytes(one.metadata)) for one in classic.supported_protocols),
        ),
    )


def _target_metadata_of(key: Any, value: Any) -> ConsumerRecord:
    return records.ConsumerGroupTargetAssignmentMetadata(
        key.group_id, value.assignment_epoch, value.assignment_timestamp
    )


def _target_of(key: Any, value: Any) -> ConsumerRecord:
    partitions: Partitions = {bytes(one.topic_id): of_record(one.partitions) for one in value.topic_partitions}
    return records.ConsumerGroupTargetAssignmentMember(key.group_id, key.member_id, partitions)


def _current_of(key: Any, value: Any) -> ConsumerRecord:
    return records.ConsumerGroupCurrentMemberAssignment(
        key.group_id,
        key.member_id,
        value.member_epoch,
        value.previous_member_epoch,
        value.state,
        _epochs(value.assigned_partitions, value.member_epoch),
        _epochs(value.partitions_pending_revocation, value.member_epoch),
    )


def _epochs(topics: Iterable[TopicPartitions], member_epoch: int) -> EpochsOfPartitions:
    """Where the record has no epochs, or not as many as partitions, the member's stands for them.

    Kafka: Utils.assignmentFromTopicPartitions.
    """
    default = max(member_epoch, 0)
    found: dict[bytes, dict[int, int]] = {}
    for one in topics:
        epochs = one.assignment_epochs
        if epochs is None or len(epochs) != len(one.partitions):
            epochs = [default] * len(one.partitions)
        found[bytes(one.topic_id)] = dict(zip(one.partitions, epochs, strict=True))
    return found


def _expression_of(key: Any, value: Any) -> ConsumerRecord:
    return records.ConsumerGroupRegularExpression(
        key.group_id, key.regular_expression, tuple(value.topics), value.version, value.timestamp
    )


def _of_expression(make: Callable[[str, str], Any]) -> Named:
    return lambda about: make(about.group_id, about.regular_expression)


_CODEC: Final = GroupCodec[ConsumerRecord](
    Form(
        RecordType.CONSUMER_GROUP_METADATA,
        of_group,
        records.ConsumerGroupMetadata,
        records.ConsumerGroupMetadataTombstone,
        _metadata,
        _metadata_of,
    ),
    Form(
        RecordType.CONSUMER_GROUP_PARTITION_METADATA,
        of_group,
        records.ConsumerGroupPartitionMetadata,
        records.ConsumerGroupPartitionMetadataTombstone,
        _partition_metadata,
        _partition_metadata_of,
    ),
    Form(
        RecordType.CONSUMER_GROUP_MEMBER_METADATA,
        of_member,
        records.ConsumerGroupMemberMetadata,
        records.ConsumerGroupMemberMetadataTombstone,
        _member,
        _member_of,
    ),
    Form(
        RecordType.CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA,
        of_group,
        records.ConsumerGroupTargetAssignmentMetadata,
        records.ConsumerGroupTargetAssignmentMetadataTombstone,
        _target_metadata,
        _target_metadata_of,
    ),
    Form(
        RecordType.CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER,
        of_member,
        records.ConsumerGroupTargetAssignmentMember,
        records.ConsumerGroupTargetAssignmentMemberTombstone,
        _target,
        _target_of,
    ),
    Form(
        RecordType.CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT,
        of_member,
        records.ConsumerGroupCurrentMemberAssignment,
        records.ConsumerGroupCurrentMemberAssignmentTombstone,
        _current,
        _current_of,
    ),
    Form(
        RecordType.CONSUMER_GROUP_REGULAR_EXPRESSION,
        _of_expression,
        records.ConsumerGroupRegularExpression,
        records.ConsumerGroupRegularExpressionTombstone,
        _expression,
        _expression_of,
    ),
)
encode: Final = _CODEC.encode
decode: Final = _CODEC.decode
