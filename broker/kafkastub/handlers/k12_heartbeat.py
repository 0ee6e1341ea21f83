"""Heartbeat (key 12), versions 0-4.

HB-1   A member's heartbeat keeps its session alive; without one it is out when the session timeout is over, and the
       group rebalances.                                                       Kafka: classicGroupHeartbeat
HB-2   While joins are collected: REBALANCE_IN_PROGRESS, and the session counts anew; while syncs are awaited: NONE.
HB-3   An unknown group or member, and an empty group: UNKNOWN_MEMBER_ID.
HB-4   Another generation: ILLEGAL_GENERATION.
HB-5   A static member that was replaced: FENCED_INSTANCE_ID; an instance id that nobody has: UNKNOWN_MEMBER_ID. KIP-345
HB-6   The empty group id: INVALID_GROUP_ID.
HB-7   A classic member of a consumer group: REBALANCE_IN_PROGRESS until it has joined again for its next assignment;
       a member that uses the new protocol: UNKNOWN_MEMBER_ID.                  KIP-848
Not done: -
"""

from __future__ import annotations

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.state.groups import coordinator_of
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.heartbeat_request import HeartbeatRequest
from kafkawire.messages.heartbeat_response import HeartbeatResponse

_FINE = HeartbeatResponse()
"""What most heartbeats are told: the same object, so that it is encoded once."""


def error_response(request: HeartbeatRequest, code: ErrorCode, version: int) -> HeartbeatResponse:
    """The code."""
    return HeartbeatResponse(error_code=code)


@handles(ApiKey.HEARTBEAT, 0, 4, error_response=error_response)
def heartbeat(ctx: RequestContext, request: HeartbeatRequest) -> Outcome:
    code = coordinator_of(ctx.state).classic.heartbeat(
        request.group_id, request.member_id, request.group_instance_id, request.generation_id, ctx.timer_ms
    )
    return HeartbeatResponse(error_code=code) if code else _FINE
