"""The records of consumer groups as keys and values of `__consumer_offsets`, and back; loaded with the first of them.

All values have one version, 0, and are written as Apache Kafka 4.4 writes them (GroupCoordinatorRecordHelpers): what
was added later, the metadata hash (4.1), the epochs of assignments and the timestamp of the target (4.4), are tagged
fields, which older brokers skip and which are missing in what those have written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from kafkastub.coordinator import consumer_records as records
from kafkastub.coordinator.consumer_records import EpochsOfPartitions, Partitions
from kafkastub.coordinator.modern.partition_sets import of_record
from kafkastub.coordinator.records import ConsumerRecord
from kafkawire.messages.consumer_group_current_member_assignment_key import ConsumerGroupCurrentMemberAssignmentKey
from kafkawire.messages.consumer_group_current_member_assignment_value import (
    ConsumerGroupCurrentMemberAssignmentValue,
    TopicPartitions,
)
from kafkawire.messages.consumer_group_member_metadata_key import ConsumerGroupMemberMetadataKey
from kafkawire.messages.consumer_group_member_metadata_value import (
    ClassicMemberMetadata,
    ClassicProtocol,
    ConsumerGroupMemberMetadataValue,
)
from kafkawire.messages.consumer_group_metadata_key import ConsumerGroupMetadataKey
from kafkawire.messages.consumer_group_metadata_value import ConsumerGroupMetadataValue
from kafkawire.messages.consumer_group_partition_metadata_key import ConsumerGroupPartitionMetadataKey
from kafkawire.messages.consumer_group_partition_metadata_value import (
    ConsumerGroupPartitionMetadataValue,
    TopicMetadata,
)
from kafkawire.messages.consumer_group_regular_expression_key import ConsumerGroupRegularExpressionKey
from kafkawire.messages.consumer_group_regular_expression_value import ConsumerGroupRegularExpressionValue
from kafkawire.messages.consumer_group_target_assignment_member_key import ConsumerGroupTargetAssignmentMemberKey
from kafkawire.messages.consumer_group_target_assignment_member_value import (
    ConsumerGroupTargetAssignmentMemberValue,
    TopicPartition,
)
from kafkawire.messages.consumer_group_target_assignment_metadata_key import ConsumerGroupTargetAssignmentMetadataKey
from kafkawire.messages.consumer_group_target_assignment_metadata_value import (
    ConsumerGroupTargetAssignmentMetadataValue,
)
from kafkawire.offsets_topic import OffsetsRecord, RecordType, encode_key, encode_value
from kafkawire.schema import Message

_VERSION: Final = 0


def encode(record: ConsumerRecord) -> tuple[bytes, bytes | None]:
    """Key and value; a tombstone's value is None."""
    tombstone = _TOMBSTONES.get(type(record))
    if tombstone is not None:
        return encode_key(tombstone(record)), None
    key, value = _VALUES[type(record)](record)
    return encode_key(key), encode_value(value, _VERSION)


def decode(record: OffsetsRecord) -> ConsumerRecord:
    """What a record of a consumer group says."""
    value, tombstone = _DECODERS[record.type]
    return tombstone(record.key) if record.value is None else value(record.key, record.value)


# -- encoding ----------------------------------------------------------------------------------------------------------


def _metadata(record: records.ConsumerGroupMetadata) -> tuple[Message, Message]:
    value = ConsumerGroupMetadataValue(record.epoch, record.metadata_hash)
    return ConsumerGroupMetadataKey(record.group_id), value


def _partition_metadata(record: records.ConsumerGroupPartitionMetadata) -> tuple[Message, Message]:
    value = ConsumerGroupPartitionMetadataValue([TopicMetadata(topic_name=name) for name in record.topics])
    return ConsumerGroupPartitionMetadataKey(record.group_id), value


def _member(record: records.ConsumerGroupMemberMetadata) -> tuple[Message, Message]:
    classic = record.classic
    value = ConsumerGroupMemberMetadataValue(
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
    return ConsumerGroupMemberMetadataKey(record.group_id, record.member_id), value


def _target_metadata(record: records.ConsumerGroupTargetAssignmentMetadata) -> tuple[Message, Message]:
    value = ConsumerGroupTargetAssignmentMetadataValue(record.assignment_epoch, record.assignment_timestamp)
    return ConsumerGroupTargetAssignmentMetadataKey(record.group_id), value


def _target(record: records.ConsumerGroupTargetAssignmentMember) -> tuple[Message, Message]:
    topics = [TopicPartition(topic_id, sorted(some)) for topic_id, some in record.partitions.items()]
    value = ConsumerGroupTargetAssignmentMemberValue(topics)
    return ConsumerGroupTargetAssignmentMemberKey(record.group_id, record.member_id), value


def _current(record: records.ConsumerGroupCurrentMemberAssignment) -> tuple[Message, Message]:
    value = ConsumerGroupCurrentMemberAssignmentValue(
        member_epoch=record.member_epoch,
        previous_member_epoch=record.previous_member_epoch,
        state=record.state,
        assigned_partitions=_topics(record.assigned),
        partitions_pending_revocation=_topics(record.pending_revocation),
    )
    return ConsumerGroupCurrentMemberAssignmentKey(record.group_id, record.member_id), value


def _topics(assigned: EpochsOfPartitions) -> list[TopicPartitions]:
    topics = []
    for topic_id, epochs in assigned.items():
        partitions = sorted(epochs)
        topics.append(TopicPartitions(topic_id, partitions, [epochs[one] for one in partitions]))
    return topics


def _expression(record: records.ConsumerGroupRegularExpression) -> tuple[Message, Message]:
    value = ConsumerGroupRegularExpressionValue(record.topics, record.version, record.timestamp)
    return ConsumerGroupRegularExpressionKey(record.group_id, record.regular_expression), value


_VALUES: Final[dict[type[ConsumerRecord], Callable[[Any], tuple[Message, Message]]]] = {
    records.ConsumerGroupMetadata: _metadata,
    records.ConsumerGroupPartitionMetadata: _partition_metadata,
    records.ConsumerGroupMemberMetadata: _member,
    records.ConsumerGroupTargetAssignmentMetadata: _target_metadata,
    records.ConsumerGroupTargetAssignmentMember: _target,
    records.ConsumerGroupCurrentMemberAssignment: _current,
    records.ConsumerGroupRegularExpression: _expression,
}
_TOMBSTONES: Final[dict[type[ConsumerRecord], Callable[[Any], Message]]] = {
    records.ConsumerGroupMetadataTombstone: lambda record: ConsumerGroupMetadataKey(record.group_id),
    records.ConsumerGroupPartitionMetadataTombstone: lambda record: ConsumerGroupPartitionMetadataKey(record.group_id),
    records.ConsumerGroupMemberMetadataTombstone: lambda record: ConsumerGroupMemberMetadataKey(
        record.group_id, record.member_id
    ),
    records.ConsumerGroupTargetAssignmentMetadataTombstone: lambda record: ConsumerGroupTargetAssignmentMetadataKey(
        record.group_id
    ),
    records.ConsumerGroupTargetAssignmentMemberTombstone: lambda record: ConsumerGroupTargetAssignmentMemberKey(
        record.group_id, record.member_id
    ),
    records.ConsumerGroupCurrentMemberAssignmentTombstone: lambda record: ConsumerGroupCurrentMemberAssignmentKey(
        record.group_id, record.member_id
    ),
    records.ConsumerGroupRegularExpressionTombstone: lambda record: ConsumerGroupRegularExpressionKey(
        record.group_id, record.regular_expression
    ),
}


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


def _of_member(tombstone: type[Any]) -> Callable[[Any], ConsumerRecord]:
    return lambda key: tombstone(key.group_id, key.member_id)


def _of_group(tombstone: type[Any]) -> Callable[[Any], ConsumerRecord]:
    return lambda key: tombstone(key.group_id)


_DECODERS: Final[dict[RecordType, tuple[Callable[[Any, Any], ConsumerRecord], Callable[[Any], ConsumerRecord]]]] = {
    RecordType.CONSUMER_GROUP_METADATA: (_metadata_of, _of_group(records.ConsumerGroupMetadataTombstone)),
    RecordType.CONSUMER_GROUP_PARTITION_METADATA: (
        _partition_metadata_of,
        _of_group(records.ConsumerGroupPartitionMetadataTombstone),
    ),
    RecordType.CONSUMER_GROUP_MEMBER_METADATA: (_member_of, _of_member(records.ConsumerGroupMemberMetadataTombstone)),
    RecordType.CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA: (
        _target_metadata_of,
        _of_group(records.ConsumerGroupTargetAssignmentMetadataTombstone),
    ),
    RecordType.CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER: (
        _target_of,
        _of_member(records.ConsumerGroupTargetAssignmentMemberTombstone),
    ),
    RecordType.CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT: (
        _current_of,
        _of_member(records.ConsumerGroupCurrentMemberAssignmentTombstone),
    ),
    RecordType.CONSUMER_GROUP_REGULAR_EXPRESSION: (
        _expression_of,
        lambda key: records.ConsumerGroupRegularExpressionTombstone(key.group_id, key.regular_expression),
    ),
}
