"""The records of share groups as keys and values of `__consumer_offsets`, and back; loaded with the first of them.

They are written as Apache Kafka 4.4 writes them; the timestamp of the target (4.4) is a tagged field, which older
brokers skip and which is missing in what those have written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from kafkastub.coordinator.modern.codec import Field, GroupCodec, form
from kafkastub.coordinator.modern.partition_sets import iteration_order, of_record, topics_in_order
from kafkastub.coordinator.modern.records import Partitions
from kafkastub.coordinator.share import records
from kafkawire.messages.share_group_current_member_assignment_value import TopicPartitions
from kafkawire.messages.share_group_state_partition_metadata_value import TopicInfo, TopicPartitionsInfo
from kafkawire.messages.share_group_target_assignment_member_value import TopicPartition
from kafkawire.offsets_topic import RecordType


def _partitions(topic: Callable[..., Any]) -> Field:
    """Partitions by topic id, of which the value has such structs."""

    def read(topics: Iterable[TopicPartitions]) -> Partitions:
        return {bytes(one.topic_id): of_record(one.partitions) for one in topics}

    return Field(read, lambda partitions: [topic(one, list(iteration_order(some))) for one, some in partitions.items()])


def _read_topics(topics: Iterable[TopicPartitionsInfo]) -> dict[bytes, records.TopicPartitions]:
    return {bytes(one.topic_id): records.TopicPartitions(one.topic_name, of_record(one.partitions)) for one in topics}


def _written_topics(topics: Mapping[bytes, records.TopicPartitions]) -> list[TopicPartitionsInfo]:
    return [
        TopicPartitionsInfo(one, topics[one].name, list(iteration_order(topics[one].partitions)))
        for one in topics_in_order(topics)
    ]


def _read_names(topics: Iterable[TopicInfo]) -> dict[bytes, str]:
    return {bytes(one.topic_id): one.topic_name for one in topics}


def _written_names(names: Mapping[bytes, str]) -> list[TopicInfo]:
    return [TopicInfo(one, names[one]) for one in topics_in_order(names)]


CODEC: Final = GroupCodec(
    form(RecordType.SHARE_GROUP_METADATA, records.ShareGroupMetadata),
    form(RecordType.SHARE_GROUP_MEMBER_METADATA, records.ShareGroupMemberMetadata, subscribed_topic_names=Field(tuple)),
    form(RecordType.SHARE_GROUP_TARGET_ASSIGNMENT_METADATA, records.ShareGroupTargetAssignmentMetadata),
    form(
        RecordType.SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER,
        records.ShareGroupTargetAssignmentMember,
        partitions=_partitions(TopicPartition),
    ),
    form(
        RecordType.SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT,
        records.ShareGroupCurrentMemberAssignment,
        assigned=_partitions(TopicPartitions),
    ),
    form(
        RecordType.SHARE_GROUP_STATE_PARTITION_METADATA,
        records.ShareGroupStatePartitionMetadata,
        initializing=Field(_read_topics, _written_topics),
        initialized=Field(_read_topics, _written_topics),
        deleting=Field(_read_names, _written_names),
    ),
)
