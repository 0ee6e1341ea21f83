"""Guards of the APIs about streams groups and their members; see `guards`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import Handler, Registration
from kafkastub.layers.acls.split import split
from kafkastub.security import Operation, ResourceType
from kafkastub.security.access import Access
from kafkastub.security.operations import GROUP_OPERATIONS
from kafkastub.state.deferred import then
from kafkastub.state.group_protocols import serves_streams_protocol
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.streams_group_describe_request import StreamsGroupDescribeRequest
from kafkawire.messages.streams_group_describe_response import DescribedGroup, StreamsGroupDescribeResponse
from kafkawire.messages.streams_group_heartbeat_request import StreamsGroupHeartbeatRequest
from kafkawire.messages.streams_group_topology_description_update_request import (
    StreamsGroupTopologyDescriptionUpdateRequest,
)
from kafkawire.rows import Shared
from kafkawire.schema import Message

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
        if _sees_all(ctx.access, request.topology) or not _names_are_valid(request):
            return handler(ctx, request)
        return api.error_response(request, _TOPIC_REFUSED, ctx.api_version)

    return guard


def _describe(api: Registration) -> Handler:
    """Describe on each group, and on each topic of its topology."""
    handler = api.handler

    def guard(ctx: RequestContext, request: StreamsGroupDescribeRequest) -> Outcome:
        if not serves_streams_protocol(ctx.state):
            return handler(ctx, request)
        access, with_operations = ctx.access, request.include_authorized_operations
        mine, refused = split(request.group_ids, lambda group: access.to_group(Operation.DESCRIBE, group))

        def both(answer: Any) -> Message:
            shown: dict[int, DescribedGroup] = {}  # one named twice is answered twice
            for group in answer.groups:
                if id(group) not in shown:
                    shown[id(group)] = _describable(access, group, with_operations)
            failed: Any = api.error_response(StreamsGroupDescribeRequest(refused), _GROUP_REFUSED, ctx.api_version)
            groups = [*failed.groups, *(shown[id(group)] for group in answer.groups)]
            return StreamsGroupDescribeResponse(groups=Shared(groups, {}))

        asked = StreamsGroupDescribeRequest(mine, with_operations, request.include_topology_description)
        return then(handler(ctx, asked), both)  # type: ignore[no-any-return]

    return guard


def _update(api: Registration) -> Handler:
    """StreamsGroupTopologyDescriptionUpdate: Read on the group."""
    handler = api.handler

    def guard(ctx: RequestContext, request: StreamsGroupTopologyDescriptionUpdateRequest) -> Outcome:
        if serves_streams_protocol(ctx.state) and not ctx.access.to_group(Operation.READ, request.group_id):
            return api.error_response(request, _GROUP_REFUSED, ctx.api_version)
        return handler(ctx, request)

    return guard


def _describable(access: Access, group: DescribedGroup, with_operations: bool) -> DescribedGroup:
    """The group, if all topics of its topology may be seen."""
    if not _sees_all(access, group.topology):
        return DescribedGroup(_TOPIC_REFUSED, _HIDDEN_TOPICS, group.group_id)
    if with_operations and not group.error_code:
        group.authorized_operations = access.operations(GROUP_OPERATIONS, ResourceType.GROUP, group.group_id)
    return group


def _sees_all(access: Access, topology: Any) -> bool:
    """Whether all topics of a request's or a description's topology may be described."""
    return topology is None or all(access.to_topic(Operation.DESCRIBE, name) for name in {*_topics(topology)})


def _topics(topology: Any) -> Iterator[str]:
    for one in topology.subtopologies:
        yield from one.source_topics
        yield from one.repartition_sink_topics
        for topic in (*one.repartition_source_topics, *one.state_changelog_topics):
            yield topic.name


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
