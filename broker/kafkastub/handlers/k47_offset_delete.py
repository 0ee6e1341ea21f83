"""OffsetDelete (key 47), version 0.

OD-1   A committed offset is gone; deleting one that was never committed is no error.  KIP-496; Kafka: deleteOffsets
OD-2   A topic that a member of a live consumer group subscribes to: GROUP_SUBSCRIBED_TO_TOPIC at its partitions; where
       the subscription cannot be parsed, every topic.
OD-3   Offsets of topics that nobody subscribes to can be deleted while the group lives, of all topics when it is empty.
OD-4   A live group of another protocol type: NON_EMPTY_GROUP at the top.
OD-5   An unknown group: GROUP_ID_NOT_FOUND at the top; the empty group id: INVALID_GROUP_ID.
OD-6   A missing topic or partition answers UNKNOWN_TOPIC_OR_PARTITION, before the others; an error at the top wins.
OD-7   Deleted offsets count in the offset-deletions meter, those that were there.     KIP-496
OD-8   A group of the consumer protocol: its members' subscriptions are known, by regular expressions too. KIP-848
OD-9   A streams group with members subscribes to what its topology reads; what its state is kept in is not read.
                                                             KIP-1071; Kafka: StreamsGroup.isSubscribedToTopic
Not done: -
"""

from __future__ import annotations

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.state.groups import coordinator_of
from kafkastub.state.pace import paced
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.offset_delete_request import OffsetDeleteRequest
from kafkawire.messages.offset_delete_response import (
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)


def error_response(request: OffsetDeleteRequest, code: ErrorCode, version: int) -> OffsetDeleteResponse:
    """The code at the top."""
    return OffsetDeleteResponse(error_code=code)


@handles(ApiKey.OFFSET_DELETE, 0, 0, error_response=error_response)
def offset_delete(ctx: RequestContext, request: OffsetDeleteRequest) -> Outcome:
    cluster = ctx.state.cluster
    unknown: dict[str, list[int]] = {}
    known: list[tuple[str, list[int]]] = []
    for requested in paced(request.topics, ctx.pace):
        topic = cluster.topic(requested.name)
        count = 0 if topic is None else len(topic.partitions)
        indexes = [p.partition_index for p in requested.partitions]
        missing = [i for i in indexes if not 0 <= i < count]
        if missing or topic is None:
            unknown.setdefault(requested.name, []).extend(missing)
        present = [i for i in indexes if 0 <= i < count]
        if present:
            known.append((requested.name, present))
    turn = coordinator_of(ctx.state).delete_offsets(request.group_id, known, ctx.broker_ms)
    ctx.state.settle(turn)
    answers = [
        OffsetDeleteResponseTopic(
            n, [OffsetDeleteResponsePartition(i, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION) for i in p]
        )
        for n, p in paced(unknown.items(), ctx.pace)
    ]
    by_name = {answer.name: answer for answer in answers}
    for (name, indexes), code in paced(zip(known, turn.reply, strict=True), ctx.pace):
        partitions = [OffsetDeleteResponsePartition(i, code) for i in indexes]
        earlier = by_name.get(name)
        if earlier is None:
            answers.append(OffsetDeleteResponseTopic(name, partitions))
            if unknown:  # only then does Kafka merge, and a topic that is named twice is answered once
                by_name[name] = answers[-1]
        else:
            earlier.partitions = [*earlier.partitions, *partitions]
    return OffsetDeleteResponse(topics=answers)
