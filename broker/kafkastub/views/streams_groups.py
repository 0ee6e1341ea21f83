"""Streams groups as those see them who look from outside, and what they may do to them past the protocol (KIP-1071).

What an administrator has of Kafka goes over the protocol: StreamsGroupDescribe. This is more: what a group lacks, who
has which task, and what of it is on its way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from kafkastub.state.broker_state import BrokerState
from kafkastub.views.of_groups import STREAMS, AnyGroup, AnyMember, of_member
from kafkawire.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from kafkastub.coordinator.streams.configured import ConfiguredSubtopology, ConfiguredTopology
    from kafkastub.coordinator.streams.group import StreamsGroup
    from kafkastub.coordinator.streams.member import StreamsMember
    from kafkastub.coordinator.streams.offsets import OffsetsOfTasks
    from kafkastub.coordinator.streams.tasks import TasksTuple
    from kafkastub.coordinator.streams.topology import Subtopology, TopicInfo

ROLES: Final = ("active", "standby", "warmup")

TopicPartition = tuple[str, int]
Task = tuple[str, int]
"""A subtopology's id, and a partition."""


class TasksView(NamedTuple):
    """Tasks by their role, each sorted.

    Attributes:
        active: tasks that run.
        standby: tasks whose state is kept up to date.
        warmup: tasks whose state is being built, so that the active task can move here.
    """

    active: tuple[Task, ...] = ()
    standby: tuple[Task, ...] = ()
    warmup: tuple[Task, ...] = ()


@dataclass(frozen=True, kw_only=True)
class StreamsMemberView(AnyMember):
    """A member: a thread of an instance.

    Attributes:
        process_id: shared by the members of one instance.
        user_endpoint: host and port for queries of its state; None without one.
        client_tags: the tags that describe where it runs.
        state: "STABLE", "UNREVOKED_TASKS", "UNRELEASED_TASKS" or "UNKNOWN".
        tasks: the tasks that it has now.
        pending_revocation: the tasks that it must revoke and has not revoked yet.
        target: the tasks of its target assignment.
        task_offsets, task_end_offsets: by task, the offset that its copy of the state has reached, as it last reported,
            and the end offset.
    """

    process_id: str
    rack_id: str | None
    user_endpoint: tuple[str, int] | None
    client_tags: dict[str, str]
    epoch: int
    topology_epoch: int
    state: str
    tasks: TasksView
    pending_revocation: TasksView
    target: TasksView
    task_offsets: dict[Task, int]
    task_end_offsets: dict[Task, int]

    @property
    def progress(self) -> tuple[tuple[str, int, int, int | None], ...]:
        """By subtopology and partition: the offset that its copy of the state has reached, and the end offset."""
        return tuple((*task, offset, self.task_end_offsets.get(task)) for task, offset in self.task_offsets.items())


class InternalTopicView(NamedTuple):
    """An internal topic of the application.

    Attributes:
        partitions: None if the number is not known yet.
        replication_factor: None for the broker's default.
        configs: the configuration that the application requests.
    """

    name: str
    partitions: int | None
    replication_factor: int | None
    configs: dict[str, str]


@dataclass(frozen=True)
class SubtopologyView:
    """A subtopology. It has one task for each partition.

    Attributes:
        repartition_sink_topics: the topics that it writes for a subtopology to read.
        tasks: the number of tasks; None if the topics do not determine it.
    """

    subtopology_id: str
    source_topics: tuple[str, ...]
    source_topic_regex: tuple[str, ...]
    repartition_source_topics: dict[str, InternalTopicView]
    repartition_sink_topics: tuple[str, ...]
    state_changelog_topics: dict[str, InternalTopicView]
    tasks: int | None

    @property
    def inputs(self) -> tuple[str, ...]:
        """All topics that it reads."""
        return tuple(sorted({*self.source_topics, *self.repartition_source_topics}))

    @property
    def stateful(self) -> bool:
        """Whether it has state, for which there can be standby tasks."""
        return bool(self.state_changelog_topics)


class TopologyView(NamedTuple):
    """The topology of the group.

    Attributes:
        subtopologies: by id, sorted.
        status: the status that its members receive: "MISSING_SOURCE_TOPICS", "INCORRECTLY_PARTITIONED_TOPICS",
            "MISSING_INTERNAL_TOPICS"; None if nothing is missing. It is the result of the last heartbeat. The result of
            a group's first heartbeat is not kept, as in Kafka.
        message: the status in words.
        to_create: the internal topics that do not exist.
    """

    epoch: int
    subtopologies: dict[str, SubtopologyView]
    status: str | None
    message: str | None
    to_create: tuple[str, ...]


class TaskView(NamedTuple):
    """A task.

    Attributes:
        reads: the partitions that it reads.
        keeps: the partitions that store its state.
        active: the member that runs it; None without one.
        standby, warmup: the members that have a copy of its state.
        pending_revocation: the members that must revoke it, in any role, and have not revoked it yet.
    """

    subtopology_id: str
    partition: int
    reads: tuple[TopicPartition, ...]
    keeps: tuple[TopicPartition, ...]
    active: StreamsMemberView | None
    standby: tuple[StreamsMemberView, ...]
    warmup: tuple[StreamsMemberView, ...]
    pending_revocation: tuple[StreamsMemberView, ...]


@dataclass(frozen=True, kw_only=True)
class StreamsGroupView(AnyGroup[StreamsMemberView]):
    """A streams group.

    Attributes:
        state: "Empty", "NotReady", "Assigning", "Reconciling" or "Stable".
        topology: None for a group without a record of a topology.
        shutdown_by: the id of the member that has requested the shutdown of the application; None without a request.
    """

    target_epoch: int
    assignor: str
    topology: TopologyView | None
    shutdown_by: str | None

    @property
    def subtopologies(self) -> dict[str, SubtopologyView]:
        """The subtopologies by id."""
        return {} if self.topology is None else self.topology.subtopologies

    @property
    def status(self) -> str | None:
        """The status that its members receive; None if nothing is missing."""
        return None if self.topology is None else self.topology.status

    @property
    def status_message(self) -> str | None:
        """The status in words."""
        return None if self.topology is None else self.topology.message

    @property
    def topology_epoch(self) -> int | None:
        """The epoch of the topology."""
        return None if self.topology is None else self.topology.epoch

    @property
    def to_create(self) -> tuple[str, ...]:
        """The internal topics that do not exist."""
        return () if self.topology is None else self.topology.to_create

    @property
    def tasks(self) -> tuple[Task, ...]:
        """All tasks whose number is known."""
        return tuple((one.subtopology_id, n) for one in self.subtopologies.values() for n in range(one.tasks or 0))


def view(state: BrokerState, group_id: str) -> StreamsGroupView | None:
    """A streams group; None where there is none of that id."""
    known = state.coordinator.groups.get(group_id)
    if known is None or known.group_type != STREAMS:
        return None
    group = state.coordinator.streams.find(group_id)
    assert group is not None
    return StreamsGroupView(
        group_id=group_id,
        state=group.state_name,
        epoch=group.epoch,
        target_epoch=group.target_epoch,
        assignor=state.coordinator.streams.context.assignor.name,
        topology=_topology(group),
        members={one.member_id: _member(group, one) for one in group.in_order()},
        shutdown_by=group.volatile.shutdown_by,
    )


def reads(state: BrokerState, found: StreamsGroupView, tasks: Iterable[Task]) -> tuple[TopicPartition, ...]:
    """The partitions that active tasks work on, of those that there are."""
    parts = found.subtopologies
    return tuple(
        sorted((topic, n) for name, n in tasks if name in parts for topic in _with(state, parts[name].inputs, n))
    )


def task_view(state: BrokerState, found: StreamsGroupView, task: Task) -> TaskView:
    """One task. Raises KeyError for one that there is not."""
    name, partition = task
    parts = found.subtopologies
    if name not in parts:
        raise KeyError(f"group {found.group_id!r} has no subtopology {name!r}, only {', '.join(map(repr, parts))}")
    count = parts[name].tasks
    if count is None or not 0 <= partition < count:
        many = "not known" if count is None else count
        raise KeyError(f"group {found.group_id!r} has no task {name}-{partition}: of {name!r} there are {many}")
    of_role = {role: tuple(m for m in found.members.values() if task in getattr(m.tasks, role)) for role in ROLES}
    leaving = tuple(m for m in found.members.values() if any(task in some for some in m.pending_revocation))
    changelogs = tuple((topic, partition) for topic in _with(state, parts[name].state_changelog_topics, partition))
    active = of_role["active"][0] if of_role["active"] else None
    standby, warmup = of_role["standby"], of_role["warmup"]
    return TaskView(name, partition, reads(state, found, [task]), changelogs, active, standby, warmup, leaving)


def _with(state: BrokerState, topics: Iterable[str], partition: int) -> list[str]:
    """The topics that there are, and have the partition."""
    known = ((name, state.cluster.topic(name)) for name in topics)
    return [name for name, topic in known if topic is not None and partition < len(topic.partitions)]


def _topology(group: StreamsGroup) -> TopologyView | None:
    topology, configured = group.topology, group.configured
    if topology is None:
        return None
    if configured is not None and configured.epoch != topology.epoch:
        configured = None
    error = None if configured is None else configured.error
    return TopologyView(
        topology.epoch,
        {one.subtopology_id: _subtopology(one, configured) for one in sorted(topology.subtopologies, key=_by_id)},
        None if error is None else error.status.name,
        None if error is None else error.message,
        () if configured is None else tuple(sorted(configured.internal_topics_to_create)),
    )


def _by_id(one: Subtopology) -> str:
    return one.subtopology_id


def _subtopology(one: Subtopology, configured: ConfiguredTopology | None) -> SubtopologyView:
    known: ConfiguredSubtopology | None = None
    if configured is not None and configured.subtopologies is not None:
        known = configured.subtopologies.get(one.subtopology_id)
    decided = {} if known is None else {**known.repartition_source_topics, **known.state_changelog_topics}
    counts = {name: topic.number_of_partitions for name, topic in decided.items()}
    return SubtopologyView(
        one.subtopology_id,
        tuple(sorted(one.source_topics)),
        tuple(sorted(one.source_topic_regex)),
        {topic.name: _internal(topic, counts) for topic in one.repartition_source_topics},
        tuple(sorted(one.repartition_sink_topics)),
        {topic.name: _internal(topic, counts) for topic in one.state_changelog_topics},
        None if known is None else known.number_of_tasks,
    )


def _internal(topic: TopicInfo, counts: Mapping[str, int]) -> InternalTopicView:
    partitions = counts.get(topic.name, topic.partitions) or None
    return InternalTopicView(topic.name, partitions, topic.replication_factor or None, dict(topic.topic_configs))


def _member(group: StreamsGroup, member: StreamsMember) -> StreamsMemberView:
    said = group.volatile.offsets_of(member.member_id)
    return StreamsMemberView(
        **of_member(member),
        process_id=member.process_id,
        rack_id=member.rack_id,
        user_endpoint=None if member.user_endpoint is None else (member.user_endpoint.host, member.user_endpoint.port),
        client_tags=dict(member.client_tags),
        epoch=member.member_epoch,
        topology_epoch=member.topology_epoch,
        state=member.state.name,
        tasks=_tasks(member.assigned.without_epochs()),
        pending_revocation=_tasks(member.pending_revocation.without_epochs()),
        target=_tasks(group.target_of(member.member_id)),
        task_offsets=_offsets(said.offsets),
        task_end_offsets=_offsets(said.end_offsets),
    )


def _tasks(tasks: TasksTuple) -> TasksView:
    return TasksView(*(tuple(sorted((name, n) for name, some in one.items() for n in some)) for one in tasks))


def _offsets(told: OffsetsOfTasks) -> dict[Task, int]:
    return {(name, n): told[name][n] for name in sorted(told) for n in sorted(told[name])}


def ask_for_shutdown(state: BrokerState, group_id: str, name: str) -> str:
    """Every member is told from its next heartbeat on that this one wants the application to end; gives its member id.

    Raises KeyError for a member that there is not, KafkaError GROUP_ID_NOT_FOUND.
    """
    found, group = view(state, group_id), state.coordinator.groups.get(group_id)
    if found is None or group is None:
        raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a streams group.")
    member_id = found.member(name).member_id
    streams = state.coordinator.streams.find(group_id)
    assert streams is not None
    streams.volatile.ask_for_shutdown(member_id)
    return member_id
