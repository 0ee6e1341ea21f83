"""DeleteRecords (key 21), versions 0-2.

DR-1  The log start offset moves up to the offset, never back; the answer tells what it is then.    KIP-107
DR-2  -1 deletes everything up to the high watermark.    KIP-107
DR-3  Beyond the high watermark, or below -1: OFFSET_OUT_OF_RANGE with low watermark -1, as with every error.
DR-4  Unknown topic or partition: UNKNOWN_TOPIC_OR_PARTITION.
DR-5  A topic without cleanup.policy=delete: POLICY_VIOLATION.    Partition.deleteRecordsOnLeader
DR-6  An internal topic: INVALID_TOPIC_EXCEPTION.    ReplicaManager.deleteRecordsOnLocalLog
DR-7  Of a partition named twice the last offset counts, and it is answered once.    KafkaApis
Not done: the batches stay in memory until retention takes them.
"""

from __future__ import annotations

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.state.pace import paced
from kafkastub.state.partitions import led_log, partition_of
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.delete_records_request import DeleteRecordsRequest
from kafkawire.messages.delete_records_response import (
    DeleteRecordsPartitionResult,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)

HIGH_WATERMARK = -1
NO_WATERMARK = -1


def error_response(request: DeleteRecordsRequest, code: ErrorCode, version: int) -> DeleteRecordsResponse:
    """The same code for every partition."""
    return DeleteRecordsResponse(
        topics=[
            DeleteRecordsTopicResult(
                name=topic.name, partitions=[_error(one.partition_index, code) for one in topic.partitions]
            )
            for topic in request.topics
        ]
    )


@handles(ApiKey.DELETE_RECORDS, 0, 2, error_response=error_response)
def delete_records(ctx: RequestContext, request: DeleteRecordsRequest) -> Outcome:
    wanted: dict[str, dict[int, int]] = {}
    for topic in paced(request.topics, ctx.pace):
        offsets = wanted.setdefault(topic.name, {})
        for one in paced(topic.partitions, ctx.pace):
            offsets[one.partition_index] = one.offset
    return DeleteRecordsResponse(
        topics=[
            DeleteRecordsTopicResult(
                name=name,
                partitions=[_delete(ctx, name, index, offset) for index, offset in paced(offsets.items(), ctx.pace)],
            )
            for name, offsets in paced(wanted.items(), ctx.pace)
        ]
    )


def _delete(ctx: RequestContext, name: str, index: int, offset: int) -> DeleteRecordsPartitionResult:
    try:
        topic = ctx.state.cluster.topic(name)
        partition_of(topic, index)
        if topic is not None and topic.internal:
            raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION)
        log = led_log(ctx.state, ctx.node_id, topic, index)
        if not log.settings.delete:
            raise KafkaError(ErrorCode.POLICY_VIOLATION)
        if offset == HIGH_WATERMARK:
            offset = log.high_watermark
        if offset < 0:
            raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE)
        low_watermark = log.delete_records_before(offset)
    except KafkaError as error:
        return _error(index, error.code)
    return DeleteRecordsPartitionResult(partition_index=index, low_watermark=low_watermark)


def _error(index: int, code: ErrorCode) -> DeleteRecordsPartitionResult:
    return DeleteRecordsPartitionResult(partition_index=index, low_watermark=NO_WATERMARK, error_code=code)
