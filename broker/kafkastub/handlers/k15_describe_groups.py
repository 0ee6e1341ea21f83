"""DescribeGroups (key 15), versions 0-6.

DG-1   A group's state, protocol type and members with their client id, host ("/127.0.0.1") and assignment; a stable
       group's protocol and the members' metadata too.                        Kafka: GroupMetadataManager.describeGroups
DG-2   An unknown group is "Dead", no error; from version 6 on with GROUP_ID_NOT_FOUND and a text.      KIP-1043
DG-3   Versions 3+: the operations on a group where asked for and there is no error, else the lowest int32.  KIP-430
DG-4   Versions 4+: the members' instance ids.                                                          KIP-345
DG-5   The empty group id is a group like others; a group named twice is answered twice.
DG-6   The answers come by the partition of __consumer_offsets, in the order of Kafka's map.
DG-7   A group without a record, of a commit that was refused whole, is unknown until the next record is in its
       partition of __consumer_offsets.        Kafka: CoordinatorRuntime.scheduleReadOperation
DG-8   A group of another type: "Dead", from version 6 on with GROUP_ID_NOT_FOUND and a text.            KIP-848, 1043
DG-9   A request that names very many groups is served part by part, others between; each group is as it is when it is
       looked at. An error is told of all of them.
Not done: -
"""

from __future__ import annotations

from functools import partial
from typing import Final

from kafkastub.coordinator import GroupCoordinator
from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.security.operations import GROUP_OPERATIONS
from kafkastub.state.group_descriptions import Members, described
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.describe_groups_request import DescribeGroupsRequest
from kafkawire.messages.describe_groups_response import DescribedGroup, DescribeGroupsResponse

# Looked up once: a request may name a million groups.
_NONE: Final = ErrorCode.NONE
_NOT_FOUND: Final = ErrorCode.GROUP_ID_NOT_FOUND
_DEAD: Final = "Dead"


def error_response(request: DescribeGroupsRequest, code: ErrorCode, version: int) -> DescribeGroupsResponse:
    """The code at every group."""
    return DescribeGroupsResponse(groups=[DescribedGroup(error_code=code, group_id=g) for g in request.groups])


@handles(ApiKey.DESCRIBE_GROUPS, 0, 6, error_response=error_response)
def describe_groups(ctx: RequestContext, request: DescribeGroupsRequest) -> Outcome:
    version, with_operations = ctx.api_version, request.include_authorized_operations

    def describe(coordinator: GroupCoordinator, group_id: str) -> tuple[DescribedGroup, Members]:
        return _describe(coordinator, group_id, version, with_operations)

    failed = partial(error_response, request, version=version)
    return described(ctx.state, request.groups, version, describe, DescribeGroupsResponse, failed)


def _describe(
    coordinator: GroupCoordinator, group_id: str, version: int, with_operations: bool
) -> tuple[DescribedGroup, Members]:
    described, members = _shown(coordinator, group_id, version)
    if with_operations and described.error_code == _NONE:
        described.authorized_operations = GROUP_OPERATIONS
    return described, members


def _shown(coordinator: GroupCoordinator, group_id: str, version: int) -> tuple[DescribedGroup, Members]:
    group = coordinator.readable(group_id)
    description = None if group is None else coordinator.classic.description(group)
    if description is not None:
        return description
    if version >= 6:
        why = f"Group {group_id} not found." if group is None else f"Group {group_id} is not a classic group."
        return DescribedGroup(_NOT_FOUND, why, group_id, _DEAD), ()
    return DescribedGroup(_NONE, None, group_id, _DEAD), ()
