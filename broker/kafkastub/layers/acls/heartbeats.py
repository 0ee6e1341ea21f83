"""The guard of the heartbeats that name topics: of consumer groups and share groups; see `guards`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import Handler, Registration
from kafkastub.security import Operation
from kafkastub.state.broker_state import BrokerState
from kafkawire.errors import ErrorCode

_GROUP_REFUSED: Final = ErrorCode.GROUP_AUTHORIZATION_FAILED
_TOPIC_REFUSED: Final = ErrorCode.TOPIC_AUTHORIZATION_FAILED


def heartbeats(
    api: Registration, serves: Callable[[BrokerState], bool], is_member_id: Callable[[str], bool] | None = None
) -> Handler:
    """Read on the group, Describe on each topic that is named.

    Args:
        serves: whether groups of the type are switched on.
        is_member_id: whether a member may have that id, where the handler refuses others before it looks at topics.
    """
    handler = api.handler

    def guard(ctx: RequestContext, request: Any) -> Outcome:
        if not serves(ctx.state):
            return handler(ctx, request)  # it is refused for that first
        access = ctx.access
        if not access.to_group(Operation.READ, request.group_id):
            return api.error_response(request, _GROUP_REFUSED, ctx.api_version)
        if is_member_id is not None and not is_member_id(request.member_id):
            return handler(ctx, request)
        names = dict.fromkeys(request.subscribed_topic_names or ())
        if not all(access.to_topic(Operation.DESCRIBE, name) for name in names):
            return api.error_response(request, _TOPIC_REFUSED, ctx.api_version)
        return handler(ctx, request)

    return guard
