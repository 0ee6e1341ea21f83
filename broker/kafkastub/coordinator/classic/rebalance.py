"""The rebalance of a classic group: its phases, its deadlines, and what each of them sets off.

Kafka: GroupMetadataManager (prepareRebalance, completeClassicGroupJoin, tryCompleteInitialRebalanceElseSchedule,
expireClassicGroupMemberHeartbeat, expirePendingSync and their neighbours).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from kafkastub.coordinator.classic.group import ClassicGroup
from kafkastub.coordinator.classic.member import ClassicMember
from kafkastub.coordinator.classic.states import State
from kafkastub.coordinator.records import Record
from kafkastub.coordinator.settings import GroupSettings
from kafkastub.coordinator.turn import Turn
from kafkastub.deadlines import Deadline, Deadlines
from kafkawire.errors import ErrorCode
from kafkawire.messages.join_group_response import JoinGroupResponse, JoinGroupResponseMember
from kafkawire.messages.sync_group_response import SyncGroupResponse


def leader_view(group: ClassicGroup) -> list[JoinGroupResponseMember]:
    """All members with their metadata, as the leader is told."""
    return [
        JoinGroupResponseMember(m.member_id, m.group_instance_id, m.metadata(group.protocol))
        for m in group.members.values()
    ]


def generation_response(group: ClassicGroup, member_id: str, tell_members: bool) -> JoinGroupResponse:
    """The answer to a member of the current generation."""
    return JoinGroupResponse(
        generation_id=group.generation,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol,
        leader=group.leader or "",
        member_id=member_id,
        members=leader_view(group) if tell_members else (),
    )


class Rebalancer:
    """Moves groups through their rebalances.

    Args:
        log: appends a record to the turn and applies it.
        changed: is told of every group whose state has changed.
    """

    __slots__ = ("changed", "completed_rebalances", "deadlines", "log", "settings")

    def __init__(
        self,
        settings: GroupSettings,
        deadlines: Deadlines[Turn],
        log: Callable[[Turn, Record], None],
        changed: Callable[[ClassicGroup, Turn], None],
    ) -> None:
        self.settings = settings
        self.deadlines = deadlines
        self.log = log
        self.changed = changed
        self.completed_rebalances = 0

    # -- phases --------------------------------------------------------------------------------------------------

    def prepare_or_complete(self, group: ClassicGroup, turn: Turn) -> None:
        """Start a rebalance; where one is on already, see whether it can go on."""
        if group.can_rebalance:
            self.prepare(group, turn)
        else:
            self.complete_if_all_joined(group, turn)

    def prepare(self, group: ClassicGroup, turn: Turn) -> None:
        """Start a rebalance. The first of a group waits for more members; any other until all have joined."""
        if group.state is State.COMPLETING_REBALANCE:
            for member in group.members.values():
                member.assignment = b""
            self._propagate(group, ErrorCode.REBALANCE_IN_PROGRESS, turn)
        group.pending_sync.clear()
        if group.sync is not None:
            group.sync.cancel()
        initial = group.state is State.EMPTY
        if initial:
            delay = self.settings.initial_rebalance_delay_ms
            self._wait_for_more(group, delay, max(group.rebalance_timeout_ms - delay, 0), turn)
        self._transition(group, State.PREPARING_REBALANCE, turn)
        if initial:
            return
        if group.all_joined:
            self.complete_join(group, turn)
        else:
            self._wait_for_joins(group, turn)

    def complete_if_all_joined(self, group: ClassicGroup, turn: Turn) -> None:
        """End the joins before their time, unless this is a group's first rebalance."""
        if group.state is State.PREPARING_REBALANCE and group.previous_state is not State.EMPTY and group.all_joined:
            self.complete_join(group, turn)

    def complete_join(self, group: ClassicGroup, turn: Turn) -> None:
        """End the joins: who has not come is out, except static members, and the next generation begins."""
        if group.join is not None:
            group.join.cancel()
        absent = [m for m in group.members.values() if m.join_token is None and m.group_instance_id is None]
        for member in absent:
            member.session.cancel()
            group.remove(member.member_id)
        if not group.elect_joined_leader() and group.members:
            self._wait_for_joins(group, turn)  # only static members are left; their sessions decide
            return
        group.next_generation(turn.broker_ms)
        self.changed(group, turn)
        if group.state is State.EMPTY:
            self.log(turn, group.persisted({}))
            return
        for member in group.members.values():
            is_leader = member.member_id == group.leader
            self.answer_join(group, member, generation_response(group, member.member_id, is_leader), turn)
            self.arm_session(member, turn)
            member.is_new = False
            group.pending_sync[member.member_id] = None
        generation = group.generation
        if group.sync is None:
            group.sync = Deadline(("sync", group.group_id), lambda later: None)
        group.sync.fire = lambda later: self._expire_sync(group, generation, later)
        self.deadlines.arm(group.sync, turn.timer_ms + group.rebalance_timeout_ms)

    def complete_sync(self, group: ClassicGroup, assignments: Mapping[str, bytes], turn: Turn) -> None:
        """The leader's assignment is there: write the generation down and hand the assignments out."""
        self.log(turn, group.persisted(assignments))
        for member in group.members.values():
            member.assignment = assignments.get(member.member_id, b"")
        self._propagate(group, ErrorCode.NONE, turn)
        self._transition(group, State.STABLE, turn)
        self.completed_rebalances += 1

    # -- waiting -------------------------------------------------------------------------------------------------

    def _wait_for_joins(self, group: ClassicGroup, turn: Turn) -> None:
        fire = partial(self._live, group, self.complete_join)
        # Armed again and again while only static members are left to come: at least that must not be at once.
        self._arm_join(group, max(group.rebalance_timeout_ms, 1), fire, turn)

    def _wait_for_more(self, group: ClassicGroup, delay: int, remaining: int, turn: Turn) -> None:
        self._arm_join(group, delay, lambda later: self._end_of_delay(group, delay, remaining, later), turn)

    def _arm_join(self, group: ClassicGroup, delay: int, fire: Callable[[Turn], None], turn: Turn) -> None:
        if group.join is None:
            group.join = Deadline(("join", group.group_id), fire)
        group.join.fire = fire
        self.deadlines.arm(group.join, turn.timer_ms + delay)

    def _end_of_delay(self, group: ClassicGroup, delay: int, remaining: int, turn: Turn) -> None:
        """The first rebalance has waited its delay: wait another one if somebody came, up to the rebalance timeout."""
        if group.state is State.DEAD:
            return
        if group.new_member_added and remaining:
            group.new_member_added = False
            next_delay = min(self.settings.initial_rebalance_delay_ms, remaining)
            self._wait_for_more(group, next_delay, max(remaining - delay, 0), turn)
        else:
            self.complete_join(group, turn)

    def _expire_sync(self, group: ClassicGroup, generation: int, turn: Turn) -> None:
        """Who has joined and not synced in time is out."""
        if group.generation != generation or group.state not in (State.COMPLETING_REBALANCE, State.STABLE):
            return
        if group.pending_sync:
            for member_id in list(group.pending_sync):
                member = group.members.get(member_id)
                if member is not None:
                    member.session.cancel()
                group.remove(member_id)
            self.prepare(group, turn)

    @staticmethod
    def _live(group: ClassicGroup, act: Callable[[ClassicGroup, Turn], None], turn: Turn) -> None:
        if group.state is not State.DEAD:
            act(group, turn)

    # -- sessions ------------------------------------------------------------------------------------------------

    def session(self, group: ClassicGroup, member_id: str) -> Deadline[Turn]:
        """A deadline for a member's session, not armed yet."""
        return Deadline(
            ("session", group.group_id, member_id),
            lambda later: self._live(group, lambda g, t: self._expire_session(g, member_id, t), later),
        )

    def arm_session(self, member: ClassicMember, turn: Turn) -> None:
        """The member is alive: its session counts anew."""
        self.deadlines.arm(member.session, turn.timer_ms + member.session_timeout_ms)

    def _expire_session(self, group: ClassicGroup, member_id: str, turn: Turn) -> None:
        if member_id in group.pending:
            group.remove(member_id)
            if group.state is State.PREPARING_REBALANCE and group.all_joined:
                self.complete_join(group, turn)
            return
        member = group.members.get(member_id)
        if member is None or member.satisfies_session:
            return  # a parked join or sync stands for it; the session is armed again when that is answered
        self.dismiss(group, member, turn)
        if group.state in (State.STABLE, State.COMPLETING_REBALANCE):
            self.prepare_or_complete(group, turn)
        elif group.state is State.PREPARING_REBALANCE and group.all_joined:
            self.complete_join(group, turn)

    # -- answers -------------------------------------------------------------------------------------------------

    def dismiss(self, group: ClassicGroup, member: ClassicMember, turn: Turn) -> None:
        """Take a member out; a join that it has parked is told that it is unknown, so that it comes back."""
        self.answer_join(group, member, JoinGroupResponse(error_code=ErrorCode.UNKNOWN_MEMBER_ID), turn)
        member.session.cancel()
        group.remove(member.member_id)

    def answer_join(self, group: ClassicGroup, member: ClassicMember, response: JoinGroupResponse, turn: Turn) -> None:
        """Answer the join that a member has parked, if any."""
        token = group.take_join(member)
        if token is not None:
            turn.complete(token, response)

    def answer_sync(self, member: ClassicMember, response: SyncGroupResponse, turn: Turn) -> bool:
        """Answer the sync that a member has parked; whether there was one."""
        token, member.sync_token = member.sync_token, None
        if token is None:
            return False
        turn.complete(token, response)
        return True

    def _propagate(self, group: ClassicGroup, error: ErrorCode, turn: Turn) -> None:
        """Answer every parked sync with the member's assignment or the error."""
        fine = error is ErrorCode.NONE
        for member in group.members.values():
            response = SyncGroupResponse(
                error_code=error,
                protocol_type=group.protocol_type if fine else None,
                protocol_name=group.protocol if fine else None,
                assignment=member.assignment,
            )
            if self.answer_sync(member, response, turn):
                # The session may have run out, unnoticed, while the sync was parked.
                self.arm_session(member, turn)

    def _transition(self, group: ClassicGroup, state: State, turn: Turn) -> None:
        group.transition(state, turn.broker_ms)
        self.changed(group, turn)
