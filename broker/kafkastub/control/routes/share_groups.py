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
from kafkastub.control.routes.view_models import Count, ViewModel, called, fields_of
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


@fields_of(AnyGroup, without=("target_epoch", "assignor"))
class ShareGroupInfo(ViewModel):
    """A share group."""

    model_config = example(
        group="workers", state="Stable", epoch=3, members=2, partitions=1, holds_acknowledgements=False
    )

    group: str = called("group_id")
    state: str = Field(description="Empty or Stable")
    members: Count
    partitions: Count = Field(description="number of partitions that its members may read")
    holds_acknowledgements: bool = called("holds", "whether acknowledgements of its members are held")


class ShareGroupList(ViewModel):
    """Share groups in the order of their creation."""

    groups: list[ShareGroupInfo]
    total: int = Field(description="total number, listed or not")


@fields_of(AnyMember, without=("group_instance_id",))
class ShareMemberInfo(ViewModel):
    """A member."""

    host: str = called("client_host")
    epoch: int | None
    subscribed: list[str] | None
    assigned: list[TopicPartition] = Field(description="partitions that it may read, shared with other members")


@fields_of(RecordsView)
class RecordsInfo(ViewModel):
    """Consecutive records in the same state."""

    state: str = Field(description="available, acquired, acknowledged, archiving or archived")
    deliveries: int = Field(description="delivery count")
    member_id: str | None = Field(description="the member that has acquired them")
    lock_left_ms: int | None = Field(description="milliseconds until the acquisition lock expires")
    held: bool = Field(description="whether their acknowledgements are held (release-acknowledgements)")


class SharePartitionInfo(ViewModel):
    """A partition from the view of a share group."""

    topic: str
    partition: int
    start: int | None = Field(description="all records before it are done; null if no member has read the partition")
    end: int = Field(description="end offset for the group's members")
    lag: int | None = Field(description="number of records that are not done")
    counts: dict[str, int] = Field(description="number of records from `start` to `end` in each state")
    records: list[RecordsInfo] = Field(description="at most `limit` ranges, from `start` on")


class ShareGroupDetail(ShareGroupInfo):
    """A share group with its members and records."""

    member_list: list[ShareMemberInfo]
    partition_list: list[SharePartitionInfo]


class WaitQuery(Body):
    """All of what is said has to be so."""

    topic: str | None = Field(None, description="only of this topic")
    acquired: int | None = Field(None, ge=0, description="members have acquired at least this many records")
    held: int | None = Field(None, ge=0, description="acknowledgements of at least this many records are held")
    lag: int | None = Field(None, ge=0, description="in each partition at most this many records are not done")
    timeout: Timeout = 5


class ShareWanted(WaitQuery):
    """The same conditions as a body."""

    model_config = body_example(lag=0) | ConfigDict(strict=True)

    topic: Text | None = Field(None, description="only of this topic")


class NewConfigs(ConfigsGiven):
    """Configurations of a group."""

    model_config = body_example(configs={"share.auto.offset.reset": "earliest"})


class ShareGroupReached(BaseModel):
    """The share group is as requested."""

    model_config = example(group="workers")

    group: str


class Configured(ConfigsTold):
    """The group's own configuration."""

    model_config = example(group="workers", configs={"share.auto.offset.reset": "earliest"})


def routes(hosted: Hosted) -> Endpoints:
    """The endpoints."""
    router = Endpoints(prefix="/share-groups", tags=["share groups"])

    @router.get("", summary="List share groups")
    async def list_groups(query: Annotated[GroupsQuery, Query()]) -> ShareGroupList:
        return ShareGroupList.of(listed(loaded(hosted), "share", query.limit, view))

    _add_wait(router, hosted)

    @router.get("/{group:path}", summary="Return a share group with its members, and its partitions record by record")
    async def describe(group: str, query: Annotated[GroupsQuery, Query()]) -> ShareGroupDetail:
        found = loaded(hosted)
        return _detail(found, _known(found, group), hosted.running().clock.timer_ms(), query.limit)

    @router.put("/{group:path}/configs", summary="Set the configuration of a share group, which need not exist yet")
    async def configure(group: str, body: NewConfigs) -> Configured:
        return configured(hosted, group, body, Configured)

    _add_holds(router, hosted)
    return router


def _add_holds(router: Endpoints, hosted: Hosted) -> None:
    """What only tests do to a share group."""

    @router.post(
        "/{group:path}/hold-acknowledgements",
        summary="Hold the acknowledgements of members: none takes effect until they are released",
    )
    async def hold(group: str) -> ShareGroupInfo:
        found = loaded(hosted)
        _known(found, group)
        hosted.call(lambda: hold_acknowledgements(found, group))
        return ShareGroupInfo.of(_known(found, group))

    @router.post(
        "/{group:path}/release-acknowledgements", summary="Release the held acknowledgements, and hold no more"
    )
    async def release(group: str) -> ShareGroupInfo:
        broker, found = hosted.running(), loaded(hosted)
        _known(found, group)
        hosted.call(lambda: release_acknowledgements(found, group, *broker.clock.both()))
        return ShareGroupInfo.of(_known(found, group))

    add_end_session(router, hosted, _known)


def _add_wait(router: Endpoints, hosted: Hosted) -> None:
    """Before what takes any path: a group's name may hold a slash."""
    waits = Waits(hosted, "share group")

    @router.get(
        "/{group:path}/wait", summary="Wait until members have acquired a number of records, or few enough are left"
    )
    async def wait(group: str, query: Annotated[WaitQuery, Query()], request: Request) -> ShareGroupReached:
        return await until(group, query, request)

    @router.post("/{group:path}/wait", summary="The same wait, with a body")
    async def wait_body(group: str, wanted: ShareWanted, request: Request) -> ShareGroupReached:
        return await until(group, wanted, request)

    async def until(group: str, asked: WaitQuery, request: Request) -> ShareGroupReached:
        if asked.acquired is asked.held is asked.lag is None:
            raise Problem(400, "there is no condition to wait for: expected acquired, held or lag")
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
