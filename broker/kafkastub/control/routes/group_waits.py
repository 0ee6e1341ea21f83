"""Waits for groups: answers that come when a group is as a test wants it, as `stub.wait_group` and the like."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from pydantic import BaseModel, Field

from kafkastub.control.endpoints import Endpoints
from kafkastub.control.hosted import Hosted
from kafkastub.control.problems import Problem
from kafkastub.control.routes.groups import PlaceGiven
from kafkastub.control.routes.of_groups import Timeout, Waits
from kafkastub.control.routes.shapes import MOST_LISTED, Body, Names, UntilRefused, body_example, example
from kafkastub.views import group_waits
from kafkastub.views.group_waits import GROUP_STATES, Wanted, state_and_size, state_named
from kafkastub.views.of_groups import Awaited


class WaitQuery(Body):
    """All of what is said has to be so."""

    state: str | None = Field(
        None, description="Kafka's name of the state, in any case; Dead for a group that does not exist"
    )
    members: int | None = Field(None, ge=0, description="this number of members")
    lag: int | None = Field(None, ge=0, description="a lag of at most this many records, in each partition")
    topic: str | None = Field(None, description="with `lag`: only in this topic, in all of its partitions")
    timeout: Timeout = 5


class WantedAssignment(Body):
    """The partitions that members must have."""

    model_config = body_example(
        assignment={"one": [{"topic": "orders", "partition": 0}, {"topic": "orders", "partition": 1}]}
    )

    assignment: Names[Annotated[UntilRefused[PlaceGiven], Field(max_length=MOST_LISTED)]] = Field(
        min_length=1,
        max_length=MOST_LISTED,
        description="exact partitions by member id, group instance id or client id; members that are not named "
        "may have any",
    )
    timeout: Timeout = 5


class GroupReached(BaseModel):
    """The group is as requested."""

    model_config = example(group="shipping", state="Stable", members=2)

    group: str
    state: str
    members: int


def routes(hosted: Hosted) -> Endpoints:
    """The endpoints; before those of `groups`, as a group's name may hold a slash."""
    router = Endpoints(prefix="/groups", tags=["groups"])
    waits = Waits(
        hosted, "group", lambda group, seconds, left: f"{group} after {seconds:g} s: {left or 'as it is to be'}"
    )

    async def wait_for_group(request: Request, group: str, wanted: Awaited, seconds: float) -> GroupReached:
        state, members = state_and_size(await waits.until(request, group, wanted, seconds), group)
        return GroupReached(group=group, state=state, members=members)

    @router.get(
        "/{group:path}/wait", summary="Wait until a group has a state, a number of members, or a small enough lag"
    )
    async def wait(group: str, query: Annotated[WaitQuery, Query()], request: Request) -> GroupReached:
        if query.state is None and query.members is None and query.lag is None:
            raise Problem(400, "there is no condition to wait for: expected state, members or lag")
        _check_state(query.state)
        wanted = Wanted(query.state, query.members, query.lag, query.topic)
        return await wait_for_group(request, group, wanted, query.timeout)

    @router.post("/{group:path}/wait-assigned", summary="Wait until members of a group have exactly these partitions")
    async def wait_assigned(group: str, wanted: WantedAssignment, request: Request) -> GroupReached:
        asked = {name: tuple((one.topic, one.partition) for one in some) for name, some in wanted.assignment.items()}
        return await wait_for_group(request, group, group_waits.WantedAssignment(asked), wanted.timeout)

    return router


def _check_state(state: str | None) -> None:
    """Raises Problem for one that no group is ever in."""
    if state is not None and state_named(state) is None:
        raise Problem(400, f"state={state!r} is refused: expected one of {', '.join(GROUP_STATES)}")
