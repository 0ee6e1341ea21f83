"""What a StreamsGroupHeartbeat must say, whatever the group.

Kafka: KafkaApis.handleStreamsGroupHeartbeat; GroupCoordinatorService.throwIfStreamsGroupHeartbeatRequestIs…
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from kafkastub.coordinator.modern.membership import LEAVE_GROUP_STATIC_MEMBER_EPOCH, check_not_empty, invalid
from kafkastub.coordinator.streams.configured import ConfiguredSubtopology
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.streams_group_heartbeat_request import StreamsGroupHeartbeatRequest, TaskIds, Topology


def required_topics(topology: Topology) -> Iterator[str]:
    """The topics that a request's topology names, in the order of the request."""
    for one in topology.subtopologies:
        yield from one.source_topics
        yield from one.repartition_sink_topics
        for topic in (*one.repartition_source_topics, *one.state_changelog_topics):
            yield topic.name


def check_names(names: Iterable[str], internal: Collection[str], why_not: Callable[[str], str | None]) -> None:
    """Raises STREAMS_INVALID_TOPOLOGY for topics of the broker, and for names that no topic may have.

    Args:
        names: those that the topology names.
        internal: the topics of the broker.
        why_not: what speaks against a name.
    """
    prohibited, invalid = [], []
    for name in names:
        if name in internal:
            prohibited.append(name)
        elif why_not(name) is not None:
            invalid.append(name)
    if prohibited:
        what = f"Use of Kafka internal topics {','.join(prohibited)} in a Kafka Streams topology is prohibited."
        raise KafkaError(ErrorCode.STREAMS_INVALID_TOPOLOGY, what)
    if invalid:
        what = f"Topic names {','.join(invalid)} are not valid topic names."
        raise KafkaError(ErrorCode.STREAMS_INVALID_TOPOLOGY, what)


def check(request: StreamsGroupHeartbeatRequest, has_statics: bool) -> None:
    """Raises INVALID_REQUEST, STREAMS_INVALID_TOPOLOGY, with Kafka's texts.

    Args:
        has_statics: as `StreamsRules` has it.
    """
    topology = request.topology
    if not has_statics:
        _check_as_before_4_4(request)
    if topology is not None and any(one.source_topic_regex for one in topology.subtopologies):
        raise invalid("Regular expressions for source topics are not supported yet.")
    check_not_empty(request, "member_id", "group_id", "instance_id", "rack_id")
    epoch = request.member_epoch
    if epoch == 0:
        _check_join(request)
    elif epoch == LEAVE_GROUP_STATIC_MEMBER_EPOCH:
        if request.instance_id is None:
            raise invalid("InstanceId can't be null.")
    elif epoch < LEAVE_GROUP_STATIC_MEMBER_EPOCH:
        raise invalid(f"MemberEpoch is {epoch}, but must be greater than or equal to -2.")
    tasks = (request.active_tasks, request.standby_tasks, request.warmup_tasks)
    if any(one is not None for one in tasks) and any(one is None for one in tasks):
        raise invalid("If one task-type is non-null, all must be non-null.")
    if epoch != 0 and topology is not None:
        raise invalid("Topology can only be provided when (re-)joining.")


def _check_as_before_4_4(request: StreamsGroupHeartbeatRequest) -> None:
    if request.instance_id is not None:
        raise invalid("Static membership is not yet supported.")
    if request.task_offsets is not None:
        raise invalid("TaskOffsets are not supported yet.")
    if request.task_end_offsets is not None:
        raise invalid("TaskEndOffsets are not supported yet.")
    if request.warmup_tasks:
        raise invalid("WarmupTasks are not supported yet.")


def _check_join(request: StreamsGroupHeartbeatRequest) -> None:
    if request.rebalance_timeout_ms == -1:
        raise invalid("RebalanceTimeoutMs must be provided in first request.")
    kinds = (("Active", request.active_tasks), ("Standby", request.standby_tasks), ("Warmup", request.warmup_tasks))
    for kind, tasks in kinds:
        if tasks is None or tasks:
            raise invalid(f"{kind}Tasks must be empty when (re-)joining.")
    if request.topology is None:
        raise invalid("Topology must be non-null when (re-)joining.")
    for one in request.topology.subtopologies:
        for topic in one.state_changelog_topics:
            if topic.partitions:
                what = f"Changelog topic {topic.name} must have an undefined partition count"
                raise KafkaError(ErrorCode.STREAMS_INVALID_TOPOLOGY, f"{what}, but it is set to {topic.partitions}.")


def check_tasks(subtopologies: Mapping[str, ConfiguredSubtopology], kinds: Iterable[Sequence[TaskIds] | None]) -> None:
    """Raises INVALID_REQUEST where a member has tasks that there are not. Kafka: throwIfRequestContainsInvalidTasks."""
    for tasks in kinds:
        for one in tasks or ():
            name = one.subtopology_id
            subtopology = subtopologies.get(name)
            if subtopology is None:
                raise invalid(f"Subtopology {name} does not exist in the topology.")
            count = subtopology.number_of_tasks
            for partition in one.partitions:
                if not 0 <= partition < count:
                    what = f"Task {partition} for subtopology {name} is invalid."
                    raise invalid(f"{what} Number of tasks for this subtopology: {count}")
