"""DescribeProducers (key 61), version 0.

DP-1  The producers of each partition: id, epoch, last sequence and the timestamp of its last batch or marker; -1 where
      there is none.    KIP-664
DP-2  An unknown topic: UNKNOWN_TOPIC_OR_PARTITION with Kafka's text; an unknown partition: without.
DP-3  An impossible topic name: INVALID_TOPIC_EXCEPTION with the reason.    KafkaApis.handleDescribeProducersRequest
DP-4  With an open transaction where it starts, and the coordinator epoch of the last marker; else -1.    KIP-664
DP-5  Any replica answers, for an administrator may ask one of them; a node without one: NOT_LEADER_OR_FOLLOWER.
      ReplicaManager.activeProducerState
Not done: -
"""

from __future__ import annotations

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.metadata import invalid_topic_name
from kafkastub.state.pace import paced
from kafkastub.state.partitions import hosted_log
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.describe_producers_request import DescribeProducersRequest
from kafkawire.messages.describe_producers_response import (
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)
from kafkawire.rows import Shared

NO_TRANSACTION = -1
_UNKNOWN_TOPIC = "This server does not host this topic-partition."


def error_response(request: DescribeProducersRequest, code: ErrorCode, version: int) -> DescribeProducersResponse:
    """The same code for every partition."""
    return DescribeProducersResponse(
        topics=[
            TopicResponse(
                name=topic.name,
                partitions=[
                    PartitionResponse(partition_index=index, error_code=code) for index in topic.partition_indexes
                ],
            )
            for topic in request.topics
        ]
    )


@handles(ApiKey.DESCRIBE_PRODUCERS, 0, 0, error_response=error_response)
def describe_producers(ctx: RequestContext, request: DescribeProducersRequest) -> Outcome:
    known: dict[tuple[str, int], PartitionResponse] = {}  # one with many producers may be named many times
    encoded: dict[int, bytes] = {}
    pace = ctx.pace

    def answer(place: tuple[str, int]) -> PartitionResponse:
        found = known.get(place)
        if found is None:
            found = known[place] = _answer(ctx, *place)
        return found

    return DescribeProducersResponse(
        topics=[
            TopicResponse(
                topic.name,
                Shared([answer((topic.name, index)) for index in paced(topic.partition_indexes, pace)], encoded),
            )
            for topic in paced(request.topics, pace)
        ]
    )


def _answer(ctx: RequestContext, name: str, index: int) -> PartitionResponse:
    topic = ctx.state.cluster.topic(name)
    try:
        if topic is None:
            why = invalid_topic_name(name)
            if why is not None:
                raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, why)
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, _UNKNOWN_TOPIC)
        log = hosted_log(ctx.state, ctx.node_id, topic, index)
    except KafkaError as error:
        return PartitionResponse(partition_index=index, error_code=error.code, error_message=error.message)
    return PartitionResponse(
        partition_index=index,
        active_producers=[
            ProducerState(
                producer_id=entry.producer_id,
                producer_epoch=entry.epoch,
                last_sequence=entry.last_sequence,
                last_timestamp=entry.last_timestamp,
                coordinator_epoch=entry.coordinator_epoch,
                current_txn_start_offset=NO_TRANSACTION if entry.transaction_start is None else entry.transaction_start,
            )
            for entry in log.producers(ctx.broker_ms)
        ],
    )
