"""CreatePartitions (key 37), versions 0-3.

CP-1   A topic grows to the count given; the new partitions are there, with their logs, when the answer is.   KIP-195
CP-2   An equal or smaller count: INVALID_PARTITIONS; an unknown topic UNKNOWN_TOPIC_OR_PARTITION.
CP-3   Assignments for the new partitions: another number of them, an empty list, an unknown or doubled node, another
       replication factor than the topic's: INVALID_REPLICA_ASSIGNMENT.
                                                                   Kafka: ReplicationControlManager.createPartitions
CP-4   A topic named twice answers INVALID_REQUEST once, before the others, and does not grow.
CP-5   validate_only checks all of this and adds nothing.
CP-6   A timeout of 0 or less: every topic REQUEST_TIMED_OUT, nothing grows.
CP-7   More than 10,000 new partitions: every topic POLICY_VIOLATION with Kafka's text, nothing grows. With
       kafkastub.as.version below 4.4 it is UNKNOWN_SERVER_ERROR without a text.
                                               Kafka: ReplicationControlManager.validateTotalNumberOfPartitions
CP-8   Under a controller_mutation_rate the new partitions of each topic are counted, of validate_only too. Version 3: a
       topic for which too many were counted before answers THROTTLING_QUOTA_EXCEEDED; older ones only wait.   KIP-599
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.state.pace import Pace, no_pause, paced
from kafkastub.state.topics import add_partitions, check_alive, check_batch, check_placeable, check_replicas
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.create_partitions_request import CreatePartitionsRequest, CreatePartitionsTopic
from kafkawire.messages.create_partitions_response import CreatePartitionsResponse, CreatePartitionsTopicResult

if TYPE_CHECKING:
    from kafkastub.state.quota_usage import Mutations


TOO_MANY: Final = "Excessively large number of additional partitions per request."


def error_response(
    request: CreatePartitionsRequest, code: ErrorCode, version: int, text: str | None = None, pace: Pace = no_pause
) -> CreatePartitionsResponse:
    """The code at every topic."""
    return CreatePartitionsResponse(
        results=[CreatePartitionsTopicResult(topic.name, code, text) for topic in paced(request.topics, pace)]
    )


@handles(ApiKey.CREATE_PARTITIONS, 0, 3, error_response=error_response)
def create_partitions(ctx: RequestContext, request: CreatePartitionsRequest) -> Outcome:
    counts = Counter(topic.name for topic in paced(request.topics, ctx.pace))
    if request.timeout_ms <= 0 and 1 in counts.values():
        return error_response(request, ErrorCode.REQUEST_TIMED_OUT, ctx.api_version, pace=ctx.pace)
    once = [topic for topic in paced(request.topics, ctx.pace) if counts[topic.name] == 1]
    try:
        check_batch(sum(_additional(ctx, topic) for topic in paced(once, ctx.pace)))
    except KafkaError:
        if not ctx.state.config.follows(4, 4):
            return error_response(request, ErrorCode.UNKNOWN_SERVER_ERROR, ctx.api_version, pace=ctx.pace)
        return error_response(request, ErrorCode.POLICY_VIOLATION, ctx.api_version, TOO_MANY, ctx.pace)
    results = [
        CreatePartitionsTopicResult(name, ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
        for name, times in paced(counts.items(), ctx.pace)
        if times > 1
    ]
    counted = None if ctx.state.throttle is None else ctx.state.throttle.mutations(ctx)
    for topic in paced(once, ctx.pace):
        code, text = ErrorCode.NONE, None
        try:
            _grow(ctx, topic, request.validate_only, counted)
        except KafkaError as error:
            code, text = error.code, error.message
        results.append(CreatePartitionsTopicResult(topic.name, code, text))
    return CreatePartitionsResponse(throttle_time_ms=counted.ms if counted is not None else 0, results=results)


def _additional(ctx: RequestContext, asked: CreatePartitionsTopic) -> int:
    topic = ctx.state.cluster.topic(asked.name)
    return 0 if topic is None else max(0, asked.count - len(topic.partitions))


def _grow(ctx: RequestContext, asked: CreatePartitionsTopic, validate_only: bool, counted: Mutations | None) -> None:
    cluster = ctx.state.cluster
    topic = cluster.topic(asked.name)
    if topic is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    present = len(topic.partitions)
    if asked.count == present:
        raise KafkaError(ErrorCode.INVALID_PARTITIONS, f"Topic already has {present} partition(s).")
    if asked.count < present:
        message = (
            f"The topic {asked.name} currently has {present} partition(s); {asked.count} would not be an increase."
        )
        raise KafkaError(ErrorCode.INVALID_PARTITIONS, message)
    additional = asked.count - present
    assignments = None
    if asked.assignments is not None:
        assignments = [assignment.broker_ids for assignment in asked.assignments]
        if len(assignments) != additional:
            message = f"Attempted to add {additional} additional partition(s), but only {len(assignments)} "
            message += "assignment(s) were specified."
            raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
    if counted is not None:
        counted.count(additional)
    if assignments is not None:
        for index, replicas in enumerate(assignments, present):
            check_replicas(ctx.state, replicas, topic.replication_factor)
            check_alive(cluster, index, replicas)
    else:
        check_placeable(ctx.state, topic.replication_factor)
    if not validate_only:
        add_partitions(ctx.state, asked.name, additional, assignments)
