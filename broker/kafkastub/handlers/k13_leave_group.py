"""LeaveGroup (key 13), versions 0-5.

LG-1   A member that leaves is out at once, and the group rebalances; the last one leaves the group empty, which is
       written down.                                                           Kafka: classicGroupLeave
LG-2   Versions 3+: a batch of members, each answered by itself; the group rebalances once.             KIP-345
LG-3   Versions 0-2: one member, its error is the answer's.
LG-4   A static member may be named by its instance id alone; an unknown one: UNKNOWN_MEMBER_ID.        KIP-345
LG-5   A static member's old id: FENCED_INSTANCE_ID.
LG-6   Who is no member, or the group does not exist: UNKNOWN_MEMBER_ID at the member.
LG-7   A pending member gives up its place.                                                             KIP-394
LG-8   A join that the member has parked answers UNKNOWN_MEMBER_ID.
LG-9   The empty group id: INVALID_GROUP_ID.
LG-10  Members of a consumer group leave so too, whatever protocol they use.                            KIP-848
The reason (KIP-800) is read and not used.
"""

from __future__ import annotations

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.state.groups import coordinator_of
from kafkastub.state.pace import paced
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
from kafkawire.messages.leave_group_response import LeaveGroupResponse, MemberResponse


def error_response(request: LeaveGroupRequest, code: ErrorCode, version: int) -> LeaveGroupResponse:
    """The code at the top."""
    return LeaveGroupResponse(error_code=code)


@handles(ApiKey.LEAVE_GROUP, 0, 5, error_response=error_response)
def leave_group(ctx: RequestContext, request: LeaveGroupRequest) -> Outcome:
    members = request.members if ctx.api_version >= 3 else [MemberIdentity(request.member_id)]
    try:
        turn = coordinator_of(ctx.state).classic.leave(request.group_id, members, ctx.broker_ms, ctx.timer_ms)
        responses: list[MemberResponse] = ctx.state.settle(turn).reply
    except KafkaError as error:
        if error.code is not ErrorCode.UNKNOWN_MEMBER_ID:
            raise
        responses = [MemberResponse(m.member_id, m.group_instance_id, error.code) for m in paced(members, ctx.pace)]
    if ctx.api_version >= 3:
        return LeaveGroupResponse(members=responses)
    return LeaveGroupResponse(error_code=responses[0].error_code)
