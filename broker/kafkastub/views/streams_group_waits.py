"""What is waited for of a streams group, and what of it is not so yet, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from kafkastub.state.broker_state import BrokerState
from kafkastub.views.of_groups import Awaited, differences, place_list
from kafkastub.views.streams_groups import ROLES, StreamsGroupView, StreamsMemberView, Task, view


@dataclass(frozen=True)
class Wanted(Awaited):
    """What is waited for; what is None does not matter.

    With none of it, or `members` alone, every task is worked on, and all is settled.

    Attributes:
        active, standby, warmup: exactly these tasks, by any name of a member.
        status: what members are told that the group lacks.
        members: how many there are.
    """

    active: Mapping[str, Iterable[Task]] | None = None
    standby: Mapping[str, Iterable[Task]] | None = None
    warmup: Mapping[str, Iterable[Task]] | None = None
    status: str | None = None
    members: int | None = None

    def missing(self, state: BrokerState, group_id: str) -> str | None:
        found = view(state, group_id)
        if found is None:
            return "does not exist"
        status, message = found.status, found.status_message
        if self.members is not None and self.members != len(found.members):
            return f"is {found.state} with {len(found.members)} members instead of {self.members}"
        if replace(self, members=None) == Wanted():
            if self.members == 0:
                return None
            why = f" ({status}: {message})" if status else ""
            if found.state != "Stable":
                return f"is {found.state}{why} with {len(found.members)} members"
            idle = set(found.tasks).difference(*(one.tasks.active for one in found.members.values()))
            return f"is Stable, and nobody works on {place_list(sorted(idle))}" if idle or not found.tasks else None
        if self.status is not None and self.status != status:
            return f"lacks {f'{status}: {message}' if status else 'nothing'}, {self.status} was waited for"
        said = [one for role in ROLES for one in _differences(found, role, getattr(self, role) or {})]
        return "is not assigned like that: " + "; ".join(said) if said else None


def _differences(found: StreamsGroupView, role: str, wanted: Mapping[str, Iterable[Task]]) -> Iterable[str]:
    def has(member: StreamsMemberView) -> tuple[Task, ...]:
        tasks: tuple[Task, ...] = getattr(member.tasks, role)
        return tasks

    def leaving(member: StreamsMemberView) -> tuple[Task, ...]:
        tasks: tuple[Task, ...] = getattr(member.pending_revocation, role)
        return tasks

    return differences(found.member, wanted, has, leaving, f" as {role}")
