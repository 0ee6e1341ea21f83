"""Guards of the APIs about share groups and their members; see `guards`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import Handler, Registration
from kafkastub.layers.acls.split import split
from kafkastub.security import Operation, ResourceType
from kafkastub.security.access import Access
from kafkastub.security.operations import GROUP_OPERATIONS
from kafkastub.state.deferred import then
from kafkastub.state.group_protocols import is_share_member_id, serves_share_protocol
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.share_group_describe_request import ShareGroupDescribeRequest
from kafkawire.messages.share_group_describe_response import DescribedGroup, ShareGroupDescribeResponse
from kafkawire.messages.share_group_heartbeat_request import ShareGroupHeartbeatRequest
from kafkawire.rows import Shared
from kafkawire.schema import Message

_GROUP_REFUSED: Final = ErrorCode.GROUP_AUTHORIZATION_FAILED
_TOPIC_REFUSED: Final = ErrorCode.TOPIC_AUTHORIZATION_FAILED
_HIDDEN_TOPICS: Final = "The group has described topic(s) that the client is not authorized to describe."


def _heartbeat(api: Registration) -> Handler:
    """Read on the group, Describe on each topic that is named."""
    handler = api.handler

    def guard(ctx: RequestContext, request: ShareGroupHeartbeatRequest) -> Outcome:
        if not serves_share_protocol(ctx.state):
            return handler(ctx, request)  # it is refused for that first
        access = ctx.access
        if not access.to_group(Operation.READ, request.group_id):
            return api.error_response(request, _GROUP_REFUSED, ctx.api_version)
        if not is_share_member_id(request.member_id):
            return handler(ctx, request)
        names = dict.fromkeys(request.subscribed_topic_names or ())
        if not all(access.to_topic(Operation.DESCRIBE, name) for name in names):
            return api.error_response(request, _TOPIC_REFUSED, ctx.api_version)
        return handler(ctx, request)

    return guard


def _describe(api: Registration) -> Handler:
    """Describe on each group, and on each topic that is assigned in it."""
    handler = api.handler

    def guard(ctx: RequestContext, request: ShareGroupDescribeRequest) -> Outcome:
        if not serves_share_protocol(ctx.state):
            return handler(ctx, request)
        access, with_operations = ctx.access, request.include_authorized_operations
        mine, refused = split(request.group_ids, lambda group: access.to_group(Operation.DESCRIBE, group))

        def both(answer: Any) -> Message:
            shown: dict[int, DescribedGroup] = {}  # one named twice is answered twice
            for group in answer.groups:
                if id(group) not in shown:
                    shown[id(group)] = _describable(access, group, with_operations)
            failed: Any = api.error_response(ShareGroupDescribeRequest(refused), _GROUP_REFUSED, ctx.api_version)
            groups = [*failed.groups, *(shown[id(group)] for group in answer.groups)]
            return ShareGroupDescribeResponse(groups=Shared(groups, {}))

        asked = ShareGroupDescribeRequest(mine, with_operations)
        return then(handler(ctx, asked), both)  # type: ignore[no-any-return]

    return guard


def _describable(access: Access, group: DescribedGroup, with_operations: bool) -> DescribedGroup:
    """The group, if all its topics may be seen."""
    topics = {topic.topic_name for member in group.members for topic in member.assignment.topic_partitions}
    if not all(access.to_topic(Operation.DESCRIBE, topic) for topic in topics):
        return DescribedGroup(_TOPIC_REFUSED, _HIDDEN_TOPICS, group.group_id)
    if with_operations and not group.error_code:
        group.authorized_operations = access.operations(GROUP_OPERATIONS, ResourceType.GROUP, group.group_id)
    return group


GUARDS: Final[Mapping[ApiKey, Callable[[Registration], Handler]]] = {
    ApiKey.SHARE_GROUP_HEARTBEAT: _heartbeat,
    ApiKey.SHARE_GROUP_DESCRIBE: _describe,
}
