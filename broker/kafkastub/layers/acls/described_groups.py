"""The guard of the APIs that describe groups of one type: consumer, share and streams groups; see `guards`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import Handler, Registration
from kafkastub.layers.split import about, split
from kafkastub.security import Operation, ResourceType
from kafkastub.security.access import Access
from kafkastub.security.operations import GROUP_OPERATIONS
from kafkastub.state.broker_state import BrokerState
from kafkastub.state.deferred import then
from kafkawire.errors import ErrorCode
from kafkawire.rows import Shared
from kafkawire.schema import Message

Topics = Callable[[Any], Iterable[str]]
"""The topics that a description tells of, each once."""

_GROUP_REFUSED: Final = ErrorCode.GROUP_AUTHORIZATION_FAILED
_TOPIC_REFUSED: Final = ErrorCode.TOPIC_AUTHORIZATION_FAILED


def describing(api: Registration, serves: Callable[[BrokerState], bool], topics: Topics, hidden: str) -> Handler:
    """Describe on each group, and on each topic that its description tells of.

    Args:
        serves: whether groups of the type are switched on.
        hidden: what is said of a group with topics that may not be described.
    """
    handler = api.handler

    def guard(ctx: RequestContext, request: Any) -> Outcome:
        if not serves(ctx.state):
            return handler(ctx, request)  # it is refused for that first
        access, with_operations = ctx.access, request.include_authorized_operations
        mine, refused = split(request.group_ids, lambda group: access.to_group(Operation.DESCRIBE, group), ctx.pace)

        def both(answer: Any) -> Message:
            shown: dict[int, Any] = {}  # one named twice is answered twice
            for group in answer.groups:
                if id(group) not in shown:
                    shown[id(group)] = _shown(access, group, with_operations, topics, hidden)
            failed: Any = api.error_response(about(request, group_ids=refused), _GROUP_REFUSED, ctx.api_version)
            answer.groups = Shared([*failed.groups, *(shown[id(group)] for group in answer.groups)], {})
            return answer  # type: ignore[no-any-return]

        return then(handler(ctx, about(request, group_ids=mine)), both)  # type: ignore[no-any-return]

    return guard


def _shown(access: Access, group: Any, with_operations: bool, topics: Topics, hidden: str) -> Any:
    """The description, if all its topics may be seen."""
    if not all(access.to_topic(Operation.DESCRIBE, topic) for topic in topics(group)):
        return type(group)(_TOPIC_REFUSED, hidden, group.group_id)
    if with_operations and not group.error_code:
        group.authorized_operations = access.operations(GROUP_OPERATIONS, ResourceType.GROUP, group.group_id)
    return group
