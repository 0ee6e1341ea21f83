"""ListPartitionReassignments (key 46), version 0.

RL-1  The reassignments under way, of all topics or of the partitions named; what does not exist, or needs nothing, is
      left out. Here one is under way only while a new replica's node is stopped: all nodes share one log.
                                                                          KIP-455; Kafka: ReplicationControlManager
Not done: -
"""

from __future__ import annotations

from collections.abc import Iterable

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.metadata import Topic
from kafkastub.state.pace import paced
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.list_partition_reassignments_request import ListPartitionReassignmentsRequest
from kafkawire.messages.list_partition_reassignments_response import (
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)


def error_response(
    request: ListPartitionReassignmentsRequest, code: ErrorCode, version: int
) -> ListPartitionReassignmentsResponse:
    """The code at the top."""
    return ListPartitionReassignmentsResponse(error_code=code, error_message=None)


@handles(ApiKey.LIST_PARTITION_REASSIGNMENTS, 0, 0, error_response=error_response)
def list_partition_reassignments(ctx: RequestContext, request: ListPartitionReassignmentsRequest) -> Outcome:
    cluster = ctx.state.cluster
    topics: list[OngoingTopicReassignment] = []
    if request.topics is None:
        for topic in paced(list(cluster.topics.values()), ctx.pace):
            topics += _ongoing(topic, range(len(topic.partitions)))
    else:
        for asked in paced(request.topics, ctx.pace):
            named = cluster.topic(asked.name)
            if named is not None:
                topics += _ongoing(named, asked.partition_indexes)
    return ListPartitionReassignmentsResponse(error_message=None, topics=topics)


def _ongoing(topic: Topic, indexes: Iterable[int]) -> list[OngoingTopicReassignment]:
    """The topic with those of these partitions that are being reassigned; nothing where none is."""
    count = len(topic.partitions)
    partitions = [topic.partitions[index] for index in indexes if 0 <= index < count]
    ongoing = [
        OngoingPartitionReassignment(one.index, one.replicas, one.adding, one.removing)
        for one in partitions
        if one.adding or one.removing
    ]
    return [OngoingTopicReassignment(topic.name, ongoing)] if ongoing else []
