"""The records of share groups as keys and values of `__consumer_offsets`, and back; loaded with the first of them.

All values have one version, 0, and are written as Apache Kafka 4.4 writes them (GroupCoordinatorRecordHelpers); the
timestamp of the target (4.4) is a tagged field, which older brokers skip and which is missing in what those have
written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from kafkastub.coordinator.modern.partition_sets import known_order, of_record, topics_in_order
from kafkastub.coordinator.modern.records import Partitions
from kafkastub.coordinator.records import ShareRecord
from kafkastub.coordinator.share import records
from kafkastub.state.internal_topics.group_codec import Form, GroupCodec, of_group, of_member
from kafkawire.messages.share_group_current_member_assignment_value import (
    ShareGroupCurrentMemberAssignmentValue,
    TopicPartitions,
)
from kafkawire.messages.share_group_member_metadata_value import ShareGroupMemberMetadataValue
from kafkawire.messages.share_group_metadata_value import ShareGroupMetadataValue
from kafkawire.messages.share_group_state_partition_metadata_value import (
    ShareGroupStatePartitionMetadataValue,
    TopicInfo,
    TopicPartitionsInfo,
)
from kafkawire.messages.share_group_target_assignment_member_value import (
    ShareGroupTargetAssignmentMemberValue,
    TopicPartition,
)
from kafkawire.messages.share_group_target_assignment_metadata_value import ShareGroupTargetAssignmentMetadataValue
from kafkawire.offsets_topic import RecordType
from kafkawire.schema import Message

# -- encoding ----------------------------------------------------------------------------------------------------------


def _metadata(record: records.ShareGroupMetadata) -> Message:
    return ShareGroupMetadataValue(record.epoch, record.metadata_hash)


def _member(record: records.ShareGroupMemberMetadata) -> Message:
    return ShareGroupMemberMetadataValue(
        record.rack_id, record.client_id, record.client_host, record.subscribed_topic_names
    )


def _target_metadata(record: records.ShareGroupTargetAssignmentMetadata) -> Message:
    return ShareGroupTargetAssignmentMetadataValue(record.assignment_epoch, record.assignment_timestamp)


def _target(record: records.ShareGroupTargetAssignmentMember) -> Message:
    topics = [TopicPartition(one, list(known_order(some))) for one, some in record.partitions.items()]
    return ShareGroupTargetAssignmentMemberValue(topics)


def _current(record: records.ShareGroupCurrentMemberAssignment) -> Message:
    topics = [TopicPartitions(one, list(known_order(some))) for one, some in record.assigned.items()]
    return ShareGroupCurrentMemberAssignmentValue(
        record.member_epoch, record.previous_member_epoch, record.state, topics
    )


def _partition_metadata(record: records.ShareGroupStatePartitionMetadata) -> Message:
    return ShareGroupStatePartitionMetadataValue(
        _topics(record.initializing),
        _topics(record.initialized),
        [TopicInfo(one, record.deleting[one]) for one in topics_in_order(record.deleting)],
    )


def _topics(topics: Mapping[bytes, records.TopicPartitions]) -> list[TopicPartitionsInfo]:
    return [
        TopicPartitionsInfo(one, topics[one].name, list(known_order(topics[one].partitions)))
        for one in topics_in_order(topics)
    ]


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


def _partitions_of(topics: Iterable[Any]) -> Partitions:
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


_CODEC: Final = GroupCodec[ShareRecord](
    Form(
        RecordType.SHARE_GROUP_METADATA,
        of_group,
        records.ShareGroupMetadata,
        records.ShareGroupMetadataTombstone,
        _metadata,
        _metadata_of,
    ),
    Form(
        RecordType.SHARE_GROUP_MEMBER_METADATA,
        of_member,
        records.ShareGroupMemberMetadata,
        records.ShareGroupMemberMetadataTombstone,
        _member,
        _member_of,
    ),
    Form(
        RecordType.SHARE_GROUP_TARGET_ASSIGNMENT_METADATA,
        of_group,
        records.ShareGroupTargetAssignmentMetadata,
        records.ShareGroupTargetAssignmentMetadataTombstone,
        _target_metadata,
        _target_metadata_of,
    ),
    Form(
        RecordType.SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER,
        of_member,
        records.ShareGroupTargetAssignmentMember,
        records.ShareGroupTargetAssignmentMemberTombstone,
        _target,
        _target_of,
    ),
    Form(
        RecordType.SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT,
        of_member,
        records.ShareGroupCurrentMemberAssignment,
        records.ShareGroupCurrentMemberAssignmentTombstone,
        _current,
        _current_of,
    ),
    Form(
        RecordType.SHARE_GROUP_STATE_PARTITION_METADATA,
        of_group,
        records.ShareGroupStatePartitionMetadata,
        records.ShareGroupStatePartitionMetadataTombstone,
        _partition_metadata,
        _partition_metadata_of,
    ),
)
encode: Final = _CODEC.encode
decode: Final = _CODEC.decode
