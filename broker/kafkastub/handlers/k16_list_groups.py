"""ListGroups (key 16), versions 0-5.

LS-1   Every group with its protocol type ("" for a group that only stores offsets), from version 4 on its state, from
       version 5 on its type.                                                 Kafka: GroupMetadataManager.listGroups
LS-2   Versions 4+: only groups in one of the states asked for, whatever the case and the blanks around; an unknown
       state lists nothing.                                                                             KIP-518
LS-3   Versions 5+: only groups of one of the types asked for, whatever the case; an unknown type lists nothing. KIP-848
LS-4   A group without a record is not listed (DG-7).
LS-5   A group of the consumer protocol: type consumer, in the states Empty, Assigning, Reconciling, Stable.  KIP-848
LS-6   A share group: type and protocol type share, in the states Empty and Stable.                     KIP-932
LS-7   A streams group: type and protocol type streams, in the states Empty, NotReady, Assigning, Reconciling, Stable;
       NotReady is asked for as not_ready.                                  KIP-1071; Kafka: StreamsGroup.isInStates
Kafka lists in no particular order, the stub in that of the groups' creation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final

from kafkastub.coordinator.group import Group
from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.state.deferred import Steps, in_parts
from kafkastub.state.groups import check_loaded
from kafkastub.state.pace import paced
from kafkawire.api import ApiKey
from kafkawire.codec import encoder_of
from kafkawire.errors import ErrorCode
from kafkawire.messages.list_groups_request import ListGroupsRequest
from kafkawire.messages.list_groups_response import ListedGroup, ListGroupsResponse
from kafkawire.rows import Shared

_AT_ONCE: Final = 2000
"""Groups after which others have their turn."""
_SOME: Final = 500
_ASKED_FOR: Final = {"NotReady": "not_ready"}
"""States that are asked for by another name than they are shown with, but for the case."""


def error_response(request: ListGroupsRequest, code: ErrorCode, version: int) -> ListGroupsResponse:
    """The code at the top."""
    return ListGroupsResponse(error_code=code)


@handles(ApiKey.LIST_GROUPS, 0, 5, error_response=error_response)
def list_groups(ctx: RequestContext, request: ListGroupsRequest) -> Outcome:
    check_loaded(ctx.state)
    coordinator = ctx.state.coordinator
    states = {state.lower().strip() for state in paced(request.states_filter, ctx.pace)}
    types = {group_type.lower() for group_type in paced(request.types_filter, ctx.pace)}

    def listed(groups: Iterable[Group]) -> list[ListedGroup]:
        return [
            ListedGroup(group.group_id, group.protocol_type or "", group.state_name, group.group_type)
            for group in groups
            if group.group_id not in coordinator.unseen
            and (not states or _ASKED_FOR.get(group.state_name, group.state_name.lower()) in states)
            and (not types or group.group_type in types)
        ]

    if len(coordinator.groups) <= _AT_ONCE:
        return ListGroupsResponse(groups=listed(coordinator.groups.values()))
    failed = partial(error_response, request, version=ctx.api_version)
    steps = _in_parts(list(coordinator.groups.values()), listed, ctx.api_version)
    return in_parts(steps, _AT_ONCE, ctx.state.turns.add, failed, for_nobody=False)


def _in_parts(groups: Sequence[Group], listed: Callable[[Iterable[Group]], list[ListedGroup]], version: int) -> Steps:
    """The answer about very many, made and encoded bit by bit: each group as it is when its turn comes."""
    encode = encoder_of(ListGroupsResponse, "groups", version)
    rows = Shared[ListedGroup]()
    for first in range(0, len(groups), _SOME):
        rows.add(listed(groups[first : first + _SOME]), encode)
        yield _SOME
    return ListGroupsResponse(groups=rows)
