"""Members that leave or lose their session."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from kafkastub.coordinator.modern.context import ModernContext
from kafkastub.coordinator.modern.group import ModernGroup, Timers
from kafkastub.coordinator.modern.member import RevokingMember
from kafkastub.coordinator.modern.membership import LEAVE_GROUP_STATIC_MEMBER_EPOCH
from kafkastub.coordinator.modern.reconciling import ReconcilingGroup
from kafkastub.coordinator.modern.timers import Timer
from kafkastub.coordinator.turn import Turn
from kafkastub.deadlines import Deadline

Group = TypeVar("Group", bound=ModernGroup[Any, Any, Any])
Reconciling = TypeVar("Reconciling", bound=ReconcilingGroup[Any, Any, Any])


class Sessions(Generic[Group, Timers]):
    """Takes members out of groups of one type, and watches over their sessions.

    Args:
        new_timers: makes a member's deadlines, of its session.
    """

    __slots__ = ("_deadlines", "_new_timers", "context")

    def __init__(self, context: ModernContext[Group, Any], new_timers: Callable[[Timer], Timers]) -> None:
        self.context = context
        self._deadlines = context.groups.deadlines
        self._new_timers = new_timers

    def fence_one(self, group: Group, member: Any, turn: Turn) -> None:
        """Take a member out; the group's epoch is raised. Raises what speaks against it."""
        raise NotImplementedError

    def leave(self, request: Any, turn: Turn) -> None:
        """A heartbeat by which a member leaves. Raises GROUP_ID_NOT_FOUND, and what speaks against it."""
        self.let_leave(self.context.existing(request.group_id), request, turn)

    def let_leave(self, group: Group, request: Any, turn: Turn) -> None:
        """A member says that it leaves for good. Raises UNKNOWN_MEMBER_ID, and what speaks against it."""
        self.fence_one(group, group.member(request.member_id), turn)

    def timers(self, group: Group, member_id: str) -> Timers:
        """A member's deadlines, armed or not."""
        timers: Timers | None = group.timers.get(member_id)
        if timers is None:
            session = Timer(("session", group.group_id, member_id), lambda later: self.expel(group, member_id, later))
            timers = group.timers[member_id] = self._new_timers(session)
        return timers

    def arm_session(self, group: Group, member_id: str, session_timeout_ms: int, timer_ms: int) -> None:
        """The member is alive: its session counts anew."""
        timers = group.timers.get(member_id) or self.timers(group, member_id)
        timers.session_timeout_ms = session_timeout_ms
        self._deadlines.arm(timers.session, timer_ms + session_timeout_ms)

    def alive(self, group: Group, member_id: str, timer_ms: int) -> Any:
        """The same, by what the group goes by, which is given back."""
        settings = self.context.of(group.group_id)
        self.arm_session(group, member_id, settings.session_timeout_ms, timer_ms)
        return settings

    def watch_all(self, group: Group, turn: Turn) -> None:
        """The group has come to life: its members' deadlines count from now on."""
        for member_id in group.members:
            self.alive(group, member_id, turn.timer_ms)

    def expel(self, group: Group, member_id: str, turn: Turn, epoch: int | None = None) -> None:
        """A deadline is over: the member is out, if it is still there, and in that epoch."""
        member = group.members.get(member_id)
        there = self.context.find(group.group_id) is group
        if there and member is not None and epoch in (None, member.member_epoch):
            self._take_out(group, member, turn)

    def _take_out(self, group: Group, member: Any, turn: Turn) -> None:
        self.fence_one(group, member, turn)


class Watching(Sessions[Reconciling, Timers]):
    """The same where members let go of what others are to have: they have to do so in time."""

    __slots__ = ()

    # -- members that leave --------------------------------------------------------------------------------------

    def let_leave(self, group: Reconciling, request: Any, turn: Turn) -> None:
        """The same, or that it leaves as a static member that comes back."""
        if request.instance_id is None:
            super().let_leave(group, request, turn)
            return
        member = group.existing_static_member(request.instance_id, request.member_id)
        if request.member_epoch == LEAVE_GROUP_STATIC_MEMBER_EPOCH:
            # its session runs on; until it is over, what it has is kept for the instance's next member
            left = group.forms.assignment_record(group.group_id, self._left_for_a_while(member))
            self.context.write(group, [left], turn)
        else:
            self.fence_one(group, member, turn)

    def _left_for_a_while(self, member: Any) -> Any:
        """The member, in the epoch of one that comes back; what it has it has from now on in any epoch."""
        raise NotImplementedError

    # -- deadlines -----------------------------------------------------------------------------------------------

    def arm_rebalance(self, group: Reconciling, member: RevokingMember, turn: Turn) -> None:
        """The member has its rebalance timeout to let go of what it has lost: its epoch says whether it has."""
        timers, epoch, member_id = self.timers(group, member.member_id), member.member_epoch, member.member_id
        if timers.rebalance is None:
            timers.rebalance = Deadline(("rebalance", group.group_id, member_id), lambda later: None)
        timers.rebalance.fire = lambda later: self.expel(group, member_id, later, epoch)
        self._deadlines.arm(timers.rebalance, turn.timer_ms + member.rebalance_timeout_ms)

    def cancel_rebalance(self, group: Reconciling, member_id: str) -> None:
        """The member is not late."""
        timers = group.timers.get(member_id)
        if timers is not None and timers.rebalance is not None:
            timers.rebalance.cancel()

    def watch(self, group: Reconciling, member: RevokingMember, turn: Turn) -> None:
        """The member has changed: it has time to let go of what it has lost, if it has."""
        if member.must_revoke:
            self.arm_rebalance(group, member, turn)
        else:
            self.cancel_rebalance(group, member.member_id)

    def watch_all(self, group: Reconciling, turn: Turn) -> None:
        """The same with the rebalance timeouts of those that have to let go of something."""
        for member in list(group.members.values()):
            self.alive(group, member.member_id, turn.timer_ms)
            if member.must_revoke:
                self.arm_rebalance(group, member, turn)
