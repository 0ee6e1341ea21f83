"""/v1/streams-groups: groups of Kafka Streams, and what `stub.streams_groups` is in Python (docs/streams-groups.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import Query, Request
from pydantic import BeforeValidator, Field, StrictInt

from kafkastub.control.endpoints import Endpoints
from kafkastub.control.hosted import Hosted
from kafkastub.control.routes.of_groups import (
    ConfigsGiven,
    ConfigsTold,
    GroupsQuery,
    MemberGiven,
    Timeout,
    Waits,
    add_end_session,
    configured,
    done,
    listed,
    loaded,
    there,
)
from kafkastub.control.routes.shapes import MOST_LISTED, Body, Names, Text, UntilRefused, body_example, example
from kafkastub.control.routes.view_models import BY_KEY, Count, Pair, ViewModel, called, fields_of
from kafkastub.views.of_groups import AnyGroup
from kafkastub.views.streams_group_waits import Wanted
from kafkastub.views.streams_groups import (
    InternalTopicView,
    StreamsGroupView,
    StreamsMemberView,
    SubtopologyView,
    Task,
    ask_for_shutdown,
    view,
)

if TYPE_CHECKING:
    from kafkastub.state.broker_state import BrokerState


@fields_of(AnyGroup, without=("assignor",))
class StreamsGroupInfo(ViewModel):
    """A streams group."""

    model_config = example(
        group="app", state="Stable", epoch=3, target_epoch=3, members=2, tasks=4, status=None, shutdown_by=None
    )

    group: str = called("group_id")
    state: str = Field(description="Empty, NotReady, Assigning, Reconciling or Stable")
    target_epoch: int = Field(description="epoch of the target assignment")
    members: Count
    tasks: Count = Field(description="number of tasks, if known")
    status: str | None = Field(description="status that its members receive, for example MISSING_SOURCE_TOPICS")
    shutdown_by: str | None = Field(description="id of the member that requested the shutdown of the application")


class StreamsGroupList(ViewModel):
    """Streams groups in the order of their creation."""

    groups: list[StreamsGroupInfo]
    total: int = Field(description="total number, listed or not")


class TaskInfo(Pair):
    """A task."""

    subtopology: str
    partition: int


class TasksInfo(ViewModel):
    """Tasks by role."""

    active: list[TaskInfo]
    standby: list[TaskInfo]
    warmup: list[TaskInfo]


class TaskOffsetInfo(TaskInfo):
    """How far a copy of a task's state is."""

    offset: int
    end_offset: int | None


def _endpoint(given: Any) -> Any:
    return "{}:{}".format(*given) if isinstance(given, tuple) else given


@fields_of(StreamsMemberView, without=("task_end_offsets",))
class StreamsMemberInfo(ViewModel):
    """A member."""

    host: str = called("client_host")
    process_id: str = Field(description="shared by the members of one instance")
    user_endpoint: Annotated[str | None, BeforeValidator(_endpoint)] = Field(
        description="address at which it answers interactive queries"
    )
    state: str = Field(description="STABLE, UNREVOKED_TASKS or UNRELEASED_TASKS")
    tasks: TasksInfo = Field(description="what the member has now")
    pending_revocation: TasksInfo = Field(description="what it must give up and has not given up yet")
    target: TasksInfo = Field(description="its target assignment")
    task_offsets: list[TaskOffsetInfo] = called("progress")


@fields_of(InternalTopicView)
class InternalTopicInfo(ViewModel):
    """An internal topic of the application."""

    partitions: int | None = Field(description="null if not known yet")
    replication_factor: int | None = Field(description="null for the broker's default")


@fields_of(SubtopologyView)
class SubtopologyInfo(ViewModel):
    """A part of the topology, with one task for each partition."""

    subtopology: str = called("subtopology_id")
    repartition_source_topics: Annotated[list[InternalTopicInfo], BY_KEY]
    state_changelog_topics: Annotated[list[InternalTopicInfo], BY_KEY]
    tasks: int | None = Field(description="number of tasks; null if its topics do not determine it")


class StreamsGroupDetail(StreamsGroupInfo):
    """A streams group with its topology, members and tasks."""

    assignor: str
    topology_epoch: int | None
    status_message: str | None = Field(description="what the status means, in words")
    to_create: list[str] = Field(description="internal topics that do not exist yet")
    subtopologies: Annotated[list[SubtopologyInfo], BY_KEY]
    member_list: Annotated[list[StreamsMemberInfo], BY_KEY] = called("members")


class TaskGiven(Body):
    """A task in an assignment."""

    subtopology: Text
    partition: StrictInt


Given = Names[Annotated[UntilRefused[TaskGiven], Field(max_length=MOST_LISTED)]]


Status = Literal["MISSING_SOURCE_TOPICS", "INCORRECTLY_PARTITIONED_TOPICS", "MISSING_INTERNAL_TOPICS"]


class StreamsWaitQuery(Body):
    """All of what is said has to be so; tasks are told in a body."""

    status: Status | None = Field(None, description="the status that members of the group receive")
    members: int | None = Field(None, ge=0, description="this number of members")
    timeout: Timeout = 5


class StreamsWanted(Body):
    """Conditions that must all hold; without any, every task has an owner and the group is settled."""

    model_config = body_example(active={"one": [{"subtopology": "0", "partition": 0}]})

    active: Given | None = Field(None, description="exactly these active tasks, by member")
    standby: Given | None = Field(None, description="the same for these tasks")
    warmup: Given | None = Field(None, description="the same for these tasks")
    status: Status | None = Field(None, description="the status that members of the group receive")
    members: StrictInt | None = Field(None, ge=0, description="this number of members")
    timeout: Timeout = 5


class StreamsConfigs(ConfigsGiven):
    """Configurations of a streams group."""

    model_config = body_example(configs={"streams.num.standby.replicas": 1})


class StreamsConfigured(ConfigsTold):
    """The group's own configuration."""

    model_config = example(group="app", configs={"streams.num.standby.replicas": "1"})


def routes(hosted: Hosted) -> Endpoints:
    """The endpoints."""
    router = Endpoints(prefix="/streams-groups", tags=["streams groups"])
    _add_wait(router, hosted)

    @router.get("", summary="List streams groups")
    async def list_groups(query: Annotated[GroupsQuery, Query()]) -> StreamsGroupList:
        return StreamsGroupList.of(listed(loaded(hosted), "streams", query.limit, view))

    @router.get("/{group:path}", summary="Return a streams group with its topology, and the owner of each task")
    async def describe(group: str) -> StreamsGroupDetail:
        return StreamsGroupDetail.of(_known(loaded(hosted), group))

    @router.put("/{group:path}/configs", summary="Set the configuration of a streams group, which need not exist yet")
    async def configure(group: str, body: StreamsConfigs) -> StreamsConfigured:
        return configured(hosted, group, body, StreamsConfigured)

    _add_ends(router, hosted)
    return router


def _add_ends(router: Endpoints, hosted: Hosted) -> None:
    """What only tests do to a streams group."""

    add_end_session(router, hosted, _known)

    @router.post(
        "/{group:path}/shut-down", summary="Request the shutdown of the whole application, in the name of a member"
    )
    async def shut_down(group: str, body: MemberGiven) -> StreamsGroupInfo:
        found = loaded(hosted)
        _known(found, group)
        done(hosted, group, lambda: ask_for_shutdown(found, group, body.member))
        return StreamsGroupInfo.of(_known(found, group))


def _add_wait(router: Endpoints, hosted: Hosted) -> None:
    """Before what takes any path: a group's name may hold a slash."""
    waits = Waits(hosted, "streams group")

    @router.post(
        "/{group:path}/wait", summary="Wait until every task has an owner, or members have exactly these tasks"
    )
    async def wait(group: str, wanted: StreamsWanted, request: Request) -> StreamsGroupInfo:
        tasks = (_given(wanted.active), _given(wanted.standby), _given(wanted.warmup))
        return await until(group, Wanted(*tasks, wanted.status, wanted.members), wanted.timeout, request)

    @router.get("/{group:path}/wait", summary="The same wait without tasks, with parameters")
    async def wait_query(group: str, query: Annotated[StreamsWaitQuery, Query()], request: Request) -> StreamsGroupInfo:
        return await until(group, Wanted(None, None, None, query.status, query.members), query.timeout, request)

    async def until(group: str, asked: Wanted, seconds: float, request: Request) -> StreamsGroupInfo:
        return StreamsGroupInfo.of(_known(await waits.until(request, group, asked, seconds), group))


def _given(tasks: Mapping[str, Iterable[TaskGiven]] | None) -> dict[str, tuple[Task, ...]] | None:
    if tasks is None:
        return None
    return {name: tuple((one.subtopology, one.partition) for one in some) for name, some in tasks.items()}


def _known(state: BrokerState, group: str) -> StreamsGroupView:
    """Raises Problem."""
    return there(view(state, group), f"streams group {group!r}")
