"""SyncGroup, Heartbeat and LeaveGroup of a classic group. Kafka: GroupMetadataManager.classicGroupSync, …Leave."""

from __future__ import annotations

from kafkastub.coordinator.classic.group import ClassicGroup
from kafkastub.coordinator.classic.rebalance import Rebalancer
from kafkastub.coordinator.classic.states import State
from kafkastub.coordinator.turn import Token, Turn
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.leave_group_request import MemberIdentity
from kafkawire.messages.leave_group_response import MemberResponse
from kafkawire.messages.sync_group_request import SyncGroupRequest
from kafkawire.messages.sync_group_response import SyncGroupResponse

# Looked up once: in Python 3.11 that takes as long as a call.
_PREPARING_REBALANCE = State.PREPARING_REBALANCE
_NONE, _REBALANCE_IN_PROGRESS = ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS


def sync(group: ClassicGroup, request: SyncGroupRequest, token: Token, rebalancer: Rebalancer, turn: Turn) -> None:
    """Answer or park a sync. Raises what speaks against it."""
    if group.state is State.EMPTY:
        raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID)
    member_id = request.member_id
    group.validate_member(member_id, request.group_instance_id)
    if request.generation_id != group.generation:
        raise KafkaError(ErrorCode.ILLEGAL_GENERATION)
    if _differs(request.protocol_type, group.protocol_type) or _differs(request.protocol_name, group.protocol):
        raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    if group.state is State.PREPARING_REBALANCE:
        raise KafkaError(ErrorCode.REBALANCE_IN_PROGRESS)
    member = group.members[member_id]
    group.pending_sync.pop(member_id, None)
    if not group.pending_sync and group.sync is not None:
        group.sync.cancel()
    if group.state is State.STABLE:
        response = SyncGroupResponse(
            protocol_type=group.protocol_type, protocol_name=group.protocol, assignment=member.assignment
        )
        turn.complete(token, response)
        return
    member.sync_token = token
    if group.leader == member_id:
        rebalancer.complete_sync(group, {a.member_id: bytes(a.assignment) for a in request.assignments}, turn)


def _differs(requested: str | None, actual: str | None) -> bool:
    return requested is not None and actual is not None and requested != actual


def heartbeat(
    group: ClassicGroup,
    member_id: str,
    group_instance_id: str | None,
    generation: int,
    rebalancer: Rebalancer,
    timer_ms: int,
) -> ErrorCode:
    """A member is alive. NONE, or REBALANCE_IN_PROGRESS where it has to join again. Raises what speaks against it."""
    member = group.members.get(member_id)
    if member is None or group_instance_id is not None:
        group.validate_member(member_id, group_instance_id)
        member = group.members[member_id]
    if generation != group.generation:
        raise KafkaError(ErrorCode.ILLEGAL_GENERATION)
    rebalancer.deadlines.arm(member.session, timer_ms + member.session_timeout_ms)
    return _REBALANCE_IN_PROGRESS if group.state is _PREPARING_REBALANCE else _NONE


def leave(
    group: ClassicGroup, members: list[MemberIdentity], rebalancer: Rebalancer, turn: Turn
) -> list[MemberResponse]:
    """Take members out, each judged by itself, and rebalance once. A static one may be named by its instance alone."""
    responses = [
        MemberResponse(m.member_id, m.group_instance_id, _leave_one(group, m, rebalancer, turn)) for m in members
    ]
    if any(r.error_code == ErrorCode.NONE for r in responses):
        if group.state in (State.STABLE, State.COMPLETING_REBALANCE):
            rebalancer.prepare_or_complete(group, turn)
        else:
            rebalancer.complete_if_all_joined(group, turn)
    return responses


def _leave_one(group: ClassicGroup, identity: MemberIdentity, rebalancer: Rebalancer, turn: Turn) -> ErrorCode:
    member_id, instance_id = identity.member_id, identity.group_instance_id
    if not member_id:
        if instance_id is None or instance_id not in group.static_members:
            return ErrorCode.UNKNOWN_MEMBER_ID
        member_id = group.static_members[instance_id]
    elif member_id in group.pending:
        group.pending[member_id].cancel()
        group.remove(member_id)
        return ErrorCode.NONE
    elif instance_id is None and member_id not in group.members:
        return ErrorCode.UNKNOWN_MEMBER_ID  # an error that is raised takes longer
    else:
        try:
            group.validate_member(member_id, instance_id)
        except KafkaError as error:
            return error.code
    rebalancer.dismiss(group, group.members[member_id], turn)
    return ErrorCode.NONE
