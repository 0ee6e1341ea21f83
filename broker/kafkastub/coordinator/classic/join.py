"""JoinGroup of a classic group. Kafka: GroupMetadataManager.classicGroupJoin… and updateStaticMember…."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from kafkastub.coordinator.classic.group import ClassicGroup
from kafkastub.coordinator.classic.member import ClassicMember, Protocols
from kafkastub.coordinator.classic.rebalance import Rebalancer, generation_response, leader_view
from kafkastub.coordinator.classic.states import State
from kafkastub.coordinator.turn import Token, Turn
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.join_group_request import JoinGroupRequest
from kafkawire.messages.join_group_response import JoinGroupResponse
from kafkawire.messages.sync_group_response import SyncGroupResponse


class Join(NamedTuple):
    """A JoinGroup request and who sent it.

    Attributes:
        requires_member_id: a new dynamic member is given its id first and joins with it (KIP-394, version 4).
        may_skip_assignment: a returning static leader is told to leave the assignment as it is (KIP-814, version 9).
    """

    request: JoinGroupRequest
    protocols: Protocols
    client_id: str
    client_host: str
    token: Token
    requires_member_id: bool
    may_skip_assignment: bool

    def fail(self, turn: Turn, error: ErrorCode, member_id: str) -> None:
        """Answer with an error."""
        turn.complete(self.token, JoinGroupResponse(error_code=error, member_id=member_id, protocol_name=None))


class Joins:
    """Takes joins into groups."""

    __slots__ = ("random", "rebalancer")

    def __init__(self, rebalancer: Rebalancer, random: Random) -> None:
        self.rebalancer = rebalancer
        self.random = random

    def join(self, group: ClassicGroup, join: Join, turn: Turn) -> None:
        """Answer or park a join into an existing group."""
        member_id = join.request.member_id
        if not self._accepts(group, member_id):
            member = group.members.get(member_id)
            if member is not None:
                member.session.cancel()
            group.remove(member_id)
            join.fail(turn, ErrorCode.GROUP_MAX_SIZE_REACHED, "")
        elif not group.supports(join.request.protocol_type, join.protocols):
            join.fail(turn, ErrorCode.INCONSISTENT_GROUP_PROTOCOL, member_id)
        elif not member_id:
            self._new_member(group, join, turn)
        elif member_id in group.pending:
            if join.request.group_instance_id is not None:
                # A pending member is never static; Kafka trips over its own check here.
                join.fail(turn, ErrorCode.UNKNOWN_SERVER_ERROR, "")
            else:
                self._add(group, join, member_id, turn)
        else:
            self._known_member(group, join, turn)

    def _accepts(self, group: ClassicGroup, member_id: str) -> bool:
        """Whether the group has a place for the member.

        While joins are being collected it is those that count, so that the last of too many members to come back is
        the one that is turned away; after that it is the members.
        """
        if group.state is State.EMPTY:
            return True
        member = group.members.get(member_id)
        if group.state is State.PREPARING_REBALANCE:
            waiting = member is not None and member.join_token is not None
            return waiting or group.awaiting_join < self.rebalancer.settings.max_size
        return member is not None or len(group.members) < self.rebalancer.settings.max_size

    # -- new members ---------------------------------------------------------------------------------------------

    def _new_member(self, group: ClassicGroup, join: Join, turn: Turn) -> None:
        instance_id = join.request.group_instance_id
        prefix = join.client_id if instance_id is None else instance_id
        member_id = f"{prefix}-{_uuid(self.random)}"
        if instance_id is not None:
            existing = group.static_members.get(instance_id)
            if existing is not None:
                self._replace_static(group, join, group.members[existing], member_id, turn)
                return
        elif join.requires_member_id:
            session = self.rebalancer.session(group, member_id)
            self.rebalancer.deadlines.arm(session, turn.timer_ms + join.request.session_timeout_ms)
            group.pending[member_id] = session
            join.fail(turn, ErrorCode.MEMBER_ID_REQUIRED, member_id)
            return
        self._add(group, join, member_id, turn)

    def _add(self, group: ClassicGroup, join: Join, member_id: str, turn: Turn) -> None:
        """Take a new member in and rebalance."""
        request, rebalancer = join.request, self.rebalancer
        session = group.pending.get(member_id) or rebalancer.session(group, member_id)
        member = ClassicMember(
            member_id,
            request.group_instance_id,
            join.client_id,
            join.client_host,
            request.rebalance_timeout_ms,
            request.session_timeout_ms,
            join.protocols,
            session,
        )
        member.is_new = True
        member.join_token = join.token
        if group.state is State.PREPARING_REBALANCE and group.previous_state is State.EMPTY:
            group.new_member_added = True
        if not group.members:
            group.protocol_type = request.protocol_type
        group.add(member)
        # A new member has no heartbeats yet, and whether its client is still there cannot be seen while its join is
        # parked; this keeps clients that gave up from piling up in a long rebalance.
        rebalancer.deadlines.arm(session, turn.timer_ms + rebalancer.settings.new_member_join_timeout_ms)
        rebalancer.prepare_or_complete(group, turn)

    # -- known members -------------------------------------------------------------------------------------------

    def _known_member(self, group: ClassicGroup, join: Join, turn: Turn) -> None:
        member_id = join.request.member_id
        try:
            group.validate_member(member_id, join.request.group_instance_id)
        except KafkaError as error:
            join.fail(turn, error.code, member_id)
            return
        member = group.members[member_id]
        is_leader = group.leader == member_id
        same = member.protocols == join.protocols
        if group.state is State.COMPLETING_REBALANCE and same:
            # It may have missed the answer to its join.
            turn.complete(join.token, generation_response(group, member_id, is_leader))
        elif group.state is State.STABLE and same and not is_leader:
            turn.complete(join.token, generation_response(group, member_id, False))
        else:
            # Other metadata; or the leader, which rebalances a stable group by joining, as on a change of topics.
            self._update(group, member, join)
            self.rebalancer.prepare_or_complete(group, turn)

    @staticmethod
    def _update(group: ClassicGroup, member: ClassicMember, join: Join) -> None:
        request = join.request
        group.update(member, join.protocols, request.rebalance_timeout_ms, request.session_timeout_ms)
        group.park_join(member, join.token)

    def _replace_static(self, group: ClassicGroup, join: Join, old: ClassicMember, member_id: str, turn: Turn) -> None:
        """A static member is back under a new id: fence the old one, and rebalance only if that is necessary."""
        rebalancer = self.rebalancer
        leader = group.leader
        fenced = ErrorCode.FENCED_INSTANCE_ID
        fence = JoinGroupResponse(error_code=fenced, member_id=old.member_id, protocol_name=None)
        rebalancer.answer_join(group, old, fence, turn)
        rebalancer.answer_sync(old, SyncGroupResponse(error_code=fenced), turn)
        old.session.cancel()
        new = ClassicMember(
            member_id,
            old.group_instance_id,
            old.client_id,
            old.client_host,
            old.rebalance_timeout_ms,
            old.session_timeout_ms,
            old.protocols,
            rebalancer.session(group, member_id),
            old.assignment,
        )
        group.replace_static(old, new)
        rebalancer.arm_session(new, turn)  # by the old member's timeout, as in Kafka
        self._update(group, new, join)
        if group.state is State.STABLE:
            if group.protocol != group.select_protocol():
                rebalancer.prepare_or_complete(group, turn)
                return
            rebalancer.log(turn, group.persisted({i: m.assignment for i, m in group.members.items()}))
            rebalancer.answer_join(group, new, self._kept_place(group, new, join, leader), turn)
        elif group.state is State.COMPLETING_REBALANCE:
            # The leader may be assigning to the old id right now.
            rebalancer.prepare(group, turn)
        else:
            rebalancer.complete_if_all_joined(group, turn)

    @staticmethod
    def _kept_place(group: ClassicGroup, member: ClassicMember, join: Join, leader: str | None) -> JoinGroupResponse:
        """The answer to a static member that is back in a stable group.

        Before KIP-814 a returning leader was told the old leader id, so that it would not compute an assignment.
        """
        response = generation_response(group, member.member_id, False)
        if not join.may_skip_assignment:
            response.leader = leader or ""
        elif group.leader == member.member_id:
            response.members = leader_view(group)
            response.skip_assignment = True
        return response


def _uuid(random: Random) -> str:
    """A version 4 uuid as Java prints it. The module `uuid` takes as long to import as all of this package."""
    bits = random.getrandbits(128) & ~(0xF000 << 64 | 0xC000 << 48) | 0x4000 << 64 | 0x8000 << 48
    text = f"{bits:032x}"
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
