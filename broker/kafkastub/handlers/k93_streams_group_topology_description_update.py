"""StreamsGroupTopologyDescriptionUpdate (key 93), version 0.

TU-1   There is no plugin that could keep a description (group.streams.topology.description.plugin.class):
       UNSUPPORTED_VERSION with a text, whatever the group; the coordinator is not asked.
                                                    KIP-1331; Kafka: GroupCoordinatorService.throwIf…UpdateInvalid
TU-2   Where streams groups are switched off: UNSUPPORTED_VERSION (TH-20).
TU-3   Who may not read the group is told GROUP_AUTHORIZATION_FAILED, before TU-1.                     Kafka: KafkaApis
Not done: plugins, which are Java classes.
"""

from __future__ import annotations

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.state.group_protocols import serves_streams_protocol
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.streams_group_topology_description_update_request import (
    StreamsGroupTopologyDescriptionUpdateRequest,
)
from kafkawire.messages.streams_group_topology_description_update_response import (
    StreamsGroupTopologyDescriptionUpdateResponse,
)


def error_response(
    request: StreamsGroupTopologyDescriptionUpdateRequest, code: ErrorCode, version: int
) -> StreamsGroupTopologyDescriptionUpdateResponse:
    """The code, without a text."""
    return StreamsGroupTopologyDescriptionUpdateResponse(error_code=code)


@handles(ApiKey.STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE, 0, 0, error_response=error_response)
def streams_group_topology_description_update(
    ctx: RequestContext, request: StreamsGroupTopologyDescriptionUpdateRequest
) -> Outcome:
    if not serves_streams_protocol(ctx.state):
        return error_response(request, ErrorCode.UNSUPPORTED_VERSION, ctx.api_version)
    return StreamsGroupTopologyDescriptionUpdateResponse(
        error_code=ErrorCode.UNSUPPORTED_VERSION,
        error_message="The broker has no streams group topology description plugin configured.",
    )
