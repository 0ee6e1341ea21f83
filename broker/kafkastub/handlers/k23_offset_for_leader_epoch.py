"""OffsetForLeaderEpoch (key 23), versions 2-4.

LE-1  The largest epoch that is at most the requested one, and the offset after its last record.    KIP-101, KIP-279
LE-2  The current epoch ends at the log end; an unknown newer one and -1 give epoch -1 and offset -1.
LE-3  An epoch older than all is answered with itself and the start of the oldest.    LeaderEpochFileCache.endOffsetFor
LE-4  A current leader epoch that is not the partition's: FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH.    KIP-320
LE-5  Unknown topic or partition: UNKNOWN_TOPIC_OR_PARTITION, epoch and offset -1.
LE-6  What is asked twice is answered twice.    ReplicaManager.lastOffsetForLeaderEpoch
Not done: -
"""

from __future__ import annotations

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.state.pace import paced
from kafkastub.state.partitions import led_log
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.offset_for_leader_epoch_request import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
)
from kafkawire.messages.offset_for_leader_epoch_response import (
    EpochEndOffset,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)


def error_response(request: OffsetForLeaderEpochRequest, code: ErrorCode, version: int) -> OffsetForLeaderEpochResponse:
    """The same code for every partition."""
    return OffsetForLeaderEpochResponse(
        topics=[
            OffsetForLeaderTopicResult(
                topic=topic.topic,
                partitions=[EpochEndOffset(partition=one.partition, error_code=code) for one in topic.partitions],
            )
            for topic in request.topics
        ]
    )


@handles(ApiKey.OFFSET_FOR_LEADER_EPOCH, 2, 4, error_response=error_response)
def offset_for_leader_epoch(ctx: RequestContext, request: OffsetForLeaderEpochRequest) -> Outcome:
    return OffsetForLeaderEpochResponse(
        topics=[
            OffsetForLeaderTopicResult(
                topic=topic.topic,
                partitions=[_answer(ctx, topic.topic, one) for one in paced(topic.partitions, ctx.pace)],
            )
            for topic in paced(request.topics, ctx.pace)
        ]
    )


def _answer(ctx: RequestContext, name: str, one: OffsetForLeaderPartition) -> EpochEndOffset:
    try:
        log = led_log(ctx.state, ctx.node_id, ctx.state.cluster.topic(name), one.partition, one.current_leader_epoch)
    except KafkaError as error:
        return EpochEndOffset(partition=one.partition, error_code=error.code)
    epoch, offset = log.epochs.end_offset(one.leader_epoch, log.log_end_offset)
    return EpochEndOffset(partition=one.partition, leader_epoch=epoch, end_offset=offset)
