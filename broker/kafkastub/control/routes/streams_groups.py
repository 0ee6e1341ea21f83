"""/v1/streams-groups: groups of Kafka Streams, and what `stub.streams_groups` is in Python (docs/streams-groups.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field, StrictInt

from kafkastub.control.hosted import Hosted
from kafkastub.control.routes.of_groups import (
    Configs,
    GroupsQuery,
    MemberGiven,
    Timeout,
    Waits,
    add_end_session,
    configured,
    done,
    listed,
    loaded,
    not_in_time,
    there,
)
from kafkastub.control.routes.shapes import MOST_LISTED, Body, Names, Text, UntilRefused, body_example, example

if TYPE_CHECKING:
    from kafkastub.state.broker_state import BrokerState
    from kafkastub.views.streams_group_waits import Wanted
    from kafkastub.views.streams_groups import (
        InternalTopicView,
        StreamsGroupView,
        StreamsMemberView,
        SubtopologyView,
        Task,
        TasksView,
    )


class StreamsGroupInfo(BaseModel):
    """A streams group."""

    model_config = example(
        group="app", state="Stable", epoch=3, target_epoch=3, members=2, tasks=4, status=None, shutdown_by=None
    )

    group: str
    state: str = Field(description="Empty, NotReady, Assigning, Reconciling or Stable")
    epoch: int
    target_epoch: int = Field(description="of the target assignment")
    members: int
    tasks: int = Field(description="as far as it is known how many there are")
    status: str | None = Field(description="what its members are told that it lacks: MISSING_SOURCE_TOPICS")
    shutdown_by: str | None = Field(description="member id of who wants the whole application to end")


class StreamsGroupList(BaseModel):
    """Streams groups in the order of their creation."""

    groups: list[StreamsGroupInfo]
    total: int = Field(description="how many there are, listed or not")


class TaskInfo(BaseModel):
    """A task."""

    subtopology: str
    partition: int


class TasksInfo(BaseModel):
    """Tasks by what is done with them."""

    active: list[TaskInfo]
    standby: list[TaskInfo]
    warmup: list[TaskInfo]


class TaskOffsetInfo(TaskInfo):
    """How far a copy of a task's state is."""

    offset: int
    end_offset: int | None


class StreamsMemberInfo(BaseModel):
    """A member."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    host: str
    process_id: str = Field(description="shared by the members of one instance")
    rack_id: str | None
    user_endpoint: str | None = Field(description="where it answers questions about its state")
    client_tags: dict[str, str]
    epoch: int
    topology_epoch: int
    state: str = Field(description="STABLE, UNREVOKED_TASKS or UNRELEASED_TASKS")
    tasks: TasksInfo = Field(description="what is the member's now")
    pending_revocation: TasksInfo = Field(description="what it is told to let go of, and has not")
    target: TasksInfo = Field(description="what it is to have in the end")
    task_offsets: list[TaskOffsetInfo]


class InternalTopicInfo(BaseModel):
    """A topic of the application's own."""

    name: str
    partitions: int | None = Field(description="null where that is not known yet")
    replication_factor: int | None = Field(description="null for the broker's default")
    configs: dict[str, str]


class SubtopologyInfo(BaseModel):
    """A part of the application of which there is a task for each partition."""

    subtopology: str
    source_topics: list[str]
    source_topic_regex: list[str]
    repartition_source_topics: list[InternalTopicInfo]
    repartition_sink_topics: list[str]
    state_changelog_topics: list[InternalTopicInfo]
    tasks: int | None = Field(description="how many; null where the topics do not do for that")


class StreamsGroupDetail(StreamsGroupInfo):
    """A streams group with what it runs, and who has what of it."""

    assignor: str
    topology_epoch: int | None
    status_message: str | None = Field(description="what it lacks, in words")
    to_create: list[str] = Field(description="the internal topics that are not there")
    subtopologies: list[SubtopologyInfo]
    member_list: list[StreamsMemberInfo]


class TaskGiven(Body):
    """A task that somebody is to have."""

    subtopology: Text
    partition: StrictInt


Given = Names[Annotated[UntilRefused[TaskGiven], Field(max_length=MOST_LISTED)]]


Status = Literal["MISSING_SOURCE_TOPICS", "INCORRECTLY_PARTITIONED_TOPICS", "MISSING_INTERNAL_TOPICS"]


class StreamsWaitQuery(Body):
    """All of what is said has to be so; tasks are told in a body."""

    status: Status | None = Field(None, description="its members are told that it lacks this")
    members: int | None = Field(None, ge=0, description="how many there are")
    timeout: Timeout = 5


class StreamsWanted(Body):
    """All of what is said has to be so; where nothing is, somebody works on every task, and all is settled."""

    model_config = body_example(active={"one": [{"subtopology": "0", "partition": 0}]})

    active: Given | None = Field(None, description="exactly these tasks, by name of a member")
    standby: Given | None = Field(None, description="likewise")
    warmup: Given | None = Field(None, description="likewise")
    status: Status | None = Field(None, description="its members are told that it lacks this")
    members: StrictInt | None = Field(None, ge=0, description="how many there are")
    timeout: Timeout = 5


class StreamsConfigs(Body):
    """Configurations of a streams group."""

    model_config = body_example(configs={"streams.num.standby.replicas": 1})

    configs: Configs


class StreamsConfigured(BaseModel):
    """What a group is configured for itself."""

    model_config = example(group="app", configs={"streams.num.standby.replicas": "1"})

    group: str
    configs: dict[str, str]


def routes(hosted: Hosted) -> APIRouter:
    """The endpoints."""
    router = APIRouter(prefix="/streams-groups", tags=["streams groups"])
    _add_wait(router, hosted)

    @router.get("", summary="All streams groups")
    async def list_groups(query: Annotated[GroupsQuery, Query()]) -> StreamsGroupList:
        state = loaded(hosted)
        shown, total = listed(state, "streams", query.limit, lambda group_id: _info(_known(state, group_id)))
        return StreamsGroupList(groups=shown, total=total)

    @router.get("/{group:path}", summary="One streams group with what it runs, and who has which task")
    async def describe(group: str) -> StreamsGroupDetail:
        return _detail(_known(loaded(hosted), group))

    @router.put("/{group:path}/configs", summary="Configure a streams group, which need not be there yet")
    async def configure(group: str, body: StreamsConfigs) -> StreamsConfigured:
        return StreamsConfigured(group=group, configs=configured(hosted, group, body.configs))

    _add_ends(router, hosted)
    return router


def _add_ends(router: APIRouter, hosted: Hosted) -> None:
    """What only tests do to a streams group."""

    add_end_session(router, hosted, _known)

    @router.post("/{group:path}/shut-down", summary="Let a member want the whole application to end")
    async def shut_down(group: str, body: MemberGiven) -> StreamsGroupInfo:
        from kafkastub.views.streams_groups import ask_for_shutdown

        found = loaded(hosted)
        _known(found, group)
        done(hosted, group, lambda: ask_for_shutdown(found, group, body.member))
        return _info(_known(found, group))


def _add_wait(router: APIRouter, hosted: Hosted) -> None:
    """Before what takes any path: a group's name may hold a slash."""
    waits = Waits(hosted)

    @router.post("/{group:path}/wait", summary="Once every task is worked on, or members have these")
    async def wait(group: str, wanted: StreamsWanted, request: Request) -> StreamsGroupInfo:
        from kafkastub.views.streams_group_waits import Wanted

        tasks = (_given(wanted.active), _given(wanted.standby), _given(wanted.warmup))
        return await until(group, Wanted(*tasks, wanted.status, wanted.members), wanted.timeout, request)

    @router.get("/{group:path}/wait", summary="The same without tasks, as other waits have it")
    async def wait_query(group: str, query: Annotated[StreamsWaitQuery, Query()], request: Request) -> StreamsGroupInfo:
        from kafkastub.views.streams_group_waits import Wanted

        return await until(group, Wanted(None, None, None, query.status, query.members), query.timeout, request)

    async def until(group: str, asked: Wanted, seconds: float, request: Request) -> StreamsGroupInfo:
        from kafkastub.views.streams_group_waits import missing

        told = not_in_time(f"streams group {group!r}", seconds)
        await waits.until_nothing(lambda state: missing(state, group, asked), request, seconds, told)
        return _info(_known(hosted.running().state, group))


def _given(tasks: Mapping[str, Iterable[TaskGiven]] | None) -> dict[str, tuple[Task, ...]] | None:
    if tasks is None:
        return None
    return {name: tuple((one.subtopology, one.partition) for one in some) for name, some in tasks.items()}


def _known(state: BrokerState, group: str) -> StreamsGroupView:
    """Raises Problem."""
    from kafkastub.views.streams_groups import view

    return there(view(state, group), f"streams group {group!r}")


def _info(found: StreamsGroupView) -> StreamsGroupInfo:
    return StreamsGroupInfo(
        group=found.group_id,
        state=found.state,
        epoch=found.epoch,
        target_epoch=found.target_epoch,
        members=len(found.members),
        tasks=len(found.tasks),
        status=None if found.topology is None else found.topology.status,
        shutdown_by=found.shutdown_by,
    )


def _detail(found: StreamsGroupView) -> StreamsGroupDetail:
    topology = found.topology
    return StreamsGroupDetail(
        **_info(found).model_dump(),
        assignor=found.assignor,
        topology_epoch=None if topology is None else topology.epoch,
        status_message=None if topology is None else topology.message,
        to_create=[] if topology is None else list(topology.to_create),
        subtopologies=[] if topology is None else [_subtopology(one) for one in topology.subtopologies.values()],
        member_list=[_member(one) for one in found.members.values()],
    )


def _subtopology(one: SubtopologyView) -> SubtopologyInfo:
    return SubtopologyInfo(
        subtopology=one.subtopology_id,
        source_topics=list(one.source_topics),
        source_topic_regex=list(one.source_topic_regex),
        repartition_source_topics=_internal(one.repartition_source_topics.values()),
        repartition_sink_topics=list(one.repartition_sink_topics),
        state_changelog_topics=_internal(one.state_changelog_topics.values()),
        tasks=one.tasks,
    )


def _internal(topics: Iterable[InternalTopicView]) -> list[InternalTopicInfo]:
    return [InternalTopicInfo(**one._asdict()) for one in topics]


def _member(one: StreamsMemberView) -> StreamsMemberInfo:
    return StreamsMemberInfo(
        member_id=one.member_id,
        group_instance_id=one.group_instance_id,
        client_id=one.client_id,
        host=one.client_host,
        process_id=one.process_id,
        rack_id=one.rack_id,
        user_endpoint=None if one.user_endpoint is None else "{}:{}".format(*one.user_endpoint),
        client_tags=one.client_tags,
        epoch=one.epoch,
        topology_epoch=one.topology_epoch,
        state=one.state,
        tasks=_tasks(one.tasks),
        pending_revocation=_tasks(one.pending_revocation),
        target=_tasks(one.target),
        task_offsets=[
            TaskOffsetInfo(subtopology=name, partition=n, offset=offset, end_offset=one.task_end_offsets.get((name, n)))
            for (name, n), offset in one.task_offsets.items()
        ],
    )


def _tasks(tasks: TasksView) -> TasksInfo:
    return TasksInfo(
        **{
            role: [TaskInfo(subtopology=name, partition=n) for name, n in some]
            for role, some in tasks._asdict().items()
        }
    )
