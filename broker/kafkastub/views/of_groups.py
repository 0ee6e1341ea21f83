"""What views of groups have alike, whatever their type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, TypeVar

from kafkastub.state.broker_state import BrokerState

CLASSIC: Final = "classic"
CONSUMER: Final = "consumer"
SHARE: Final = "share"
STREAMS: Final = "streams"

_ANY_NODE: Final = -1
"""What a group is configured for does not depend on who is asked."""

M = TypeVar("M")
Place = tuple[str, int]
"""A topic and a partition of it, or a subtopology and a partition of it: a task."""


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
            yield f"{name} has {shown(has(one))}{role} instead of {shown(sorted(places))}"
        elif leaving(one):
            yield f"{name} has not let go of {shown(leaving(one))}{'' if why is None else why(one)}"


def shown(places: Iterable[Place]) -> str:
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
