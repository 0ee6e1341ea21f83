"""ShareAcknowledge (key 79), versions 1-2.

AK-1   Where share groups are switched off (share.version 0): UNSUPPORTED_VERSION. KafkaApis.isShareGroupProtocolEnabled
AK-2   No group id, or no member id or one of more than 36 characters: INVALID_REQUEST.       KafkaApis.isMemberIdValid
AK-3   The request needs the member's share session and its next epoch: SHARE_SESSION_NOT_FOUND,
       INVALID_SHARE_SESSION_EPOCH, which epoch 0 is in any case; epoch -1 ends the session, and what the member has
       acquired in its partitions is given back.                SharePartitionManager.acknowledgeSessionUpdate, KIP-932
AK-4   An unknown topic id is UNKNOWN_TOPIC_ID; an unknown partition, and one that nobody of the group has fetched here,
       UNKNOWN_TOPIC_OR_PARTITION.                                                  KafkaApis.handleAcknowledgements
AK-5   Batches out of order or overlapping, with no types or neither one nor as many as offsets, or with types that are
       none: INVALID_REQUEST at the partition, nothing of which is done.        KafkaApis.validateAcknowledgementBatches
AK-6   Type 4 renews locks, from version 2 on and where is_renew_ack says so; else it is INVALID_REQUEST.    KIP-1222
AK-7   What the share partition says against it (INVALID_RECORD_STATE …) comes with its text; a partition's
       acknowledgements are all done or none.                                                 SharePartition.acknowledge
       Where Kafka falls over a range (it begins at or behind the start offset, and before all that is in flight) the
       whole request is UNKNOWN_SERVER_ERROR.
AK-8   The answer comes when it is written; what can't be, is not done, and has the error that a leader gives it.
                                                                                SharePartition.fetchPersisterError
AK-9   acquisition_lock_timeout_ms is the group's, from version 2 on.                                        KIP-1222
AK-10  NOT_LEADER_OR_FOLLOWER comes with the leader and its endpoint.                                         KIP-951
AK-11  Without Read on the group GROUP_AUTHORIZATION_FAILED, on a topic TOPIC_AUTHORIZATION_FAILED.
AK-12  A partition without batches is not told of where nothing else is acknowledged.
AK-13  Many batches are looked at in parts, so that others are served between.
AK-14  With a dead-letter topic of the group, and share.version 2, what is rejected, or given back after its last
       delivery, is ARCHIVING until its dead letter is written, and ARCHIVED then; the answer does not wait for that.
                                                                   KIP-1191; Kafka: SharePartition.initiateDLQAndArchive
AK-15  It is archived without a dead letter where the topic is missing (and may not be made), is not one for dead
       letters, has not the prefix, takes no record so large, or has had no leader at five attempts, 2, 4, 8 and 16 s
       apart.                                                                               ShareGroupDLQStateManager
AK-16  A dead letter has the record's place, the group, the delivery count and the cause in its headers; key and value
       where the group has its records copied; its partition is the record's modulo those of the topic.
AK-17  With an authorizer a topic id that is no topic's: UNKNOWN_SERVER_ERROR, and nothing is acknowledged; the epoch is
       raised, but the session does not end. Kafka asks who may read a topic that has no name.               AuthHelper
Not done: dead letters that Kafka writes in several batches, as they come, are in one here; and of neighbours that are
rejected one by one it writes the ARCHIVED state one by one, here in one.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Deferred, Outcome
from kafkastub.handlers.registry import handles
from kafkastub.security import Operation
from kafkastub.state.deferred import Steps, in_parts
from kafkastub.state.group_protocols import serves_share_protocol
from kafkastub.state.partitions import leader_hint
from kafkastub.steps import at_once
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.share_acknowledge_request import ShareAcknowledgeRequest
from kafkawire.messages.share_acknowledge_response import (
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
    ShareAcknowledgeResponse,
    ShareAcknowledgeTopicResponse,
)

if TYPE_CHECKING:
    from kafkastub.state.share_partitions.acknowledgements import Said

FINAL_EPOCH = -1
_ANSWERED = 500
"""Partitions that are answered before others have their turn."""
_HINTED = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)


def error_response(request: ShareAcknowledgeRequest, code: ErrorCode, version: int) -> ShareAcknowledgeResponse:
    """The code at the top, without a text."""
    return ShareAcknowledgeResponse(error_code=code)


@handles(ApiKey.SHARE_ACKNOWLEDGE, 1, 2, error_response=error_response)
def share_acknowledge(ctx: RequestContext, request: ShareAcknowledgeRequest) -> Outcome:
    from kafkastub.state.share_partitions.acknowledgements import AT_ONCE, Acknowledgements, check_member

    if not serves_share_protocol(ctx.state):
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION)
    may_read = may_read_topic = None
    if ctx.state.authorizer is not None:
        may_read, may_read_topic = (partial(way, Operation.READ) for way in (ctx.access.to_group, ctx.access.to_topic))
    group_id, member_id = check_member(request.group_id, request.member_id, may_read)
    manager = ctx.state.share_partitions
    now = ctx.broker_ms, ctx.timer_ms
    manager.seen(now)
    session = manager.sessions_of(ctx.node_id).acknowledge(group_id, member_id, request.share_session_epoch)
    if may_read_topic is not None and any(manager.topic(topic.topic_id) is None for topic in request.topics):
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, "an unknown topic id, and an authorizer")
    acknowledgements = Acknowledgements(manager, ctx.node_id, group_id, member_id, now)

    def close() -> None:
        if request.share_session_epoch == FINAL_EPOCH:
            manager.end_session(ctx.node_id, session, now)

    def respond(_: object) -> ShareAcknowledgeResponse:
        close()
        return at_once(_answer(ctx, group_id, acknowledgements.said))

    def steps() -> Steps:
        yield from acknowledgements.take(
            request.topics, version=ctx.api_version, renewing=request.is_renew_ack, may_read=may_read_topic
        )
        yield from acknowledgements.writing()
        if acknowledgements.is_done:
            if request.share_session_epoch == FINAL_EPOCH:
                yield from manager.ending(ctx.node_id, session, now)
            return (yield from _answer(ctx, group_id, acknowledgements.said))
        deferred = Deferred(respond)
        acknowledgements.when_done(deferred.complete)
        return deferred

    return in_parts(steps(), AT_ONCE, manager.turns.add, partial(error_response, request, version=ctx.api_version))


def _answer(
    ctx: RequestContext, group_id: str, said: Mapping[tuple[bytes, int], Said]
) -> Generator[int, None, ShareAcknowledgeResponse]:
    state = ctx.state
    topics: dict[bytes, list[PartitionData]] = {}
    endpoints: dict[int, NodeEndpoint] = {}
    for number, ((topic_id, index), (code, message)) in enumerate(said.items(), 1):
        answer = PartitionData(partition_index=index, error_code=code, error_message=message)
        if code in _HINTED:
            leader, epoch, node = leader_hint(state, ctx.listener, state.cluster.topic_by_id(topic_id), index)
            answer.current_leader = LeaderIdAndEpoch(leader, epoch)
            if node is not None:
                endpoints[leader] = NodeEndpoint(leader, node.host, node.port, node.rack)
        topics.setdefault(topic_id, []).append(answer)
        if not number % _ANSWERED:
            yield _ANSWERED
    return ShareAcknowledgeResponse(
        acquisition_lock_timeout_ms=state.share_partitions.settings(group_id).record_lock_duration_ms,
        responses=[ShareAcknowledgeTopicResponse(topic_id, partitions) for topic_id, partitions in topics.items()],
        node_endpoints=list(endpoints.values()),
    )
