"""When members of a group were last heard of, and for whom and how long a rebalance waits, for those who look on.

All of it goes by timer time (ms), as sessions do.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from kafkastub.coordinator.classic.group import ClassicGroup
    from kafkastub.coordinator.group import Group

_CLASSIC: Final = "classic"
_MOST: Final = 100
"""Members that are named as missing."""


class Heard(NamedTuple):
    """A member's last heartbeat, or what is as good as one: a join, in a classic group a commit.

    Attributes:
        ago_ms: since then.
        left_ms: until its session ends if nothing more comes; below 0 where that is due.
    """

    ago_ms: int
    left_ms: int


class RebalanceWait(NamedTuple):
    """What a rebalance of a classic group waits for.

    Attributes:
        missing: members that have not joined anew; while it waits for the assignment, the leader.
        missing_count: how many those are, named or not.
        coming: how many were given a member id and have not joined with it (KIP-394).
        left_ms: until it waits no longer; None where no end is set.
        more: it is the group's first one, which waits for members that nobody knows of yet.
        joined: all are there, and the leader is to say who has what.
    """

    missing: list[str]
    missing_count: int
    coming: int
    left_ms: int | None
    more: bool
    joined: bool


def last_heard(group: Group, member_id: str, timer_ms: int) -> Heard | None:
    """None where the member is gone, or waits for the answer to its join or sync, which stands for it."""
    if group.group_type == _CLASSIC:
        found: Any = group.members.get(member_id)  # type: ignore[attr-defined]
        if found is None or found.join_token is not None or found.sync_token is not None:
            return None
    else:
        found = getattr(group, "timers", {}).get(member_id)
    if found is None or found.session.at is None:
        return None
    left: int = found.session.at - timer_ms
    return Heard(max(found.session_timeout_ms - left, 0), left)


def rebalance_wait(group: Group, timer_ms: int) -> RebalanceWait | None:
    """None where no rebalance is under way, or the group is of another type."""
    if group.group_type != _CLASSIC:
        return None
    there: ClassicGroup = group  # type: ignore[assignment]
    if there.state_name == "PreparingRebalance":
        missing = (one.member_id for one in there.members.values() if one.join_token is None)
        left = None if there.join is None or there.join.at is None else there.join.at - timer_ms
        missing_count = len(there.members) - there.awaiting_join
        more = there.previous_state.value == "Empty"
        return RebalanceWait(list(islice(missing, _MOST)), missing_count, len(there.pending), left, more, False)
    if there.state_name == "CompletingRebalance":
        left = None if there.sync is None or there.sync.at is None else there.sync.at - timer_ms
        leader = [] if there.leader is None else [there.leader]
        return RebalanceWait(leader, len(leader), 0, left, False, True)
    return None


def revocation_left_ms(group: Group, member_id: str, timer_ms: int) -> int | None:
    """For how long a member of a group with epochs has still time to let go of what it is told to; None without end."""
    timers = getattr(group, "timers", {}).get(member_id)
    if timers is None or timers.rebalance is None or timers.rebalance.at is None:
        return None
    left: int = timers.rebalance.at - timer_ms
    return left
