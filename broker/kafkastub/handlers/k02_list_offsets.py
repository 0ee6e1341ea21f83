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
        (topic.name, one.partition_index) for topic in request.topics for one in paced(topic.partitions, pace)
    )
    answers: dict[str, dict[int, ListOffsetsPartitionResponse]] = {}
    for topic in request.topics:
        answered = answers.setdefault(topic.name, {})
        for one in paced(topic.partitions, pace):
            if times[topic.name, one.partition_index] > 1:
                answer = _error(one, ErrorCode.INVALID_REQUEST)
            else:
                answer = yield from _answer(ctx, topic.name, one, request.isolation_level == READ_COMMITTED)
            answered[one.partition_index] = answer
    return ListOffsetsResponse(
        topics=[
            ListOffsetsTopicResponse(name=name, partitions=list(answered.values()))
            for name, answered in paced(answers.items(), pace)
        ]
    )


def _answer(
    ctx: RequestContext, name: str, one: ListOffsetsPartition, committed: bool
) -> Generator[int, None, ListOffsetsPartitionResponse]:
    if one.timestamp < 0 and ctx.api_version < _SINCE.get(one.timestamp, _NEVER):
        return _error(one, ErrorCode.UNSUPPORTED_VERSION)
    try:
        topic = ctx.state.cluster.topic(name)
        log = led_log(ctx.state, ctx.node_id, topic, one.partition_index, one.current_leader_epoch)
        assert topic is not None
        end = log.last_stable_offset if committed else log.high_watermark
        found: tuple[int, int, int] | None
        if one.timestamp >= 0 or one.timestamp == MAX_TIMESTAMP:
            wanted = None if one.timestamp == MAX_TIMESTAMP else one.timestamp
            found = yield from log.search(wanted, ctx.state.logs.unpacker)
            if found is not None and found[1] >= end:
                found = None
        else:
            found = _special(log, one.timestamp, topic.partitions[one.partition_index].leader_epoch, end)
    except KafkaError as error:
        known = error.code not in (ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, ErrorCode.CORRUPT_MESSAGE)
        return _error(one, error.code if known else ErrorCode.UNKNOWN_SERVER_ERROR)
    timestamp, offset, epoch = (-1, -1, -1) if found is None else found
    return ListOffsetsPartitionResponse(
        partition_index=one.partition_index,
        timestamp=timestamp,
        offset=offset,
        leader_epoch=epoch if ctx.api_version >= LEADER_EPOCH_FROM else -1,
    )


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


def _error(one: ListOffsetsPartition, code: ErrorCode) -> ListOffsetsPartitionResponse:
    return ListOffsetsPartitionResponse(partition_index=one.partition_index, error_code=code)
