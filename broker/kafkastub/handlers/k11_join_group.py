"""JoinGroup (key 11), versions 0-9.

JG-1   Versions 0-3: a new member joins at once; its join is parked until the group has met.
JG-2   Versions 4+: a new dynamic member gets MEMBER_ID_REQUIRED and its id, and joins with that.     KIP-394
JG-3   An id is the client id, of a static member the group instance id, a hyphen and a uuid.
JG-4   The group's first rebalance waits group.initial.rebalance.delay.ms, again for as long as members come, up to the
       rebalance timeout.                                                                             KIP-134
JG-5   Later rebalances end when all members have joined, or with the rebalance timeout: who has not come is out.
JG-6   The leader is told all members with their metadata, the others none. It stays leader while it joins in time.
JG-7   The protocol with the most votes among those that all support is selected.
JG-8   A protocol type other than the group's, no protocol in common, or none at all: INCONSISTENT_GROUP_PROTOCOL.
JG-9   An id that is no member's: UNKNOWN_MEMBER_ID, of a group that does not exist too.
JG-10  A member that joins again with the same metadata: while syncs are awaited, and as a follower of a stable group,
       it is told the present generation; otherwise there is a rebalance.
JG-11  A static member that is back (no id) takes its old place: the old id is fenced, nobody rebalances if the protocol
       stays, and the generation is written down with the new id.                                     KIP-345
JG-12  Such a leader is told all members and to skip the assignment (version 9+); before, the old leader's id. KIP-814
JG-13  A static member's old id: FENCED_INSTANCE_ID; an instance id that nobody has, with an id: UNKNOWN_MEMBER_ID.
JG-14  A static member that is back while syncs are awaited makes the group rebalance.
JG-15  Above group.max.size: GROUP_MAX_SIZE_REACHED; during a rebalance parked joins count.           KIP-389
JG-16  A session timeout outside group.min/max.session.timeout.ms: INVALID_SESSION_TIMEOUT.
JG-17  The empty group id: INVALID_GROUP_ID.
JG-18  A pending member's place lasts for its session timeout; a rebalance waits for it.              KIP-394
JG-19  A new member's parked join lasts for five minutes, then UNKNOWN_MEMBER_ID.
JG-20  Version 0 has no rebalance timeout: it is the session timeout.
JG-21  Without a protocol, its name is "" below version 7 and null from there on.                     KIP-559
JG-22  The first join writes the new group down, empty; a generation is written when its assignment comes, and when
       a rebalance leaves the group empty.
JG-23  When only static members are left and none of them joined, the rebalance waits on.
JG-24  Into a group of the consumer protocol: the member is told at once its epoch as the generation, and nobody
       leads; an Empty one becomes a classic group.                                                   KIP-848
JG-25  There it has to have a protocol in common with the classic members, and the policy of migration must not be
       "disabled": INCONSISTENT_GROUP_PROTOCOL. Full is group.consumer.max.size.                       KIP-848
JG-26  A static classic member that takes the place of the last one of the consumer protocol makes the group classic;
       nobody rebalances where its target was up to date.                                             KIP-848
Not done: -
"""

from __future__ import annotations

from functools import partial

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Deferred, Outcome
from kafkastub.handlers.registry import handles
from kafkastub.state.groups import coordinator_of
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.join_group_request import JoinGroupRequest
from kafkawire.messages.join_group_response import JoinGroupResponse


def error_response(request: JoinGroupRequest, code: ErrorCode, version: int) -> JoinGroupResponse:
    """The code, and no generation."""
    return _lower(version, JoinGroupResponse(error_code=code))


@handles(ApiKey.JOIN_GROUP, 0, 9, error_response=error_response)
def join_group(ctx: RequestContext, request: JoinGroupRequest) -> Outcome:
    version = ctx.api_version
    if version == 0:
        request.rebalance_timeout_ms = request.session_timeout_ms
    reply = Deferred(partial(_lower, version))
    classic = coordinator_of(ctx.state).classic
    turn = classic.join(request, version, ctx.client_id, ctx.client_host, reply, ctx.broker_ms, ctx.timer_ms)
    ctx.state.settle(turn)
    return reply


def _lower(version: int, response: JoinGroupResponse) -> JoinGroupResponse:
    """Before version 7 the protocol name cannot be null, after that it is never empty."""
    response.protocol_name = (response.protocol_name or "") if version < 7 else (response.protocol_name or None)
    return response
