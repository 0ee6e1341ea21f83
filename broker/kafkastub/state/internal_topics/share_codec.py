"""The records of share groups as keys and values of `__consumer_offsets`, and back; loaded with the first of them.

All values have one version, 0, and are written as Apache Kafka 4.4 writes them (GroupCoordinatorRecordHelpers); the
timestamp of the target (4.4) is a tagged field, which older brokers skip and which is missing in what those have
written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from kafkastub.coordinator import share_records as records
from kafkastub.coordinator.modern.partition_sets import known_order, of_record
from kafkastub.coordinator.records import ShareRecord
from kafkawire.java_order import hash_map_order, uuid_hash
from kafkawire.messages.share_group_current_member_assignment_key import ShareGroupCurrentMemberAssignmentKey
from kafkawire.messages.share_group_current_member_assignment_value import (
    ShareGroupCurrentMemberAssignmentValue,
    TopicPartitions,
)
from kafkawire.messages.share_group_member_metadata_key import ShareGroupMemberMetadataKey
from kafkawire.messages.share_group_member_metadata_value import ShareGroupMemberMetadataValue
from kafkawire.messages.share_group_metadata_key import ShareGroupMetadataKey
from kafkawire.messages.share_group_metadata_value import ShareGroupMetadataValue
from kafkawire.messages.share_group_state_partition_metadata_key import ShareGroupStatePartitionMetadataKey
from kafkawire.messages.share_group_state_partition_metadata_value import (
    ShareGroupStatePartitionMetadataValue,
    TopicInfo,
    TopicPartitionsInfo,
)
from kafkawire.messages.share_group_target_assignment_member_key import ShareGroupTargetAssignmentMemberKey
from kafkawire.messages.share_group_target_assignment_member_value import (
    ShareGroupTargetAssignmentMemberValue,
    TopicPartition,
)
from kafkawire.messages.share_group_target_assignment_metadata_key import ShareGroupTargetAssignmentMetadataKey
from kafkawire.messages.share_group_target_assignment_metadata_value import ShareGroupTargetAssignmentMetadataValue
from kafkawire.offsets_topic import OffsetsRecord, RecordType, encode_key, encode_value
from kafkawire.schema import Message

_VERSION: Final = 0


def encode(record: ShareRecord) -> tuple[bytes, bytes | None]:
    """Key and value; a tombstone's value is None."""
    tombstone = _TOMBSTONES.get(type(record))
    if tombstone is not None:
        return encode_key(tombstone(record)), None
    key, value = _VALUES[type(record)](record)
    return encode_key(key), encode_value(value, _VERSION)


def decode(record: OffsetsRecord) -> ShareRecord:
    """What a record of a share group says."""
    value, tombstone = _DECODERS[record.type]
    return tombstone(record.key) if record.value is None else value(record.key, record.value)


# -- encoding ----------------------------------------------------------------------------------------------------------


def _metadata(record: records.ShareGroupMetadata) -> tuple[Message, Message]:
    return ShareGroupMetadataKey(record.group_id), ShareGroupMetadataValue(record.epoch, record.metadata_hash)


def _member(record: records.ShareGroupMemberMetadata) -> tuple[Message, Message]:
    value = ShareGroupMemberMetadataValue(
        record.rack_id, record.client_id, record.client_host, record.subscribed_topic_names
    )
    return ShareGroupMemberMetadataKey(record.group_id, record.member_id), value


def _target_metadata(record: records.ShareGroupTargetAssignmentMetadata) -> tuple[Message, Message]:
    value = ShareGroupTargetAssignmentMetadataValue(record.assignment_epoch, record.assignment_timestamp)
    return ShareGroupTargetAssignmentMetadataKey(record.group_id), value


def _target(record: records.ShareGroupTargetAssignmentMember) -> tuple[Message, Message]:
    topics = [TopicPartition(one, list(known_order(some))) for one, some in record.partitions.items()]
    value = ShareGroupTargetAssignmentMemberValue(topics)
    return ShareGroupTargetAssignmentMemberKey(record.group_id, record.member_id), value


def _current(record: records.ShareGroupCurrentMemberAssignment) -> tuple[Message, Message]:
    topics = [TopicPartitions(one, list(known_order(some))) for one, some in record.assigned.items()]
    value = ShareGroupCurrentMemberAssignmentValue(
        record.member_epoch, record.previous_member_epoch, record.state, topics
    )
    return ShareGroupCurrentMemberAssignmentKey(record.group_id, record.member_id), value


def _partition_metadata(record: records.ShareGroupStatePartitionMetadata) -> tuple[Message, Message]:
    value = ShareGroupStatePartitionMetadataValue(
        _topics(record.initializing),
        _topics(record.initialized),
        [TopicInfo(one, record.deleting[one]) for one in _in_order(record.deleting)],
    )
    return ShareGroupStatePartitionMetadataKey(record.group_id), value


def _topics(topics: Mapping[bytes, records.TopicPartitions]) -> list[TopicPartitionsInfo]:
    return [
        TopicPartitionsInfo(one, topics[one].name, list(known_order(topics[one].partitions)))
        for one in _in_order(topics)
    ]


def _in_order(topic_ids: Iterable[bytes]) -> list[bytes]:
    """As Kafka's maps by topic id iterate."""
    return hash_map_order((uuid_hash(one), one) for one in topic_ids)


_VALUES: Final[dict[type[ShareRecord], Callable[[Any], tuple[Message, Message]]]] = {
    records.ShareGroupMetadata: _metadata,
    records.ShareGroupMemberMetadata: _member,
    records.ShareGroupTargetAssignmentMetadata: _target_metadata,
    records.ShareGroupTargetAssignmentMember: _target,
    records.ShareGroupCurrentMemberAssignment: _current,
    records.ShareGroupStatePartitionMetadata: _partition_metadata,
}
_TOMBSTONES: Final[dict[type[ShareRecord], Callable[[Any], Message]]] = {
    records.ShareGroupMetadataTombstone: lambda record: ShareGroupMetadataKey(record.group_id),
    records.ShareGroupMemberMetadataTombstone: lambda record: ShareGroupMemberMetadataKey(
        record.group_id, record.member_id
    ),
    records.ShareGroupTargetAssignmentMetadataTombstone: lambda record: ShareGroupTargetAssignmentMetadataKey(
        record.group_id
    ),
    records.ShareGroupTargetAssignmentMemberTombstone: lambda record: ShareGroupTargetAssignmentMemberKey(
        record.group_id, record.member_id
    ),
    records.ShareGroupCurrentMemberAssignmentTombstone: lambda record: ShareGroupCurrentMemberAssignmentKey(
        record.group_id, record.member_id
    ),
    records.ShareGroupStatePartitionMetadataTombstone: lambda record: ShareGroupStatePartitionMetadataKey(
        record.group_id
    ),
}


# -- decoding ----------------------------------------------------------------------------------------------------------


def _metadata_of(key: Any, value: Any) -> ShareRecord:
    return records.ShareGroupMetadata(key.group_id, value.epoch, value.metadata_hash)


def _member_of(key: Any, value: Any) -> ShareRecord:
    return records.ShareGroupMemberMetadata(
        key.group_id,
        key.member_id,
        value.rack_id,
        value.client_id,
        value.client_host,
        tuple(value.subscribed_topic_names),
    )


def _target_metadata_of(key: Any, value: Any) -> ShareRecord:
    return records.ShareGroupTargetAssignmentMetadata(key.group_id, value.assignment_epoch, value.assignment_timestamp)


def _target_of(key: Any, value: Any) -> ShareRecord:
    return records.ShareGroupTargetAssignmentMember(key.group_id, key.member_id, _partitions_of(value.topic_partitions))


def _current_of(key: Any, value: Any) -> ShareRecord:
    return records.ShareGroupCurrentMemberAssignment(
        key.group_id,
        key.member_id,
        value.member_epoch,
        value.previous_member_epoch,
        value.state,
        _partitions_of(value.assigned_partitions),
    )


def _partitions_of(topics: Iterable[Any]) -> records.Partitions:
    return {bytes(one.topic_id): of_record(one.partitions) for one in topics}


def _partition_metadata_of(key: Any, value: Any) -> ShareRecord:
    return records.ShareGroupStatePartitionMetadata(
        key.group_id,
        _topics_of(value.initializing_topics),
        _topics_of(value.initialized_topics),
        {bytes(one.topic_id): one.topic_name for one in value.deleting_topics},
    )


def _topics_of(topics: Iterable[TopicPartitionsInfo]) -> dict[bytes, records.TopicPartitions]:
    return {bytes(one.topic_id): records.TopicPartitions(one.topic_name, of_record(one.partitions)) for one in topics}


def _of_member(tombstone: type[Any]) -> Callable[[Any], ShareRecord]:
    return lambda key: tombstone(key.group_id, key.member_id)


def _of_group(tombstone: type[Any]) -> Callable[[Any], ShareRecord]:
    return lambda key: tombstone(key.group_id)


_DECODERS: Final[dict[RecordType, tuple[Callable[[Any, Any], ShareRecord], Callable[[Any], ShareRecord]]]] = {
    RecordType.SHARE_GROUP_METADATA: (_metadata_of, _of_group(records.ShareGroupMetadataTombstone)),
    RecordType.SHARE_GROUP_MEMBER_METADATA: (_member_of, _of_member(records.ShareGroupMemberMetadataTombstone)),
    RecordType.SHARE_GROUP_TARGET_ASSIGNMENT_METADATA: (
        _target_metadata_of,
        _of_group(records.ShareGroupTargetAssignmentMetadataTombstone),
    ),
    RecordType.SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER: (
        _target_of,
        _of_member(records.ShareGroupTargetAssignmentMemberTombstone),
    ),
    RecordType.SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT: (
        _current_of,
        _of_member(records.ShareGroupCurrentMemberAssignmentTombstone),
    ),
    RecordType.SHARE_GROUP_STATE_PARTITION_METADATA: (
        _partition_metadata_of,
        _of_group(records.ShareGroupStatePartitionMetadataTombstone),
    ),
}
