"""/v1/share-groups: share groups record by record, and what `stub.share_groups` is in Python (docs/share-groups.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import Query, Request
from pydantic import BaseModel, ConfigDict, Field

from kafkastub.control.endpoints import Endpoints
from kafkastub.control.hosted import Hosted
from kafkastub.control.problems import Problem
from kafkastub.control.routes.groups import TopicPartition
from kafkastub.control.routes.of_groups import (
    ConfigsGiven,
    ConfigsTold,
    GroupsQuery,
    Timeout,
    Waits,
    add_end_session,
    configured,
    listed,
    loaded,
    there,
)
from kafkastub.control.routes.shapes import Body, Text, body_example, example
from kafkastub.control.routes.view_models import Count, Told, called, tells
from kafkastub.views.of_groups import AnyGroup, AnyMember
from kafkastub.views.share_group_waits import Wanted
from kafkastub.views.share_groups import (
    STATES,
    RecordsView,
    ShareGroupView,
    client_ids,
    hold_acknowledgements,
    partition_view,
    release_acknowledgements,
    view,
)

if TYPE_CHECKING:
    from kafkastub.state.broker_state import BrokerState


@tells(AnyGroup, without=("target_epoch", "assignor"))
class ShareGroupInfo(Told):
    """A share group."""

    model_config = example(
        group="workers", state="Stable", epoch=3, members=2, partitions=1, holds_acknowledgements=False
    )

    group: str = called("group_id")
    state: str = Field(description="Empty or Stable")
    members: Count
    partitions: Count = Field(description="those that its members may read")
    holds_acknowledgements: bool = called("holds", "whether a test holds what its members acknowledge")


class ShareGroupList(Told):
    """Share groups in the order of their creation."""

    groups: list[ShareGroupInfo]
    total: int = Field(description="how many there are, listed or not")


@tells(AnyMember, without=("group_instance_id",))
class ShareMemberInfo(Told):
    """A member."""

    host: str = called("client_host")
    epoch: int | None
    subscribed: list[str] | None
    assigned: list[TopicPartition] = Field(description="partitions that it may read, beside others")


@tells(RecordsView)
class RecordsInfo(Told):
    """Neighbouring records with which it is the same."""

    state: str = Field(description="available, acquired, acknowledged, archiving or archived")
    deliveries: int = Field(description="how often they were delivered")
    member_id: str | None = Field(description="who has them")
    lock_left_ms: int | None = Field(description="for how long they are still its own")
    held: bool = Field(description="whether what was said of them waits for release-acknowledgements")


class SharePartitionInfo(Told):
    """A partition as a share group has it."""

    topic: str
    partition: int
    start: int | None = Field(description="all before it are done with; null where nobody has read of it")
    end: int = Field(description="where the log ends for the group's members")
    lag: int | None = Field(description="how many are not done with")
    counts: dict[str, int] = Field(description="how many from `start` to `end` are in each state")
    records: list[RecordsInfo] = Field(description="as many as `limit` says, from `start` on")


class ShareGroupDetail(ShareGroupInfo):
    """A share group with its members and records."""

    member_list: list[ShareMemberInfo]
    partition_list: list[SharePartitionInfo]


class WaitQuery(Body):
    """All of what is said has to be so."""

    topic: str | None = Field(None, description="of this topic alone")
    acquired: int | None = Field(None, ge=0, description="members have so many records at least")
    held: int | None = Field(None, ge=0, description="the acknowledgements of so many are held at least")
    lag: int | None = Field(None, ge=0, description="of every partition so many are not done with at most")
    timeout: Timeout = 5


class ShareWanted(WaitQuery):
    """The same as a body."""

    model_config = body_example(lag=0) | ConfigDict(strict=True)

    topic: Text | None = Field(None, description="of this topic alone")


class NewConfigs(ConfigsGiven):
    """Configurations of a group."""

    model_config = body_example(configs={"share.auto.offset.reset": "earliest"})


class ShareGroupReached(BaseModel):
    """It is so."""

    model_config = example(group="workers")

    group: str


class Configured(ConfigsTold):
    """What a group is configured for itself."""

    model_config = example(group="workers", configs={"share.auto.offset.reset": "earliest"})


def routes(hosted: Hosted) -> Endpoints:
    """The endpoints."""
    router = Endpoints(prefix="/share-groups", tags=["share groups"])

    @router.get("", summary="All share groups")
    async def list_groups(query: Annotated[GroupsQuery, Query()]) -> ShareGroupList:
        return ShareGroupList.of(listed(loaded(hosted), "share", query.limit, view))

    _add_wait(router, hosted)

    @router.get("/{group:path}", summary="One share group with its members, and its partitions record by record")
    async def describe(group: str, query: Annotated[GroupsQuery, Query()]) -> ShareGroupDetail:
        found = loaded(hosted)
        return _detail(found, _known(found, group), hosted.running().clock.timer_ms(), query.limit)

    @router.put("/{group:path}/configs", summary="Configure a group, which need not be there yet")
    async def configure(group: str, body: NewConfigs) -> Configured:
        return configured(hosted, group, body, Configured)

    _add_holds(router, hosted)
    return router


def _add_holds(router: Endpoints, hosted: Hosted) -> None:
    """What only tests do to a share group."""

    @router.post("/{group:path}/hold-acknowledgements", summary="Nothing becomes of what members say from now on")
    async def hold(group: str) -> ShareGroupInfo:
        found = loaded(hosted)
        _known(found, group)
        hosted.call(lambda: hold_acknowledgements(found, group))
        return ShareGroupInfo.of(_known(found, group))

    @router.post("/{group:path}/release-acknowledgements", summary="What is held becomes true, and none is any more")
    async def release(group: str) -> ShareGroupInfo:
        broker, found = hosted.running(), loaded(hosted)
        _known(found, group)
        hosted.call(lambda: release_acknowledgements(found, group, *broker.clock.both()))
        return ShareGroupInfo.of(_known(found, group))

    add_end_session(router, hosted, _known)


def _add_wait(router: Endpoints, hosted: Hosted) -> None:
    """Before what takes any path: a group's name may hold a slash."""
    waits = Waits(hosted, "share group")

    @router.get("/{group:path}/wait", summary="Once members have so many records, or so few are left")
    async def wait(group: str, query: Annotated[WaitQuery, Query()], request: Request) -> ShareGroupReached:
        return await until(group, query, request)

    @router.post("/{group:path}/wait", summary="The same, with a body as other waits have it")
    async def wait_body(group: str, wanted: ShareWanted, request: Request) -> ShareGroupReached:
        return await until(group, wanted, request)

    async def until(group: str, asked: WaitQuery, request: Request) -> ShareGroupReached:
        if asked.acquired is asked.held is asked.lag is None:
            raise Problem(400, "nothing is waited for: acquired, held or lag is wanted")
        wanted = Wanted(asked.topic, asked.acquired, asked.held, asked.lag)
        await waits.until(request, group, wanted, asked.timeout)
        return ShareGroupReached(group=group)


def _known(state: BrokerState, group: str) -> ShareGroupView:
    """Raises Problem."""
    return there(view(state, group), f"share group {group!r}")


def _detail(state: BrokerState, found: ShareGroupView, timer_ms: int, limit: int) -> ShareGroupDetail:
    partitions, left, clients = [], limit, client_ids(found)
    for topic, index in found.partitions[:limit]:
        seen = partition_view(state, found.group_id, topic, index, timer_ms, clients)
        counts = {state: seen.count(state) for state in STATES}
        partitions.append(vars(seen) | {"lag": seen.lag, "counts": counts, "records": seen.ranges[:left]})
        left = max(left - len(seen.ranges), 0)
    return ShareGroupDetail.of(
        vars(found) | {"member_list": list(found.members.values()), "partition_list": partitions}
    )
