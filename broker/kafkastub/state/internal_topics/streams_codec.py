"""The records of streams groups as keys and values of `__consumer_offsets`, and back; loaded with the first of them.

All values have one version, 0, and are written as Apache Kafka 4.4 writes them (StreamsCoordinatorRecordHelpers). What
came with 4.2 to 4.4 are tagged fields, which older brokers skip and which are missing in what those have written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

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
from kafkastub.state.internal_topics.group_codec import Field, Form, GroupCodec, form
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
_STANDS: Final = ("member_epoch", "previous_member_epoch", "state")
"""Fields of a current assignment that are the same in its value."""

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


def _read_topology(value: Any) -> dict[str, Any]:
    return {"topology": Topology.from_record(value)}


def _written_topology(record: records.StreamsGroupTopology) -> dict[str, Any]:
    topology = record.topology
    return {"epoch": topology.epoch, "subtopologies": [_subtopology(one) for one in topology.subtopologies]}


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


def _read_target(value: Any) -> dict[str, Any]:
    return {"tasks": TasksTuple(*(_tasks_of(getattr(value, kind)) for kind in _KINDS))}


def _written_target(record: records.StreamsGroupTargetAssignmentMember) -> dict[str, Any]:
    kinds = zip(_KINDS, record.tasks, strict=True)
    return {kind: [TaskIds(*one) for one in written(some)] for kind, some in kinds}


def _read_current(value: Any) -> dict[str, Any]:
    fields = {name: getattr(value, name) for name in _STANDS}
    return fields | {
        "assigned": _read_tasks(value, ""),
        "pending_revocation": _read_tasks(value, "_pending_revocation"),
    }


def _written_current(record: records.StreamsGroupCurrentMemberAssignment) -> dict[str, Any]:
    fields = {name: getattr(record, name) for name in _STANDS}
    tasks = _written_tasks(record.assigned, "") | _written_tasks(record.pending_revocation, "_pending_revocation")
    return fields | tasks


def _read_tasks(value: Any, which: str) -> TasksTupleWithEpochs:
    active, standby, warmup = (getattr(value, kind + which) for kind in _KINDS)
    epochs = epochs_of(((one, one.assignment_epochs) for one in active), value.member_epoch)
    return TasksTupleWithEpochs(epochs, _tasks_of(standby), _tasks_of(warmup))


def _written_tasks(tasks: records.EpochsOfKinds, which: str) -> dict[str, Any]:
    active, *others = tasks
    told: list[list[Any]] = [written_epochs(active), *map(written, others)]
    return {kind + which: [CurrentTaskIds(*one) for one in of_kind] for kind, of_kind in zip(_KINDS, told, strict=True)}


def _tasks_of(told: Iterable[Any]) -> Tasks:
    return in_map_order({one.subtopology_id: frozenset(one.partitions) for one in told})


CODEC: Final = GroupCodec(
    {
        RecordType.STREAMS_GROUP_METADATA: form(
            records.StreamsGroupMetadata,
            assignment_configs=Field(_read_pairs, _written_pairs(LastAssignmentConfig), "last_assignment_configs"),
        ),
        RecordType.STREAMS_GROUP_TOPOLOGY: Form(records.StreamsGroupTopology, _written_topology, _read_topology),
        RecordType.STREAMS_GROUP_MEMBER_METADATA: form(
            records.StreamsGroupMemberMetadata,
            user_endpoint=Field(_read_endpoint, _written_endpoint),
            client_tags=Field(_read_pairs, _written_pairs(KeyValue)),
        ),
        RecordType.STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA: form(records.StreamsGroupTargetAssignmentMetadata),
        RecordType.STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER: Form(
            records.StreamsGroupTargetAssignmentMember, _written_target, _read_target
        ),
        RecordType.STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT: Form(
            records.StreamsGroupCurrentMemberAssignment, _written_current, _read_current
        ),
    }
)
