"""StreamsGroupDescribe (key 89), versions 0-1.

KS-1   A group's state, epochs, assignor and topology, and its members with their epochs, processes, endpoints, tags,
       task offsets, tasks and targets.                                      KIP-1071; Kafka: StreamsGroup.asDescribed…
KS-2   The topology as it was sent until its topics are there, then with the partitions that the broker has decided, as
       they were when the last record was written to the group's partition.
                                                                       Kafka: CoordinatorRuntime.scheduleReadOperation
KS-3   An unknown group, and one of another type: GROUP_ID_NOT_FOUND with a text.
KS-4   The empty group id: INVALID_GROUP_ID, before the others.
KS-5   A group named twice is answered twice; the answers come by the partition of __consumer_offsets, in the order of
       Kafka's map.
KS-6   The operations on a group where asked for and there is no error, else the lowest int32.             KIP-430
KS-7   Where streams groups are switched off: UNSUPPORTED_VERSION at every group (TH-20).
KS-8   Whoever asks for a topology's description (version 1) is told that none is kept: NOT_STORED, where there is no
       error.                                                        Kafka: StreamsGroupTopologyDescriptionManager
KS-9   A request that names very many groups is served part by part, others between; each group is as it is when it is
       looked at. An error is told of all of them.
KS-10  A group that the principal may not describe: GROUP_AUTHORIZATION_FAILED, before the others; one with a topic in
       its topology that it may not: TOPIC_AUTHORIZATION_FAILED with a text, and nothing else.         Kafka: KafkaApis
Not done: descriptions of topologies, as there is no plugin that keeps them.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from kafkastub.coordinator import GroupCoordinator, batch_order
from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.security.operations import GROUP_OPERATIONS
from kafkastub.state.deferred import Steps
from kafkastub.state.group_descriptions import MANY, in_order, one_after_the_other
from kafkastub.state.group_protocols import serves_streams_protocol
from kafkastub.state.groups import coordinator_of, group_partitions
from kafkawire.api import ApiKey
from kafkawire.codec import encoder_of
from kafkawire.errors import ErrorCode
from kafkawire.messages.streams_group_describe_request import StreamsGroupDescribeRequest
from kafkawire.messages.streams_group_describe_response import DescribedGroup, StreamsGroupDescribeResponse
from kafkawire.rows import Shared

_NOT_STORED: Final = 1


def error_response(request: StreamsGroupDescribeRequest, code: ErrorCode, version: int) -> StreamsGroupDescribeResponse:
    """The code at every group."""
    groups = [DescribedGroup(error_code=code, group_id=group_id) for group_id in request.group_ids]
    return StreamsGroupDescribeResponse(groups=groups)


@handles(ApiKey.STREAMS_GROUP_DESCRIBE, 0, 1, error_response=error_response)
def streams_group_describe(ctx: RequestContext, request: StreamsGroupDescribeRequest) -> Outcome:
    state = ctx.state
    if not serves_streams_protocol(state):
        return error_response(request, ErrorCode.UNSUPPORTED_VERSION, ctx.api_version)
    if len(request.group_ids) > MANY:
        failed = partial(error_response, request, version=ctx.api_version)
        return one_after_the_other(state, _in_parts(ctx, request), failed)
    named, groups = _nameless(request, ctx.api_version)
    if not named:
        return StreamsGroupDescribeResponse(groups=groups)
    coordinator = coordinator_of(state)
    known: dict[str, DescribedGroup] = {}  # a large group may be named many times
    for of_partition in batch_order(named, group_partitions(state)):
        for group_id in of_partition:
            described = known.get(group_id)
            if described is None:
                described = known[group_id] = _describe(coordinator, group_id, request)
            groups.append(described)
    return StreamsGroupDescribeResponse(groups=groups if len(known) == len(named) else Shared(groups, {}))


def _in_parts(ctx: RequestContext, request: StreamsGroupDescribeRequest) -> Steps:
    state = ctx.state
    named, nameless = _nameless(request, ctx.api_version)
    if not named:
        return StreamsGroupDescribeResponse(groups=nameless)

    def describe(group_id: str) -> DescribedGroup:
        return _describe(coordinator_of(state), group_id, request)

    coordinator_of(state)
    encode = encoder_of(StreamsGroupDescribeResponse, "groups", ctx.api_version)
    found = yield from in_order(named, group_partitions(state), describe, encode)
    return StreamsGroupDescribeResponse(groups=Shared([*nameless, *found], found.encoded) if nameless else found)


def _nameless(request: StreamsGroupDescribeRequest, version: int) -> tuple[list[str], list[DescribedGroup]]:
    """(the ids that can be, the answers about those that can't)."""
    named = [group_id for group_id in request.group_ids if group_id]
    nameless = StreamsGroupDescribeRequest([""] * (len(request.group_ids) - len(named)))
    return named, [*error_response(nameless, ErrorCode.INVALID_GROUP_ID, version).groups]


def _describe(coordinator: GroupCoordinator, group_id: str, request: StreamsGroupDescribeRequest) -> DescribedGroup:
    group = coordinator.readable(group_id)
    described = None if group is None else coordinator.streams.describe(group)
    if described is not None:
        if request.include_authorized_operations:
            described.authorized_operations = GROUP_OPERATIONS
        if request.include_topology_description:
            described.topology_description_status = _NOT_STORED
        return described
    why = f"Group {group_id} not found." if group is None else f"Group {group_id} is not a streams group."
    return DescribedGroup(ErrorCode.GROUP_ID_NOT_FOUND, why, group_id)
