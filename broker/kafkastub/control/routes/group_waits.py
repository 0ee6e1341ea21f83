"""Waits for groups: answers that come when a group is as a test wants it, as `stub.wait_group` and the like."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from kafkastub.control.hosted import Hosted
from kafkastub.control.problems import Problem
from kafkastub.control.routes.groups import PlaceGiven
from kafkastub.control.routes.of_groups import Timeout, Waits
from kafkastub.control.routes.shapes import MOST_LISTED, Body, Names, UntilRefused, body_example, example

if TYPE_CHECKING:
    from kafkastub.state.broker_state import BrokerState


class WaitQuery(Body):
    """All of what is said has to be so."""

    state: str | None = Field(None, description="as Kafka names it, in any case; Dead where there is no such group")
    members: int | None = Field(None, ge=0, description="how many there are")
    lag: int | None = Field(None, ge=0, description="it is behind by so many records of a partition at most")
    topic: str | None = Field(None, description="with `lag`: of this topic alone, all of whose partitions count")
    timeout: Timeout = 5


class WantedAssignment(Body):
    """Who is to have what."""

    model_config = body_example(
        assignment={"one": [{"topic": "orders", "partition": 0}, {"topic": "orders", "partition": 1}]}
    )

    assignment: Names[Annotated[UntilRefused[PlaceGiven], Field(max_length=MOST_LISTED)]] = Field(
        min_length=1,
        max_length=MOST_LISTED,
        description="by member id, group instance id or client id: exactly these partitions; others may have any",
    )
    timeout: Timeout = 5


class Reached(BaseModel):
    """It is so."""

    model_config = example(group="shipping", state="Stable", members=2)

    group: str
    state: str
    members: int


def routes(hosted: Hosted) -> APIRouter:
    """The endpoints; before those of `groups`, as a group's name may hold a slash."""
    router = APIRouter(prefix="/groups", tags=["groups"])
    waits = Waits(hosted)

    async def answered(
        request: Request, group: str, missing: Callable[[BrokerState], str | None], seconds: float
    ) -> Reached:
        from kafkastub.views.group_waits import state_and_size

        def told(left: str | None) -> str:
            return f"group {group!r} after {seconds:g} s: {left or 'as it is to be'}"

        await waits.until_nothing(missing, request, seconds, told)
        state, members = state_and_size(hosted.running().state, group)
        return Reached(group=group, state=state, members=members)

    @router.get("/{group:path}/wait", summary="Once a group is in a state, has so many members, or its lag is so small")
    async def wait(group: str, query: Annotated[WaitQuery, Query()], request: Request) -> Reached:
        if query.state is None and query.members is None and query.lag is None:
            raise Problem(400, "nothing is waited for: state, members or lag is wanted")
        from kafkastub.views.group_waits import Wanted, missing

        _check_state(query.state)
        wanted = Wanted(query.state, query.members, query.lag, query.topic)
        return await answered(request, group, lambda state: missing(state, group, wanted), query.timeout)

    @router.post("/{group:path}/wait-assigned", summary="Once members of a group have these partitions")
    async def wait_assigned(group: str, wanted: WantedAssignment, request: Request) -> Reached:
        from kafkastub.views.group_waits import unassigned
        from kafkastub.views.groups import view

        asked = {name: tuple((one.topic, one.partition) for one in some) for name, some in wanted.assignment.items()}

        def missing(state: BrokerState) -> str | None:
            return "; ".join(unassigned(view(state, group), asked)) or None

        return await answered(request, group, missing, wanted.timeout)

    return router


def _check_state(state: str | None) -> None:
    """Raises Problem for one that no group is ever in."""
    from kafkastub.views.group_waits import GROUP_STATES, state_named

    if state is not None and state_named(state) is None:
        raise Problem(400, f"state={state!r}: a group is {', '.join(GROUP_STATES)}")
