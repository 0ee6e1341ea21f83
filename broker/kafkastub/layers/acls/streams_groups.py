"""Guards of the APIs about streams groups and their members; see `guards`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import Handler, Registration
from kafkastub.layers.acls.described_groups import describing
from kafkastub.security import Operation
from kafkastub.state.group_protocols import serves_streams_protocol
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.streams_group_heartbeat_request import StreamsGroupHeartbeatRequest
from kafkawire.messages.streams_group_topology_description_update_request import (
    StreamsGroupTopologyDescriptionUpdateRequest,
)

_GROUP_REFUSED: Final = ErrorCode.GROUP_AUTHORIZATION_FAILED
_TOPIC_REFUSED: Final = ErrorCode.TOPIC_AUTHORIZATION_FAILED
_HIDDEN_TOPICS: Final = "The described group uses topics that the client is not authorized to describe."


def _heartbeat(api: Registration) -> Handler:
    """Read on the group, Describe on each topic that the topology names, internal ones and those to come too."""
    handler = api.handler

    def guard(ctx: RequestContext, request: StreamsGroupHeartbeatRequest) -> Outcome:
        if not serves_streams_protocol(ctx.state):
            return handler(ctx, request)  # it is refused for that first
        if not ctx.access.to_group(Operation.READ, request.group_id):
            return api.error_response(request, _GROUP_REFUSED, ctx.api_version)
        seen = all(ctx.access.to_topic(Operation.DESCRIBE, name) for name in _topics(request.topology))
        if seen or not _names_are_valid(request):
            return handler(ctx, request)
        return api.error_response(request, _TOPIC_REFUSED, ctx.api_version)

    return guard


def _describe(api: Registration) -> Handler:
    """Describe on each group, and on each topic of its topology."""
    return describing(api, serves_streams_protocol, lambda group: _topics(group.topology), _HIDDEN_TOPICS)


def _update(api: Registration) -> Handler:
    """StreamsGroupTopologyDescriptionUpdate: Read on the group."""
    handler = api.handler

    def guard(ctx: RequestContext, request: StreamsGroupTopologyDescriptionUpdateRequest) -> Outcome:
        if serves_streams_protocol(ctx.state) and not ctx.access.to_group(Operation.READ, request.group_id):
            return api.error_response(request, _GROUP_REFUSED, ctx.api_version)
        return handler(ctx, request)

    return guard


def _topics(topology: Any) -> set[str]:
    """The topics of a request's or a description's topology."""
    names: set[str] = set()
    for one in () if topology is None else topology.subtopologies:
        names.update(one.source_topics, one.repartition_sink_topics)
        names.update(topic.name for topic in (*one.repartition_source_topics, *one.state_changelog_topics))
    return names


def _names_are_valid(request: StreamsGroupHeartbeatRequest) -> bool:
    """Whether its topics may have their names: what may not is told before who may see it, by the handler."""
    from kafkastub.state.streams_groups import check_names  # what streams groups are made of comes with their first

    try:
        check_names(request)
    except KafkaError:
        return False
    return True


GUARDS: Final[Mapping[ApiKey, Callable[[Registration], Handler]]] = {
    ApiKey.STREAMS_GROUP_HEARTBEAT: _heartbeat,
    ApiKey.STREAMS_GROUP_DESCRIBE: _describe,
    ApiKey.STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE: _update,
}
