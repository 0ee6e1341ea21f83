"""ShareGroupDescribe (key 77), version 1.

SD-1   A group's state, epochs and assignor, and its members with their epochs, subscriptions and assignments.
                                                                             KIP-932; Kafka: ShareGroup.asDescribedGroup
SD-2   An unknown group, and one of another type: GROUP_ID_NOT_FOUND with a text.
SD-3   The empty group id: INVALID_GROUP_ID, before the others.
SD-4   A group named twice is answered twice; the answers come by the partition of __consumer_offsets, in the order of
       Kafka's map.
SD-5   The operations on a group where asked for and there is no error, else the lowest int32.             KIP-430
SD-6   Topics that are gone are not shown.
SD-7   Where share groups are switched off: UNSUPPORTED_VERSION at every group (GH-8).
SD-8   A group with an assigned topic that the principal may not describe: TOPIC_AUTHORIZATION_FAILED with a text, and
       nothing of the group.                                                                          Kafka: KafkaApis
SD-9   A request that names very many groups is served part by part, others between; each group is as it is when it is
       looked at. An error is told of all of them.
Not done: -
"""

from __future__ import annotations

from functools import partial

from kafkastub.coordinator import GroupCoordinator, batch_order
from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.security.operations import GROUP_OPERATIONS
from kafkastub.state.deferred import Steps
from kafkastub.state.group_descriptions import MANY, in_order, one_after_the_other
from kafkastub.state.group_protocols import serves_share_protocol
from kafkastub.state.groups import coordinator_of, group_partitions
from kafkawire.api import ApiKey
from kafkawire.codec import encoder_of
from kafkawire.errors import ErrorCode
from kafkawire.messages.share_group_describe_request import ShareGroupDescribeRequest
from kafkawire.messages.share_group_describe_response import DescribedGroup, ShareGroupDescribeResponse
from kafkawire.rows import Shared


def error_response(request: ShareGroupDescribeRequest, code: ErrorCode, version: int) -> ShareGroupDescribeResponse:
    """The code at every group."""
    groups = [DescribedGroup(error_code=code, group_id=group_id) for group_id in request.group_ids]
    return ShareGroupDescribeResponse(groups=groups)


@handles(ApiKey.SHARE_GROUP_DESCRIBE, 1, 1, error_response=error_response)
def share_group_describe(ctx: RequestContext, request: ShareGroupDescribeRequest) -> Outcome:
    state = ctx.state
    if not serves_share_protocol(state):
        return error_response(request, ErrorCode.UNSUPPORTED_VERSION, ctx.api_version)
    if len(request.group_ids) > MANY:
        failed = partial(error_response, request, version=ctx.api_version)
        return one_after_the_other(state, _in_parts(ctx, request), failed)
    named, groups = _nameless(request, ctx.api_version)
    if not named:
        return ShareGroupDescribeResponse(groups=groups)
    coordinator = coordinator_of(state)
    known: dict[str, DescribedGroup] = {}  # a large group may be named many times
    for of_partition in batch_order(named, group_partitions(state)):
        for group_id in of_partition:
            described = known.get(group_id)
            if described is None:
                described = known[group_id] = _describe(coordinator, group_id, request.include_authorized_operations)
            groups.append(described)
    return ShareGroupDescribeResponse(groups=groups if len(known) == len(named) else Shared(groups, {}))


def _in_parts(ctx: RequestContext, request: ShareGroupDescribeRequest) -> Steps:
    state = ctx.state
    named, nameless = _nameless(request, ctx.api_version)
    if not named:
        return ShareGroupDescribeResponse(groups=nameless)

    def describe(group_id: str) -> DescribedGroup:
        return _describe(coordinator_of(state), group_id, request.include_authorized_operations)

    coordinator_of(state)
    encode = encoder_of(ShareGroupDescribeResponse, "groups", ctx.api_version)
    found = yield from in_order(named, group_partitions(state), describe, encode)
    return ShareGroupDescribeResponse(groups=Shared([*nameless, *found], found.encoded) if nameless else found)


def _nameless(request: ShareGroupDescribeRequest, version: int) -> tuple[list[str], list[DescribedGroup]]:
    """(the ids that can be, the answers about those that can't)."""
    named = [group_id for group_id in request.group_ids if group_id]
    nameless = ShareGroupDescribeRequest([""] * (len(request.group_ids) - len(named)))
    return named, [*error_response(nameless, ErrorCode.INVALID_GROUP_ID, version).groups]


def _describe(coordinator: GroupCoordinator, group_id: str, with_operations: bool) -> DescribedGroup:
    group = coordinator.readable(group_id)
    described = None if group is None else coordinator.share.describe(group)
    if described is not None:
        if with_operations:
            described.authorized_operations = GROUP_OPERATIONS
        return described
    why = f"Group {group_id} not found." if group is None else f"Group {group_id} is not a share group."
    return DescribedGroup(ErrorCode.GROUP_ID_NOT_FOUND, why, group_id)
