"""AlterPartitionReassignments (key 45), versions 0-1.

RA-1  A partition gets the replicas named, in their order; the first is the preferred leader. Those that run are in
      sync at once, as all nodes share one log: Kafka takes its time. While a new one's node is stopped the old replicas
      stay, behind the new ones, and the reassignment is under way.    KIP-455; Kafka: ReplicationControlManager
RA-2  A leader that is not among the new replicas gives way to the first of them that lives, with the next leader epoch,
      which a replica that was taken away brings as well.
RA-3  An unknown topic or partition: UNKNOWN_TOPIC_OR_PARTITION, with a text that names it.
RA-4  No replicas, one twice, or one on a node that does not exist: INVALID_REPLICA_ASSIGNMENT.
RA-5  Null replicas cancel the reassignment that is under way; NO_REASSIGNMENT_IN_PROGRESS where none is, and
      INVALID_REPLICA_ASSIGNMENT where only an unclean election could bring the old replicas back.
                                                           Kafka: PartitionReassignmentRevert
RA-6  Topics and partitions are answered as often as they are named, in their order; one that fails spares the others.
RA-7  Version 1: without allow_replication_factor_change another number of replicas, than there are when what is under
      way is complete, answers INVALID_REPLICATION_FACTOR. The flag comes back, as true where there is nothing to do.
                                                           KIP-860
RA-8  No time to do it in (timeout_ms of 0 and less): REQUEST_TIMED_OUT at the top and for each partition. A request
      without topics needs none; its error message is "".    Kafka: QuorumController
Not done: -
"""

from __future__ import annotations

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.state.leadership import reassign
from kafkastub.state.pace import paced
from kafkastub.state.topics import check_replicas
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
    if not request.topics:
        return AlterPartitionReassignmentsResponse(error_message="")
    if request.timeout_ms <= 0:
        return error_response(request, ErrorCode.REQUEST_TIMED_OUT, ctx.api_version)
    any_number, pace = request.allow_replication_factor_change, ctx.pace
    with ctx.state.log_dirs.together():
        responses = [
            ReassignableTopicResponse(
                topic.name,
                [_answer(ctx, topic.name, one, any_number) for one in paced(topic.partitions, pace)],
            )
            for topic in paced(request.topics, pace)
        ]
    return AlterPartitionReassignmentsResponse(
        error_message=None, allow_replication_factor_change=any_number, responses=responses
    )


def _answer(
    ctx: RequestContext, name: str, one: ReassignablePartition, any_number: bool
) -> ReassignablePartitionResponse:
    try:
        _reassign(ctx, name, one, any_number)
    except KafkaError as error:
        return ReassignablePartitionResponse(one.partition_index, error.code, error.message)
    return ReassignablePartitionResponse(one.partition_index, ErrorCode.NONE, None)


def _reassign(ctx: RequestContext, name: str, one: ReassignablePartition, any_number: bool) -> None:
    """Raises KafkaError."""
    state, index, unknown = ctx.state, one.partition_index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    topic = state.cluster.topic(name)
    if topic is None:
        raise KafkaError(unknown, f"Unable to find a topic named {name}.")
    if not 0 <= index < len(topic.partitions):
        raise KafkaError(unknown, f"Unable to find partition {name}:{index}.")
    partition, now = topic.partitions[index], (ctx.broker_ms, ctx.timer_ms)
    if one.replicas is not None:
        check_replicas(state, one.replicas, None)
        there = len({*partition.replicas, *partition.adding}.difference(partition.removing))
        if there != len(one.replicas) and not any_number:
            text = f"The replication factor is changed from {there} to {len(one.replicas)}"
            raise KafkaError(ErrorCode.INVALID_REPLICATION_FACTOR, text)
    elif not (partition.adding or partition.removing):
        raise KafkaError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
    try:
        reassign(state, topic, partition, one.replicas, now)
    except ValueError as refused:
        message = f"Unable to revert partition assignment for {name}:{index} because {refused}."
        raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message) from None
