"""/v1/groups: all groups, of every type, a page at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import Query
from pydantic import BaseModel, Field

from kafkastub.config.durations import LAST_MS
from kafkastub.control.endpoints import Endpoints
from kafkastub.control.hosted import Hosted
from kafkastub.control.routes.findings import findings_of
from kafkastub.control.routes.groups import GroupInfo, group_info
from kafkastub.control.routes.of_groups import loaded
from kafkastub.control.routes.shapes import Body, Limit, Offset, iso
from kafkastub.control.walks import Walks
from kafkastub.findings.finding import Level

if TYPE_CHECKING:
    from kafkastub.coordinator.group import Group
    from kafkastub.state.broker_state import BrokerState

_SOME = 128
"""Offsets that are looked at in one go."""
_MOST_SORTED = 20_000
"""Groups that are sorted in one go."""
_LOOKED_INTO = 20
"""Groups of a page whose findings are looked for."""


class ListedGroup(GroupInfo):
    """A group; with `details` also what takes longer to find."""

    lag: int | None = Field(None, description="over all committed offsets; null for a share group")
    partitions_without_offset: int | None = Field(
        None,
        description="number of partitions with records but no committed offset, in topics that the group has "
        "committed offsets for; the lag leaves them out; null for a share group",
    )
    next_expiry: str | None = Field(None, description="broker time at which its first offset expires; null for never")
    next_expiry_ms: int | None = None
    worst: Level | None = Field(
        None, description="worst level of its findings; null if there are none, or too many groups"
    )


class GroupList(BaseModel):
    """Groups in the order of their creation, or sorted by name."""

    groups: list[ListedGroup]
    total: int = Field(description="number of matches, listed or not")


class GroupListQuery(Body):
    """Which, and how many."""

    group: str | None = Field(None, description="only the group of this name, if it exists")
    search: str | None = Field(None, description="only those whose name contains this text; case does not matter")
    type: list[str] = Field([], max_length=10, description="only groups of this type; may be given several times")
    state: list[str] = Field([], max_length=10, description="only those in this state; may be given several times")
    details: bool = Field(False, description="whether to return the lag, the next expiry and the worst finding")
    sort: Literal["created", "name"] = Field("created", description="name: sorted by name, for at most 20,000 groups")
    offset: Offset = 0
    limit: Limit = 1000


def routes(hosted: Hosted) -> Endpoints:
    """The endpoint."""
    router = Endpoints(prefix="/groups", tags=["groups"])
    walks = Walks()

    @router.get("", summary="List groups", response_model_exclude_unset=True)
    async def list_groups(query: Annotated[GroupListQuery, Query()]) -> GroupList:
        state = loaded(hosted)
        listed: list[ListedGroup] = []
        total = 0
        async for group in walks.through(_fitting(state, query)):
            if query.offset <= total < query.offset + query.limit:
                listed.append(ListedGroup(**group_info(state, group).model_dump()))
            total += 1
        for one in listed if query.details else ():
            async for name, value in walks.through(_details(state, one.group)):
                setattr(one, name, value)
        if query.details:
            for one in listed:
                one.worst = None
            for one in sorted((one for one in listed if one.members), key=_most_suspect)[:_LOOKED_INTO]:
                told = await findings_of(hosted, walks, one.group)
                one.worst = told[0].level if told else None
        return GroupList(groups=listed, total=total)

    return router


def _most_suspect(group: ListedGroup) -> tuple[bool, bool, int]:
    """Those first that are not settled, or have never committed, or are far behind."""
    return group.state in ("Stable", "Empty"), group.offsets > 0, -(group.lag or 0)


def _name(group: Group) -> str:
    return group.group_id


def _fitting(state: BrokerState, query: GroupListQuery) -> Iterator[Group | None]:
    groups = state.coordinator.groups
    wanted = None if query.search is None else query.search.lower()
    known = None if query.group is None else groups.get(query.group)
    there = list(groups.values()) if query.group is None else [] if known is None else [known]
    if query.sort == "name" and len(there) <= _MOST_SORTED:
        there.sort(key=_name)
    for group in there:
        fits = (
            (wanted is None or wanted in group.group_id.lower())
            and (not query.type or group.group_type in query.type)
            and (not query.state or group.state_name in query.state)
        )
        yield group if fits else None


def _details(state: BrokerState, group_id: str) -> Iterator[tuple[str, object] | None]:
    """The fields of a `ListedGroup` that are to be looked for."""
    from kafkastub.coordinator.expiry import NEVER
    from kafkastub.views.forecast import next_expiry
    from kafkastub.views.lag import measured, without_offset

    group = state.coordinator.groups.get(group_id)
    if group is None:
        return
    lag = without = 0
    for topic, columns in list(state.coordinator.offsets.topics(group_id).items()):
        for number, one in enumerate(measured(state, topic, columns), 1):
            lag += one.lag or 0
            if not number % _SOME:
                yield None
        for some in without_offset(state, topic, columns):
            without += some
            yield None
    share = group.group_type == "share"
    yield "lag", None if share else lag
    yield "partitions_without_offset", None if share else without
    for first in next_expiry(state, group):
        if first is None:
            yield None
        elif first != NEVER and first <= LAST_MS:
            yield "next_expiry", iso(first)
            yield "next_expiry_ms", first
        else:
            yield "next_expiry", None
            yield "next_expiry_ms", None
