"""What is waited for of a group of any type, and what of it is not so yet, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from kafkastub.state.broker_state import BrokerState
from kafkastub.views.groups import GroupView, MemberView, TopicPartition, view
from kafkastub.views.lag import behind
from kafkastub.views.of_groups import Awaited, differences

DEAD: Final = "Dead"
GROUP_STATES: Final = (
    "Empty", "PreparingRebalance", "CompletingRebalance", "NotReady", "Assigning", "Reconciling", "Stable", DEAD,
)  # fmt: skip
"""Of groups of any type; one that does not exist is Dead."""


@dataclass(frozen=True)
class Wanted(Awaited):
    """What is waited for; what is None does not matter.

    Attributes:
        state: in any case.
        members: how many there are.
        lag: of a partition at most; of a `topic`, all of its partitions count.
    """

    state: str | None = None
    members: int | None = None
    lag: int | None = None
    topic: str | None = None

    def missing(self, state: BrokerState, group_id: str) -> str | None:
        name, members = state_and_size(state, group_id)
        if (self.state or name).lower() != name.lower() or self.members not in (None, members):
            return "does not exist" if name == DEAD else f"is {name} with {members} member{'' if members == 1 else 's'}"
        return None if self.lag is None else behind(state, group_id, self.topic, self.lag)


@dataclass(frozen=True)
class WantedAssignment(Awaited):
    """Who is waited for to have what."""

    assignment: Mapping[str, Iterable[TopicPartition]]

    def missing(self, state: BrokerState, group_id: str) -> str | None:
        return "; ".join(unassigned(view(state, group_id), self.assignment)) or None


def state_and_size(state: BrokerState, group_id: str) -> tuple[str, int]:
    """In what state a group is, and how many members it has."""
    group = state.coordinator.groups.get(group_id)
    return (DEAD, 0) if group is None else (group.state_name, group.size)


def state_named(text: str) -> str | None:
    """The state of that name, in any case."""
    return next((name for name in GROUP_STATES if name.lower() == text.lower()), None)


def unassigned(found: GroupView | None, wanted: Mapping[str, Iterable[TopicPartition]]) -> list[str]:
    """What keeps a group from being assigned like this, by any name of a member; nothing where it is.

    Members that are not named may have what they have.
    """
    if found is None:
        return ["it does not exist"]
    return list(
        differences(found.member, wanted, lambda one: one.assigned, lambda one: one.pending_revocation, why=_why)
    )


def unknown(state: BrokerState, wanted: Mapping[str, Iterable[TopicPartition]]) -> list[str]:
    """Which of the topics and partitions there are not: nobody can have them."""
    said: dict[str, None] = {}
    for topic, index in sorted({place for partitions in wanted.values() for place in partitions}):
        known = state.cluster.topics.get(topic)
        if known is None:
            said[f"there is no topic {topic!r}"] = None
        elif not 0 <= index < len(known.partitions):
            said[f"there is no partition {topic}-{index}, only {len(known.partitions)} of them"] = None
    return list(said)


def _why(member: MemberView) -> str:
    return ", which is held by the test (hold_revocation)" if member.held else ""
