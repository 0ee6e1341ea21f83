"""DescribeTopicPartitions (key 75), version 0.

TP-1   Topics by name, sorted, each once; none given means all.                         KIP-966
TP-2   A missing topic UNKNOWN_TOPIC_OR_PARTITION, an invalid name INVALID_TOPIC_EXCEPTION, in their place.
TP-3   At most response_partition_limit partitions (at least 1, at most max.request.partition.size.limit); the cursor
       tells where the next request goes on.
TP-4   A cursor: topics before it are left out, its topic begins at its partition.
TP-5   A cursor with a negative partition, or on a topic that is not among those asked for: every topic INVALID_REQUEST.
TP-6   Operations are always told; internal topics are flagged, existing or not.
TP-7   An empty topic name without a cursor: every topic UNKNOWN_SERVER_ERROR, as 4.3.1 does.
TP-8   A partition without leader, or whose leader the client's listener does not have, tells leader -1 and no error;
       replicas of stopped nodes are offline; eligible leader replicas, and who led last, are told.    KIP-966
Not done: -
"""

from __future__ import annotations

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.metadata import INTERNAL_TOPICS, Topic, invalid_topic_name
from kafkastub.security.operations import TOPIC_OPERATIONS
from kafkastub.state.pace import paced
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.java_order import string_order
from kafkawire.messages.describe_topic_partitions_request import DescribeTopicPartitionsRequest
from kafkawire.messages.describe_topic_partitions_response import (
    Cursor,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)


def error_response(
    request: DescribeTopicPartitionsRequest, code: ErrorCode, version: int
) -> DescribeTopicPartitionsResponse:
    """The code at every topic asked for."""
    return DescribeTopicPartitionsResponse(
        topics=[DescribeTopicPartitionsResponseTopic(error_code=code, name=topic.name) for topic in request.topics],
        next_cursor=None,
    )


@handles(ApiKey.DESCRIBE_TOPIC_PARTITIONS, 0, 0, error_response=error_response)
def describe_topic_partitions(ctx: RequestContext, request: DescribeTopicPartitionsRequest) -> Outcome:
    cluster, cursor = ctx.state.cluster, request.cursor
    asked = {topic.name for topic in paced(request.topics, ctx.pace)}
    if cursor is not None and (cursor.partition_index < 0 or (asked and cursor.topic_name not in asked)):
        return error_response(request, ErrorCode.INVALID_REQUEST, ctx.api_version)
    places = {name: string_order(name) for name in paced(list(asked or cluster.topics), ctx.pace)}
    names = sorted(places, key=places.__getitem__)
    if cursor is not None:
        first_place = string_order(cursor.topic_name)
        names = [name for name in names if places[name] >= first_place]
    if cursor is None and "" in asked:
        return error_response(request, ErrorCode.UNKNOWN_SERVER_ERROR, ctx.api_version)
    most = ctx.state.config["max.request.partition.size.limit"]
    remaining = max(min(most, request.response_partition_limit), 1)
    answer = DescribeTopicPartitionsResponse(topics=(topics := []), next_cursor=None)
    for name in paced(names, ctx.pace):
        if remaining == 0:
            answer.next_cursor = Cursor(name, 0)
            break
        topic = cluster.topic(name)
        if topic is None:
            topics.append(_missing(name))
            continue
        first = cursor.partition_index if cursor is not None and cursor.topic_name == name else 0
        described = _existing(ctx, topic, first, remaining)
        topics.append(described)
        if first + len(described.partitions) < len(topic.partitions):
            answer.next_cursor = Cursor(name, first + len(described.partitions))
            break
        remaining -= len(described.partitions)
    return answer


def _missing(name: str) -> DescribeTopicPartitionsResponseTopic:
    valid = invalid_topic_name(name) is None
    return DescribeTopicPartitionsResponseTopic(
        error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if valid else ErrorCode.INVALID_TOPIC_EXCEPTION,
        name=name,
        is_internal=name in INTERNAL_TOPICS,
        topic_authorized_operations=TOPIC_OPERATIONS,
    )


def _existing(ctx: RequestContext, topic: Topic, first: int, most: int) -> DescribeTopicPartitionsResponseTopic:
    cluster = ctx.state.cluster
    reachable = {node.node_id for node in cluster.seen_from(ctx.listener)}

    return DescribeTopicPartitionsResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.internal,
        partitions=[
            DescribeTopicPartitionsResponsePartition(
                partition_index=partition.index,
                leader_id=partition.leader if partition.leader in reachable else -1,
                leader_epoch=partition.leader_epoch,
                replica_nodes=partition.replicas,
                isr_nodes=partition.isr,
                eligible_leader_replicas=partition.elr,
                last_known_elr=partition.last_leader,
                offline_replicas=[node_id for node_id in partition.replicas if node_id not in reachable],
            )
            for partition in topic.partitions[first : first + most]
        ],
        topic_authorized_operations=TOPIC_OPERATIONS,
    )
