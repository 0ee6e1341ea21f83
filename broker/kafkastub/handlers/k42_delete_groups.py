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
GD-9   With a share group goes what the share coordinator knows of it; what speaks against that is told first, and the
       group stays.                                          KIP-932; Kafka: GroupCoordinatorService.deleteShareGroups
GD-10  A share group whose offsets were altered in a topic, of which only partitions were named that it does not have:
       UNKNOWN_SERVER_ERROR, nothing is deleted; with the next DeleteGroups it goes. Where it has no other topics it
       goes at once.                     Kafka: shareGroupBuildPartitionDeleteRequest, DefaultStatePersister (validate)
GD-11  So with streams groups, whose every record has its tombstone. Their internal topics stay.           KIP-1071
Not done: -
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Final

from kafkastub.coordinator import BatchOrder, Turn
from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.state.deferred import Steps, in_parts
from kafkastub.state.groups import coordinator_of, group_partitions
from kafkastub.state.pace import no_pause, paced_map_order
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.java_order import copied, string_hash
from kafkawire.messages.delete_groups_request import DeleteGroupsRequest
from kafkawire.messages.delete_groups_response import DeletableGroupResult, DeleteGroupsResponse

_AT_ONCE: Final = 100
"""Share partitions before others have their turn."""
_PIECE: Final = 500
"""Groups of a large request that are deleted at once: what is decided of them is written before others are served."""


def error_response(request: DeleteGroupsRequest, code: ErrorCode, version: int) -> DeleteGroupsResponse:
    """The code at every group."""
    return DeleteGroupsResponse(results=[DeletableGroupResult(g, code) for g in dict.fromkeys(request.groups_names)])


@handles(ApiKey.DELETE_GROUPS, 0, 3, error_response=error_response)
def delete_groups(ctx: RequestContext, request: DeleteGroupsRequest) -> Outcome:
    coordinator = coordinator_of(ctx.state)
    order = BatchOrder(group_partitions(ctx.state))
    names = list(dict.fromkeys(request.groups_names))
    for at in range(0, len(names), _PIECE):
        order.add(names[at : at + _PIECE])
        ctx.pace(_PIECE // 8)
    by_partition = order.in_order()
    if coordinator.has_share:
        from kafkastub.state.share_group_offsets import share_groups_of

        if share_groups_of(ctx.state, request.groups_names):
            failed = partial(error_response, request, version=ctx.api_version)
            steps = _with_share_groups(ctx, by_partition)
            return in_parts(steps, _AT_ONCE, ctx.state.share_partitions.coordinator.turns.add, failed)
    results: list[DeletableGroupResult] = []
    for group_ids in by_partition:
        results += _deleted(ctx, group_ids)
    return DeleteGroupsResponse(results=results)


def _with_share_groups(ctx: RequestContext, by_partition: Iterable[Sequence[str]]) -> Steps:
    from kafkastub.state.share_group_offsets import share_groups_of, state_deleted

    results = []
    for group_ids in by_partition:
        shares = share_groups_of(ctx.state, group_ids)
        refused = yield from state_deleted(ctx.state, shares, ctx.broker_ms, ctx.timer_ms)
        results += [DeletableGroupResult(group_id, code) for group_id, code in refused.items()]
        coordinator_of(ctx.state)  # it may have gone while others had their turn
        results += _deleted(ctx, [group_id for group_id in group_ids if group_id not in refused])
        yield len(group_ids)
    return DeleteGroupsResponse(results=results)


def _deleted(ctx: RequestContext, group_ids: Sequence[str]) -> list[DeletableGroupResult]:
    """Those of one partition of `__consumer_offsets`."""
    hashed = ((string_hash(one), one) for one in group_ids)
    in_order = paced_map_order(hashed, ctx.pace, copied(len(group_ids)))
    if ctx.pace is no_pause:
        return _delete(ctx, in_order)
    results: list[DeletableGroupResult] = []
    for at in range(0, len(in_order), _PIECE):
        results += _delete(ctx, in_order[at : at + _PIECE])
        ctx.pace(_PIECE)
    return results


def _delete(ctx: RequestContext, group_ids: Sequence[str]) -> list[DeletableGroupResult]:
    coordinator, deleted, results = coordinator_of(ctx.state), Turn(ctx.broker_ms, ctx.timer_ms), []
    for group_id in group_ids:
        code = ErrorCode.NONE
        try:
            deleted.records += coordinator.delete_group(group_id, ctx.broker_ms).records
        except KafkaError as error:
            code = error.code
        results.append(DeletableGroupResult(group_id, code))
    ctx.state.settle(deleted)
    return results
