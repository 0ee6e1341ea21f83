"""AlterPartitionReassignments (key 45), versions 0-1.

RA-1  A partition gets the replicas named, in their order; the first is the preferred leader. They are in sync at once,
      as all nodes share one log: Kafka takes its time.    KIP-455; Kafka: ReplicationControlManager
RA-2  A leader that is not among the new replicas gives way to the first of them that lives, with the next leader epoch.
RA-3  An unknown topic or partition: UNKNOWN_TOPIC_OR_PARTITION, with a text that names it.
RA-4  No replicas, one twice, or one on a node that does not exist: INVALID_REPLICA_ASSIGNMENT.
RA-5  Null replicas cancel a reassignment; none is ever under way: NO_REASSIGNMENT_IN_PROGRESS.
RA-6  Topics and partitions are answered as often as they are named, in their order; one that fails spares the others.
Not done: allow_replication_factor_change (version 1).
"""

from __future__ import annotations

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.leadership import reassigned
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.handlers.topics import check_replicas
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
)
from kafkawire.messages.alter_partition_reassignments_response import (
    AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)


def error_response(
    request: AlterPartitionReassignmentsRequest, code: ErrorCode, version: int
) -> AlterPartitionReassignmentsResponse:
    """The code at the top, and at every partition."""
    return AlterPartitionReassignmentsResponse(
        error_code=code,
        error_message=None,
        responses=[
            ReassignableTopicResponse(
                topic.name, [ReassignablePartitionResponse(one.partition_index, code, None) for one in topic.partitions]
            )
            for topic in request.topics
        ],
    )


@handles(ApiKey.ALTER_PARTITION_REASSIGNMENTS, 0, 1, error_response=error_response)
def alter_partition_reassignments(ctx: RequestContext, request: AlterPartitionReassignmentsRequest) -> Outcome:
    return AlterPartitionReassignmentsResponse(
        error_message=None,
        allow_replication_factor_change=request.allow_replication_factor_change,
        responses=[
            ReassignableTopicResponse(topic.name, [_answer(ctx, topic.name, one) for one in topic.partitions])
            for topic in request.topics
        ],
    )


def _answer(ctx: RequestContext, name: str, one: ReassignablePartition) -> ReassignablePartitionResponse:
    try:
        _reassign(ctx, name, one)
    except KafkaError as error:
        return ReassignablePartitionResponse(one.partition_index, error.code, error.message)
    return ReassignablePartitionResponse(one.partition_index, ErrorCode.NONE, None)


def _reassign(ctx: RequestContext, name: str, one: ReassignablePartition) -> None:
    """Raises KafkaError."""
    state, index, unknown = ctx.state, one.partition_index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    topic = state.cluster.topic(name)
    if topic is None:
        raise KafkaError(unknown, f"Unable to find a topic named {name}.")
    if not 0 <= index < len(topic.partitions):
        raise KafkaError(unknown, f"Unable to find partition {name}:{index}.")
    if one.replicas is None:
        raise KafkaError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
    check_replicas(state.cluster, one.replicas, None)
    reassigned(state, topic, topic.partitions[index], one.replicas, (ctx.broker_ms, ctx.timer_ms))
