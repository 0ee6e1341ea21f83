"""DeleteGroups (key 42), versions 0-3.

GD-1   A group without members is gone, with its offsets; each has its tombstone.      KIP-229; Kafka: deleteGroups
GD-2   A group with members: NON_EMPTY_GROUP; an unknown one: GROUP_ID_NOT_FOUND; neither disturbs its neighbours.
GD-3   A group named twice is answered once.
GD-4   The empty group id is a group like others.
GD-5   The answers come by the partition of __consumer_offsets, in the order of Kafka's maps.
GD-6   Deleted offsets count in the offset-deletions meter where the profile says so.  KIP-496
GD-7   Version 3 has an error message, which is null but for groups whose deletion asks others: streams and share
       groups.                                          KIP-1331; Kafka: GroupCoordinatorService.deleteGroups
GD-8   So with groups of the consumer protocol, whose every record has its tombstone.  KIP-848
Not done: -
"""

from __future__ import annotations

from kafkastub.coordinator import Turn, batch_order
from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.state.groups import coordinator_of, group_partitions
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.java_order import copied, string_map_order
from kafkawire.messages.delete_groups_request import DeleteGroupsRequest
from kafkawire.messages.delete_groups_response import DeletableGroupResult, DeleteGroupsResponse


def error_response(request: DeleteGroupsRequest, code: ErrorCode, version: int) -> DeleteGroupsResponse:
    """The code at every group."""
    return DeleteGroupsResponse(results=[DeletableGroupResult(g, code) for g in dict.fromkeys(request.groups_names)])


@handles(ApiKey.DELETE_GROUPS, 0, 3, error_response=error_response)
def delete_groups(ctx: RequestContext, request: DeleteGroupsRequest) -> Outcome:
    coordinator = coordinator_of(ctx.state)
    results = []
    for of_partition in batch_order(dict.fromkeys(request.groups_names), group_partitions(ctx.state)):
        deleted = Turn(ctx.broker_ms, ctx.timer_ms)
        for group_id in string_map_order(of_partition, copied(len(of_partition))):
            code = ErrorCode.NONE
            try:
                deleted.records += coordinator.delete_group(group_id, ctx.broker_ms).records
            except KafkaError as error:
                code = error.code
            results.append(DeletableGroupResult(group_id, code))
        ctx.state.settle(deleted)
    return DeleteGroupsResponse(results=results)
