"""ConsumerGroupDescribe (key 69), versions 0-1.

CD-1   A group's state, epochs and assignor, and its members with their epochs, subscriptions, assignments and targets.
                                                                          KIP-848; Kafka: ConsumerGroup.asDescribedGroup
CD-2   An unknown group, and one of another type: GROUP_ID_NOT_FOUND with a text.
CD-3   The empty group id: INVALID_GROUP_ID, before the others.
CD-4   A group named twice is answered twice; the answers come by the partition of __consumer_offsets, in the order of
       Kafka's map.
CD-5   The operations on a group where asked for and there is no error, else the lowest int32.             KIP-430
CD-6   Version 1: whether a member uses the classic or the consumer protocol.                              KIP-1099
CD-7   Topics that are gone are not shown.
CD-8   Where the consumer protocol is switched off: UNSUPPORTED_VERSION at every group (CG-8).
CD-9   A group with a topic, assigned or to be, that the principal may not describe: TOPIC_AUTHORIZATION_FAILED with a
       text, and nothing of the group.                                                          Kafka: KafkaApis
Not done: -
"""

from __future__ import annotations

from itertools import chain
from typing import Final

from kafkastub.coordinator import GroupCoordinator, batch_order
from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.security.operations import GROUP_OPERATIONS
from kafkastub.state.group_protocols import serves_consumer_protocol
from kafkastub.state.groups import coordinator_of, group_partitions
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.consumer_group_describe_request import ConsumerGroupDescribeRequest
from kafkawire.messages.consumer_group_describe_response import ConsumerGroupDescribeResponse, DescribedGroup
from kafkawire.rows import Rows, Shared

_MANY: Final = 100
"""Groups in a request from which columns are worth while."""


def error_response(
    request: ConsumerGroupDescribeRequest, code: ErrorCode, version: int
) -> ConsumerGroupDescribeResponse:
    """The code at every group."""
    groups = [DescribedGroup(error_code=code, group_id=group_id) for group_id in request.group_ids]
    return ConsumerGroupDescribeResponse(groups=groups)


@handles(ApiKey.CONSUMER_GROUP_DESCRIBE, 0, 1, error_response=error_response)
def consumer_group_describe(ctx: RequestContext, request: ConsumerGroupDescribeRequest) -> Outcome:
    state = ctx.state
    if not serves_consumer_protocol(state):
        return error_response(request, ErrorCode.UNSUPPORTED_VERSION, ctx.api_version)
    named = [group_id for group_id in request.group_ids if group_id]
    nameless = ConsumerGroupDescribeRequest([""] * (len(request.group_ids) - len(named)))
    groups = [*error_response(nameless, ErrorCode.INVALID_GROUP_ID, ctx.api_version).groups]
    if not named:
        return ConsumerGroupDescribeResponse(groups=groups)
    coordinator = coordinator_of(state)
    in_order = batch_order(named, group_partitions(state))
    if not groups and len(named) > _MANY and coordinator.groups.keys().isdisjoint(named):
        return ConsumerGroupDescribeResponse(groups=_unknown([*chain(*in_order)]))
    known: dict[str, DescribedGroup] = {}  # a large group may be named many times
    for of_partition in in_order:
        for group_id in of_partition:
            described = known.get(group_id)
            if described is None:
                described = known[group_id] = _describe(coordinator, group_id)
                if request.include_authorized_operations and not described.error_code:
                    described.authorized_operations = GROUP_OPERATIONS
            groups.append(described)
    return ConsumerGroupDescribeResponse(groups=groups if len(known) == len(named) else Shared(groups, {}))


def _unknown(group_ids: list[str]) -> Rows[DescribedGroup]:
    """Groups of which there is none, as columns: somebody may name very many (see DescribeGroups)."""
    columns = {"group_id": group_ids, "error_message": [_not_found(group_id) for group_id in group_ids]}
    return Rows(DescribedGroup, len(group_ids), columns, {"error_code": ErrorCode.GROUP_ID_NOT_FOUND})


def _not_found(group_id: str) -> str:
    return f"Group {group_id} not found."


def _describe(coordinator: GroupCoordinator, group_id: str) -> DescribedGroup:
    group = coordinator.readable(group_id)
    described = None if group is None else coordinator.consumer.describe(group)
    if described is not None:
        return described
    why = _not_found(group_id) if group is None else f"Group {group_id} is not a consumer group."
    return DescribedGroup(ErrorCode.GROUP_ID_NOT_FOUND, why, group_id)
