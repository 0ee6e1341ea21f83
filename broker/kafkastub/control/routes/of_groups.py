"""What the endpoints about groups share, whatever type of group they are about."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

from fastapi import Request
from pydantic import BaseModel, Field, StrictBool, StrictFloat, StrictInt

from kafkastub.control.connections import Places
from kafkastub.control.endpoints import Endpoints
from kafkastub.control.hosted import Hosted
from kafkastub.control.problems import Problem, of_kafka
from kafkastub.control.routes.shapes import NOT_TOO_MANY, Body, Limit, Text, body_example, example
from kafkastub.control.waiting import LONGEST_WAIT, MOST_WAITING, while_there
from kafkastub.state.groups import check_loaded
from kafkastub.views.groups import end_session
from kafkastub.views.of_groups import Awaited, configure, group_ids
from kafkawire.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from kafkastub.coordinator.group import Group
    from kafkastub.state.broker_state import BrokerState

T = TypeVar("T")
C = TypeVar("C", bound="ConfigsTold")

Timeout = Annotated[float, Field(ge=0, le=LONGEST_WAIT, allow_inf_nan=False, strict=False, description="seconds")]
Configs = Annotated[
    dict[Text, Text | StrictBool | StrictInt | StrictFloat | None],
    Field(max_length=100, description="null removes a configuration"),
    NOT_TOO_MANY,
]


class GroupsQuery(Body):
    """How much."""

    limit: Limit = 1000


class ConfigsGiven(Body):
    """Configurations of a group."""

    configs: Configs


class ConfigsTold(BaseModel):
    """The group's own configuration."""

    group: str
    configs: dict[str, str]


class MemberGiven(Body):
    """A member."""

    model_config = body_example(member="one")

    member: Text = Field(description="its member id, group instance id or client id")


class SessionEnded(BaseModel):
    """The member whose session has ended."""

    model_config = example(member_id="Iqk8GDnmTXuqPnqMfUWCnQ")

    member_id: str


def loaded(hosted: Hosted) -> BrokerState:
    """The broker's state with all its groups. Raises Problem."""
    state = hosted.running().state
    try:
        check_loaded(state)
    except KafkaError as error:
        raise of_kafka(error, "the group coordinator") from None
    return state


def existing_group(hosted: Hosted, group: str) -> tuple[BrokerState, Group]:
    """The broker's state, and a group that there is. Raises Problem."""
    state = loaded(hosted)
    return state, there(state.coordinator.groups.get(group), f"group {group!r}")


def there(found: T | None, group: str) -> T:
    """A group that there is. Raises Problem, telling which `group` there is not."""
    if found is None:
        raise Problem(404, f"{group} does not exist", ErrorCode.GROUP_ID_NOT_FOUND.name)
    return found


def listed(
    state: BrokerState, group_type: str, most: int, view: Callable[[BrokerState, str], object]
) -> dict[str, object]:
    """The views of the first groups of one type, and how many there are."""
    ids = group_ids(state, group_type)
    return {"groups": [view(state, group_id) for group_id in ids[:most]], "total": len(ids)}


def add_end_session(
    router: Endpoints, hosted: Hosted, look: Callable[[BrokerState, str], object] | None = None
) -> None:
    """Add the endpoint that ends a member's session; `look` raises Problem for a group of another type."""

    @router.post("/{group:path}/end-session", summary="End a member's session now")
    async def end(group: str, body: MemberGiven) -> SessionEnded:
        broker, state = hosted.running(), loaded(hosted)
        if look is not None:
            look(state, group)
        ended = done(hosted, group, lambda: end_session(state, group, body.member, *broker.clock.both()))
        return SessionEnded(member_id=ended)


def done(hosted: Hosted, group: str, work: Callable[[], T]) -> T:
    """What comes of work on a group. Raises Problem."""
    try:
        return hosted.call(work)
    except KafkaError as error:
        raise of_kafka(error, f"group {group!r}") from None
    except KeyError as error:
        raise Problem(404, str(error.args[0]), ErrorCode.UNKNOWN_MEMBER_ID.name) from None


def configured(hosted: Hosted, group: str, given: ConfigsGiven, told: type[C]) -> C:
    """Configure a group; what it has for itself then. Raises Problem."""
    state = loaded(hosted)
    done(hosted, group, lambda: configure(state, group, given.configs))
    return told(group=group, configs=state.cluster.group_configs.get(group, {}))


def not_in_time(group: str, seconds: float, left: str | None) -> str:
    """What is said where something is still missing of a group after so many seconds."""
    return f"{group} {left or 'is as it is to be'} after {seconds:g} s"


class Waits:
    """Requests of one kind that wait until a group is as they want it."""

    def __init__(self, hosted: Hosted, kind: str, told: Callable[[str, float, str | None], str] = not_in_time) -> None:
        """`told` is what is said where something is left after so many seconds, of a group named with its `kind`."""
        self._hosted = hosted
        self._kind = kind
        self._told = told
        self._waiting = Places(MOST_WAITING, "requests are waiting")

    async def until(self, request: Request, group: str, wanted: Awaited, seconds: float) -> BrokerState:
        """Wait until nothing is missing, which is looked at whenever something may have changed. Raises Problem."""
        self._waiting.take(request.state.connection)
        await while_there(request, self._until(group, wanted, seconds))
        return self._hosted.running().state

    async def _until(self, group: str, wanted: Awaited, seconds: float) -> None:
        come: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def left() -> str | None:
            state = self._hosted.running().state  # another one after a restore
            return "is being loaded" if state.groups.loading is not None else wanted.missing(state, group)

        def look() -> None:
            if not come.done() and left() is None:
                come.set_result(None)

        watchers = wanted.watched(self._hosted.running().state)
        for some in watchers:
            some.append(look)
        try:
            look()
            await self._hosted.wait(come, seconds)
        except TimeoutError:
            raise Problem(408, self._told(f"{self._kind} {group!r}", seconds, left())) from None
        finally:
            for some in watchers:
                some.remove(look)
