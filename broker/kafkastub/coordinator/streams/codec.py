"""The records of streams groups as keys and values of `__consumer_offsets`, and back; loaded with the first of them.

All values have one version, 0, and are written as Apache Kafka 4.4 writes them (StreamsCoordinatorRecordHelpers). What
came with 4.2 to 4.4 are tagged fields, which older brokers skip and which are missing in what those have written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from kafkastub.coordinator.modern.codec import Field, Form, GroupCodec, form
from kafkastub.coordinator.streams import records
from kafkastub.coordinator.streams.tasks import (
    Tasks,
    TasksTuple,
    TasksTupleWithEpochs,
    epochs_of,
    in_map_order,
    written,
    written_epochs,
)
from kafkastub.coordinator.streams.topology import Subtopology, TopicInfo, Topology
from kafkawire.messages.streams_group_current_member_assignment_value import TaskIds as CurrentTaskIds
from kafkawire.messages.streams_group_member_metadata_value import Endpoint, KeyValue
from kafkawire.messages.streams_group_metadata_value import LastAssignmentConfig
from kafkawire.messages.streams_group_target_assignment_member_value import TaskIds
from kafkawire.messages.streams_group_topology_value import CopartitionGroup as CopartitionGroupValue
from kafkawire.messages.streams_group_topology_value import Subtopology as SubtopologyValue
from kafkawire.messages.streams_group_topology_value import TopicConfig
from kafkawire.messages.streams_group_topology_value import TopicInfo as TopicInfoValue
from kafkawire.offsets_topic import RecordType

_KINDS: Final = ("active_tasks", "standby_tasks", "warmup_tasks")

# -- names and values --------------------------------------------------------------------------------------------------


def _read_pairs(told: Iterable[Any] | None) -> records.Pairs:
    return tuple((one.key, one.value) for one in told or ())


def _written_pairs(struct: Callable[[str, str], Any]) -> Callable[[records.Pairs], list[Any]]:
    return lambda pairs: [struct(*pair) for pair in pairs]


def _read_endpoint(told: Endpoint | None) -> records.Endpoint | None:
    return None if told is None else records.Endpoint(told.host, told.port)


def _written_endpoint(endpoint: records.Endpoint | None) -> Endpoint | None:
    return None if endpoint is None else Endpoint(*endpoint)


# -- the topology ------------------------------------------------------------------------------------------------------


def _read_topology(value: Any) -> tuple[Topology]:
    return (Topology.from_record(value),)


def _written_topology(record: records.StreamsGroupTopology) -> tuple[Any, ...]:
    topology = record.topology
    return topology.epoch, [_subtopology(one) for one in topology.subtopologies]


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


# -- tasks -------------------------------------------------------------------------------------------------------------


def _read_target(value: Any) -> tuple[TasksTuple]:
    return (TasksTuple(*(_tasks_of(getattr(value, kind)) for kind in _KINDS)),)


def _written_target(record: records.StreamsGroupTargetAssignmentMember) -> list[list[TaskIds]]:
    return [[TaskIds(*one) for one in written(some)] for some in record.tasks]


def _read_current(value: Any) -> tuple[Any, ...]:
    assigned, pending_revocation = _read_tasks(value, ""), _read_tasks(value, "_pending_revocation")
    return value.member_epoch, value.previous_member_epoch, value.state, assigned, pending_revocation


def _written_current(record: records.StreamsGroupCurrentMemberAssignment) -> tuple[Any, ...]:
    tasks = *_written_tasks(record.assigned), *_written_tasks(record.pending_revocation)
    return record.member_epoch, record.previous_member_epoch, record.state, *tasks


def _read_tasks(value: Any, which: str) -> TasksTupleWithEpochs:
    active, standby, warmup = (getattr(value, kind + which) for kind in _KINDS)
    epochs = epochs_of(((one, one.assignment_epochs) for one in active), value.member_epoch)
    return TasksTupleWithEpochs(epochs, _tasks_of(standby), _tasks_of(warmup))


def _written_tasks(tasks: records.EpochsOfKinds) -> list[list[CurrentTaskIds]]:
    active, *others = tasks
    told: list[list[Any]] = [written_epochs(active), *map(written, others)]
    return [[CurrentTaskIds(*one) for one in of_kind] for of_kind in told]


def _tasks_of(told: Iterable[Any]) -> Tasks:
    return in_map_order({one.subtopology_id: frozenset(one.partitions) for one in told})


CODEC: Final = GroupCodec(
    form(
        RecordType.STREAMS_GROUP_METADATA,
        records.StreamsGroupMetadata,
        assignment_configs=Field(_read_pairs, _written_pairs(LastAssignmentConfig)),
    ),
    Form(RecordType.STREAMS_GROUP_TOPOLOGY, records.StreamsGroupTopology, _written_topology, _read_topology),
    form(
        RecordType.STREAMS_GROUP_MEMBER_METADATA,
        records.StreamsGroupMemberMetadata,
        user_endpoint=Field(_read_endpoint, _written_endpoint),
        client_tags=Field(_read_pairs, _written_pairs(KeyValue)),
    ),
    form(RecordType.STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA, records.StreamsGroupTargetAssignmentMetadata),
    Form(
        RecordType.STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER,
        records.StreamsGroupTargetAssignmentMember,
        _written_target,
        _read_target,
    ),
    Form(
        RecordType.STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT,
        records.StreamsGroupCurrentMemberAssignment,
        _written_current,
        _read_current,
    ),
)
