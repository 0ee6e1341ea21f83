"""SyncGroup (key 14), versions 0-5.

SG-1   Followers' syncs are parked until the leader's comes; then everybody gets its assignment, members that it does
       not name an empty one, and the generation is written down.             Kafka: classicGroupSync
SG-2   In a stable group the answer is the member's assignment.
SG-3   While joins are collected: REBALANCE_IN_PROGRESS; parked syncs get it when a rebalance starts.
SG-4   An unknown group or member, and an empty group: UNKNOWN_MEMBER_ID.
SG-5   Another generation: ILLEGAL_GENERATION.
SG-6   A static member that was replaced: FENCED_INSTANCE_ID, where its sync is parked too.             KIP-345
SG-7   Another protocol type or name than the group's: INCONSISTENT_GROUP_PROTOCOL; version 5 must give both. KIP-559
SG-8   Who has joined and does not sync within the rebalance timeout is out, and the group rebalances.
SG-9   The empty group id: INVALID_GROUP_ID.
SG-10  A classic member of a consumer group: its assignment, REBALANCE_IN_PROGRESS where it has to join again; a
       member that uses the new protocol: UNKNOWN_MEMBER_ID.                       KIP-848
Not done: -
"""

from __future__ import annotations

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Deferred, Outcome
from kafkastub.handlers.registry import handles
from kafkastub.state.deferred import as_it_is
from kafkastub.state.groups import coordinator_of
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.sync_group_request import SyncGroupRequest
from kafkawire.messages.sync_group_response import SyncGroupResponse


def error_response(request: SyncGroupRequest, code: ErrorCode, version: int) -> SyncGroupResponse:
    """The code, and no assignment."""
    return SyncGroupResponse(error_code=code)


@handles(ApiKey.SYNC_GROUP, 0, 5, error_response=error_response)
def sync_group(ctx: RequestContext, request: SyncGroupRequest) -> Outcome:
    if ctx.api_version >= 5 and (request.protocol_type is None or request.protocol_name is None):
        raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    reply = Deferred(as_it_is)
    ctx.state.settle(coordinator_of(ctx.state).classic.sync(request, reply, ctx.broker_ms, ctx.timer_ms))
    return reply
