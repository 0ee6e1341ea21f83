"""What the views of groups of all types share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Generic, TypeVar

from kafkastub.state.broker_state import BrokerState
from kafkastub.views.member_names import member_named

CLASSIC: Final = "classic"
CONSUMER: Final = "consumer"
SHARE: Final = "share"
STREAMS: Final = "streams"

_ANY_NODE: Final = -1
"""What a group is configured for does not depend on who is asked."""

M = TypeVar("M")
Place = tuple[str, int]
"""A topic and a partition of it, or a subtopology and a partition of it: a task."""


@dataclass(frozen=True, kw_only=True)
class AnyMember:
    """The attributes that the members of groups of every type have."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str


_OF_ANY_MEMBER: Final = tuple(one.name for one in fields(AnyMember))


def of_member(told: Any) -> dict[str, Any]:
    """The fields of an `AnyMember`, by their names in what tells of a member; None where it has nothing to tell."""
    found = {name: getattr(told, name, None) for name in _OF_ANY_MEMBER}
    if hasattr(told, "instance_id"):  # so it is called by the protocols with epochs
        found["group_instance_id"] = told.instance_id
    return found


Member = TypeVar("Member", bound=AnyMember)


@dataclass(frozen=True, kw_only=True)
class AnyGroup(Generic[Member]):
    """The attributes that groups of every type have.

    Attributes:
        state: the state by Kafka's name: "Stable".
        epoch: the epoch of the group; of a classic group, the generation.
        target_epoch: the epoch of the target assignment; None in a classic group.
        assignor: the assignor that computes, or computed, the assignment; None without one.
        members: the members by member id.
    """

    group_id: str
    state: str
    epoch: int
    target_epoch: int | None
    assignor: str | None
    members: dict[str, Member]

    def member(self, name: str) -> Member:
        """Return the member with this member id, group instance id or client id; the first match, in this order.

        Raises KeyError.
        """
        return member_named(self.group_id, self.members, name)


class Awaited:
    """What a group is waited for to become."""

    def missing(self, state: BrokerState, group_id: str) -> str | None:
        """What is not as it is to be, in words; None where all is."""
        raise NotImplementedError

    def watched(self, state: BrokerState) -> list[list[Callable[[], None]]]:
        """Who is told when something of that may have changed."""
        return [state.group_watchers]


def group_ids(state: BrokerState, group_type: str | None = None) -> list[str]:
    """The groups of one type, or all, in the order in which they came."""
    groups = state.coordinator.groups
    return [group_id for group_id in groups if group_type in (None, groups[group_id].group_type)]


def differences(
    member: Callable[[str], M],
    wanted: Mapping[str, Iterable[Place]],
    has: Callable[[M], tuple[Place, ...]],
    leaving: Callable[[M], tuple[Place, ...]],
    role: str = "",
    why: Callable[[M], str] | None = None,
) -> Iterator[str]:
    """What members have not as they are wanted to, in words.

    A member has what it has to have once nothing is left to let go of, by it or by others.

    Args:
        member: one by any of its names. Raises KeyError.
        has, leaving: what is its own, and what of it it is to let go of; both sorted.
        role: " as standby".
        why: what is said behind what one has not let go of.
    """
    for name, places in wanted.items():
        try:
            one = member(name)
        except KeyError as error:
            yield str(error.args[0])
            continue
        if has(one) != tuple(sorted(places)):
            yield f"{name} has {place_list(has(one))}{role} instead of {place_list(sorted(places))}"
        elif leaving(one):
            yield f"{name} has not let go of {place_list(leaving(one))}{'' if why is None else why(one)}"


def place_list(places: Iterable[Place]) -> str:
    """`orders-0, orders-1`."""
    return ", ".join(f"{name}-{index}" for name, index in places) or "nothing"


def configure(state: BrokerState, group_id: str, configs: Mapping[str, object]) -> None:
    """Change what a group is configured for itself; None takes a configuration away. Raises KafkaError."""
    from kafkastub.state.configs.changes import alter
    from kafkastub.state.configs.entries import ResourceType
    from kafkastub.state.configs.operations import Op

    changes: list[tuple[str, int, str | None]] = [
        (name, Op.DELETE if value is None else Op.SET, _text(value)) for name, value in configs.items()
    ]
    alter(state, _ANY_NODE, (ResourceType.GROUP, group_id), changes, replace=False, validate_only=False)


def _text(value: object) -> str | None:
    if value is None:
        return None
    return str(value).lower() if isinstance(value, bool) else str(value)
