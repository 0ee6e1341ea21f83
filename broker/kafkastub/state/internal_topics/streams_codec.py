"""The records of streams groups as keys and values of `__consumer_offsets`, and back; loaded with the first of them.

All values have one version, 0, and are written as Apache Kafka 4.4 writes them (StreamsCoordinatorRecordHelpers). What
came with 4.2 to 4.4 are tagged fields, which older brokers skip and which are missing in what those have written.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from kafkastub.coordinator.records import StreamsRecord
from kafkastub.coordinator.streams import records
from kafkastub.coordinator.streams.tasks import (
    EpochsOfTasks,
    Tasks,
    TasksTuple,
    TasksTupleWithEpochs,
    epochs_of,
    in_map_order,
    written,
    written_epochs,
)
from kafkastub.coordinator.streams.topology import Subtopology, TopicInfo, Topology
from kafkastub.state.internal_topics.group_codec import Form, GroupCodec, of_group, of_member
from kafkawire.messages.streams_group_current_member_assignment_value import (
    StreamsGroupCurrentMemberAssignmentValue,
)
from kafkawire.messages.streams_group_current_member_assignment_value import TaskIds as CurrentTaskIds
from kafkawire.messages.streams_group_member_metadata_value import (
    Endpoint,
    KeyValue,
    StreamsGroupMemberMetadataValue,
)
from kafkawire.messages.streams_group_metadata_value import LastAssignmentConfig, StreamsGroupMetadataValue
from kafkawire.messages.streams_group_target_assignment_member_value import (
    StreamsGroupTargetAssignmentMemberValue,
    TaskIds,
)
from kafkawire.messages.streams_group_target_assignment_metadata_value import (
    StreamsGroupTargetAssignmentMetadataValue,
)
from kafkawire.messages.streams_group_topology_value import CopartitionGroup as CopartitionGroupValue
from kafkawire.messages.streams_group_topology_value import StreamsGroupTopologyValue, TopicConfig
from kafkawire.messages.streams_group_topology_value import Subtopology as SubtopologyValue
from kafkawire.messages.streams_group_topology_value import TopicInfo as TopicInfoValue
from kafkawire.offsets_topic import RecordType
from kafkawire.schema import Message

# -- encoding ----------------------------------------------------------------------------------------------------------


def _metadata(record: records.StreamsGroupMetadata) -> Message:
    return StreamsGroupMetadataValue(
        record.epoch,
        record.metadata_hash,
        record.validated_topology_epoch,
        [LastAssignmentConfig(*pair) for pair in record.assignment_configs],
        record.stored_description_topology_epoch,
        record.failed_description_topology_epoch,
    )


def _topology(record: records.StreamsGroupTopology) -> Message:
    return StreamsGroupTopologyValue(
        record.topology.epoch, [_subtopology(one) for one in record.topology.subtopologies]
    )


def _subtopology(one: Subtopology) -> SubtopologyValue:
    return SubtopologyValue(
        one.subtopology_id,
        one.source_topics,
        one.source_topic_regex,
        [_topic_info(topic) for topic in one.state_changelog_topics],
        one.repartition_sink_topics,
        [_topic_info(topic) for topic in one.repartition_source_topics],
        [
            CopartitionGroupValue(group.source_topics, group.source_topic_regex, group.repartition_source_topics)
            for group in one.copartition_groups
        ],
    )


def _topic_info(topic: TopicInfo) -> TopicInfoValue:
    configs = [TopicConfig(*pair) for pair in topic.topic_configs]
    return TopicInfoValue(topic.name, topic.partitions, topic.replication_factor, configs)


def _member(record: records.StreamsGroupMemberMetadata) -> Message:
    return StreamsGroupMemberMetadataValue(
        record.instance_id,
        record.rack_id,
        record.client_id,
        record.client_host,
        record.rebalance_timeout_ms,
        record.topology_epoch,
        record.process_id,
        None if record.user_endpoint is None else Endpoint(*record.user_endpoint),
        [KeyValue(*pair) for pair in record.client_tags],
    )


def _target_metadata(record: records.StreamsGroupTargetAssignmentMetadata) -> Message:
    return StreamsGroupTargetAssignmentMetadataValue(record.assignment_epoch, record.assignment_timestamp)


def _target(record: records.StreamsGroupTargetAssignmentMember) -> Message:
    active, standby, warmup = ([TaskIds(*one) for one in written(some)] for some in record.tasks)
    return StreamsGroupTargetAssignmentMemberValue(active, standby, warmup)


def _current(record: records.StreamsGroupCurrentMemberAssignment) -> Message:
    return StreamsGroupCurrentMemberAssignmentValue(
        record.member_epoch,
        record.previous_member_epoch,
        record.state,
        *_current_tasks(record.assigned),
        *_current_tasks(record.pending_revocation),
    )


def _current_tasks(tasks: records.EpochsOfKinds) -> Iterable[list[CurrentTaskIds]]:
    active, *others = tasks
    yield [CurrentTaskIds(*one) for one in written_epochs(active)]
    for some in others:
        yield [CurrentTaskIds(*one) for one in written(some)]


# -- decoding ----------------------------------------------------------------------------------------------------------


def _metadata_of(key: Any, value: Any) -> StreamsRecord:
    return records.StreamsGroupMetadata(
        key.group_id,
        value.epoch,
        value.metadata_hash,
        value.validated_topology_epoch,
        tuple((one.key, one.value) for one in value.last_assignment_configs or ()),
        value.stored_description_topology_epoch,
        value.failed_description_topology_epoch,
    )


def _topology_of(key: Any, value: Any) -> StreamsRecord:
    return records.StreamsGroupTopology(key.group_id, Topology.from_record(value))


def _member_of(key: Any, value: Any) -> StreamsRecord:
    endpoint = value.user_endpoint
    return records.StreamsGroupMemberMetadata(
        key.group_id,
        key.member_id,
        value.instance_id,
        value.rack_id,
        value.client_id,
        value.client_host,
        value.rebalance_timeout_ms,
        value.topology_epoch,
        value.process_id,
        None if endpoint is None else records.Endpoint(endpoint.host, endpoint.port),
        tuple((one.key, one.value) for one in value.client_tags),
    )


def _target_metadata_of(key: Any, value: Any) -> StreamsRecord:
    return records.StreamsGroupTargetAssignmentMetadata(
        key.group_id, value.assignment_epoch, value.assignment_timestamp
    )


def _target_of(key: Any, value: Any) -> StreamsRecord:
    tasks = TasksTuple(_tasks_of(value.active_tasks), _tasks_of(value.standby_tasks), _tasks_of(value.warmup_tasks))
    return records.StreamsGroupTargetAssignmentMember(key.group_id, key.member_id, tasks)


def _current_of(key: Any, value: Any) -> StreamsRecord:
    epoch = value.member_epoch
    return records.StreamsGroupCurrentMemberAssignment(
        key.group_id,
        key.member_id,
        epoch,
        value.previous_member_epoch,
        value.state,
        TasksTupleWithEpochs(
            _epochs_of(value.active_tasks, epoch), _tasks_of(value.standby_tasks), _tasks_of(value.warmup_tasks)
        ),
        TasksTupleWithEpochs(
            _epochs_of(value.active_tasks_pending_revocation, epoch),
            _tasks_of(value.standby_tasks_pending_revocation),
            _tasks_of(value.warmup_tasks_pending_revocation),
        ),
    )


def _tasks_of(told: Iterable[Any]) -> Tasks:
    return in_map_order({one.subtopology_id: frozenset(one.partitions) for one in told})


def _epochs_of(told: Iterable[Any], member_epoch: int) -> EpochsOfTasks:
    return epochs_of(((one, one.assignment_epochs) for one in told), member_epoch)


_CODEC: Final = GroupCodec[StreamsRecord](
    Form(
        RecordType.STREAMS_GROUP_METADATA,
        of_group,
        records.StreamsGroupMetadata,
        records.StreamsGroupMetadataTombstone,
        _metadata,
        _metadata_of,
    ),
    Form(
        RecordType.STREAMS_GROUP_TOPOLOGY,
        of_group,
        records.StreamsGroupTopology,
        records.StreamsGroupTopologyTombstone,
        _topology,
        _topology_of,
    ),
    Form(
        RecordType.STREAMS_GROUP_MEMBER_METADATA,
        of_member,
        records.StreamsGroupMemberMetadata,
        records.StreamsGroupMemberMetadataTombstone,
        _member,
        _member_of,
    ),
    Form(
        RecordType.STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA,
        of_group,
        records.StreamsGroupTargetAssignmentMetadata,
        records.StreamsGroupTargetAssignmentMetadataTombstone,
        _target_metadata,
        _target_metadata_of,
    ),
    Form(
        RecordType.STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER,
        of_member,
        records.StreamsGroupTargetAssignmentMember,
        records.StreamsGroupTargetAssignmentMemberTombstone,
        _target,
        _target_of,
    ),
    Form(
        RecordType.STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT,
        of_member,
        records.StreamsGroupCurrentMemberAssignment,
        records.StreamsGroupCurrentMemberAssignmentTombstone,
        _current,
        _current_of,
    ),
)
encode: Final = _CODEC.encode
decode: Final = _CODEC.decode
