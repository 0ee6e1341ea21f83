"""ListOffsets (key 2), versions 1-11.

LO-1   -2 (earliest): the log start offset; -1 (latest): the high watermark, for isolation level 1 the last stable
       offset; both without a timestamp.    KIP-79, KIP-98
LO-2   A timestamp: the first record with at least that timestamp, by its own timestamp and offset, inside compressed
       batches too; -1 and -1 where there is none.    KIP-79
LO-3   -3 (version 7): the first record with the largest timestamp; -1 and -1 of an empty log.    KIP-734
LO-4   -4 (version 8): the earliest local offset, as there is no tiered storage the earliest.    KIP-405
LO-5   -5 (version 9) and -6 (version 11): nothing is tiered, hence -1 and -1.    KIP-1005, KIP-1023
LO-6   Any other negative timestamp, and those before their version: UNSUPPORTED_VERSION.    ReplicaManager.fetchOffset
LO-7   Unknown topic or partition: UNKNOWN_TOPIC_OR_PARTITION, with offset and timestamp -1 as with every error.
LO-8   A leader epoch that is not the partition's (version 4): FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH.    KIP-320
LO-9   From version 4 on the answer names the leader epoch of what was found.    KIP-320
LO-10  A partition named twice: INVALID_REQUEST, once.    ReplicaManager.fetchOffset
LO-11  With isolation level 1 nothing is found at or behind the last stable offset, by time or largest timestamp: -1
       and -1. Any level but 0 and 1: UNKNOWN_SERVER_ERROR.    Partition.fetchOffsetForTimestamp
LO-12  Records before the log start offset are not found by timestamp.
LO-13  With isolation level 1 the latest offset may be below the log start: that of the batch, of an open transaction,
       inside of which the log starts.    UnifiedLog.maybeUpdateFirstUnstableOffset
LO-14  Compressed batches that have to be looked into are unpacked one at a time, and others served meanwhile; what was
       found in them is remembered. Kafka does it in one of its threads.    FileRecords.searchForTimestamp
Not done: remote storage. A batch of a codec that is not installed can't be searched: UNKNOWN_SERVER_ERROR.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from functools import partial

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.state.deferred import Steps, in_parts
from kafkastub.state.pace import paced
from kafkastub.state.partitions import led_log
from kafkastub.storage import PartitionLog
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest
from kafkawire.messages.list_offsets_response import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)

READ_COMMITTED = 1
LATEST = -1
EARLIEST = -2
MAX_TIMESTAMP = -3
EARLIEST_LOCAL = -4
LATEST_TIERED = -5
EARLIEST_PENDING_UPLOAD = -6
_SINCE = {LATEST: 1, EARLIEST: 1, MAX_TIMESTAMP: 7, EARLIEST_LOCAL: 8, LATEST_TIERED: 9, EARLIEST_PENDING_UPLOAD: 11}
_NEVER = 1 << 15
LEADER_EPOCH_FROM = 4
_AT_ONCE = 5000
"""Records that are looked at before others have their turn; two milliseconds."""


def error_response(request: ListOffsetsRequest, code: ErrorCode, version: int) -> ListOffsetsResponse:
    """The same code for every partition."""
    return ListOffsetsResponse(
        topics=[
            ListOffsetsTopicResponse(
                name=topic.name,
                partitions=[
                    ListOffsetsPartitionResponse(partition_index=one.partition_index, error_code=code)
                    for one in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


@handles(ApiKey.LIST_OFFSETS, 1, 11, error_response=error_response)
def list_offsets(ctx: RequestContext, request: ListOffsetsRequest) -> Outcome:
    if request.isolation_level not in (0, 1):
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, f"Unknown isolation level {request.isolation_level}")
    failed = partial(error_response, request, version=ctx.api_version)
    return in_parts(_answers(ctx, request), _AT_ONCE, ctx.state.turns.add, failed, for_nobody=False)


def _answers(ctx: RequestContext, request: ListOffsetsRequest) -> Steps:
    """The answer, partition by partition."""
    pace = ctx.pace
    times = Counter(
        (topic.name, one.partition_index)
        for topic in paced(request.topics, pace)
        for one in paced(topic.partitions, pace)
    )
    answers: dict[str, dict[int, ListOffsetsPartitionResponse]] = {}
    committed = request.isolation_level == READ_COMMITTED
    for topic in paced(request.topics, pace):
        answered = answers.setdefault(topic.name, {})
        for one in paced(topic.partitions, pace):
            if times[topic.name, one.partition_index] > 1:
                answer = _error(one, ErrorCode.INVALID_REQUEST)
            elif one.timestamp >= 0 or one.timestamp == MAX_TIMESTAMP:
                answer = yield from _searched(ctx, topic.name, one, committed)
            else:
                answer = _at_once(ctx, topic.name, one, committed)
            answered[one.partition_index] = answer
    return ListOffsetsResponse(
        topics=[
            ListOffsetsTopicResponse(name=name, partitions=list(answered.values()))
            for name, answered in paced(answers.items(), pace)
        ]
    )


def _searched(
    ctx: RequestContext, name: str, one: ListOffsetsPartition, committed: bool
) -> Generator[int, None, ListOffsetsPartitionResponse]:
    """By time, or the largest time."""
    if one.timestamp < 0 and ctx.api_version < _SINCE[one.timestamp]:
        return _error(one, ErrorCode.UNSUPPORTED_VERSION)
    try:
        log = led_log(
            ctx.state, ctx.node_id, ctx.state.cluster.topic(name), one.partition_index, one.current_leader_epoch
        )
        end = log.last_stable_offset if committed else log.high_watermark
        wanted = None if one.timestamp == MAX_TIMESTAMP else one.timestamp
        found: tuple[int, int, int] | None = yield from log.search(wanted, ctx.state.logs.unpacker)
    except KafkaError as error:
        return _refused(one, error)
    return _found(ctx, one, None if found is None or found[1] >= end else found)


def _at_once(
    ctx: RequestContext, name: str, one: ListOffsetsPartition, committed: bool
) -> ListOffsetsPartitionResponse:
    """What is known without a look at the records."""
    if ctx.api_version < _SINCE.get(one.timestamp, _NEVER):
        return _error(one, ErrorCode.UNSUPPORTED_VERSION)
    topic, index = ctx.state.cluster.topic(name), one.partition_index
    try:
        log = led_log(ctx.state, ctx.node_id, topic, index, one.current_leader_epoch)
        end = log.last_stable_offset if committed else log.high_watermark
    except KafkaError as error:
        return _refused(one, error)
    assert topic is not None
    return _found(ctx, one, _special(log, one.timestamp, topic.partitions[index].leader_epoch, end))


def _found(
    ctx: RequestContext, one: ListOffsetsPartition, found: tuple[int, int, int] | None
) -> ListOffsetsPartitionResponse:
    timestamp, offset, epoch = (-1, -1, -1) if found is None else found
    if ctx.api_version < LEADER_EPOCH_FROM:
        epoch = -1
    return ListOffsetsPartitionResponse(one.partition_index, ErrorCode.NONE, timestamp, offset, epoch)


def _special(log: PartitionLog, timestamp: int, leader_epoch: int, end: int) -> tuple[int, int, int] | None:
    """(timestamp, offset, leader epoch), each -1 where it is not known, of what has no time; `end` is the latest
    (UnifiedLog.fetchOffsetByTimestamp).
    """
    if timestamp == LATEST:
        return -1, end, leader_epoch
    if timestamp in (EARLIEST, EARLIEST_LOCAL):
        earliest = log.epochs.earliest()
        known = earliest is not None and earliest[1] <= log.log_start_offset
        return -1, log.log_start_offset, earliest[0] if earliest is not None and known else -1
    return None


def _refused(one: ListOffsetsPartition, error: KafkaError) -> ListOffsetsPartitionResponse:
    known = error.code not in (ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, ErrorCode.CORRUPT_MESSAGE)
    return _error(one, error.code if known else ErrorCode.UNKNOWN_SERVER_ERROR)


def _error(one: ListOffsetsPartition, code: ErrorCode) -> ListOffsetsPartitionResponse:
    return ListOffsetsPartitionResponse(partition_index=one.partition_index, error_code=code)
