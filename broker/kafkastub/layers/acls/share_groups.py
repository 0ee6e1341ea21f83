"""Guards of the APIs about share groups and their members; see `guards`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import Handler, Registration
from kafkastub.layers.acls.described_groups import describing
from kafkastub.security import Operation
from kafkastub.state.group_protocols import is_share_member_id, serves_share_protocol
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.share_group_describe_response import DescribedGroup
from kafkawire.messages.share_group_heartbeat_request import ShareGroupHeartbeatRequest

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
    return describing(api, serves_share_protocol, _assigned_topics, _HIDDEN_TOPICS)


def _assigned_topics(group: DescribedGroup) -> set[str]:
    return {topic.topic_name for member in group.members for topic in member.assignment.topic_partitions}


GUARDS: Final[Mapping[ApiKey, Callable[[Registration], Handler]]] = {
    ApiKey.SHARE_GROUP_HEARTBEAT: _heartbeat,
    ApiKey.SHARE_GROUP_DESCRIBE: _describe,
}
