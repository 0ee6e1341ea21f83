"""ListConfigResources (key 74), versions 0-1.

LC-1   Version 0: the client metrics subscriptions that have a configuration.          KIP-714, KIP-1000
LC-2   Version 1: of the types asked for, none meaning all: groups and client metrics subscriptions that have a
       configuration, every broker, every broker's loggers, every topic.                KIP-1142
LC-3   Version 1: a type that does not exist answers UNSUPPORTED_VERSION and nothing else.
Not done: -
"""

from __future__ import annotations

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.metadata import Cluster
from kafkastub.state.configs.entries import ResourceType
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.list_config_resources_request import ListConfigResourcesRequest
from kafkawire.messages.list_config_resources_response import ConfigResource, ListConfigResourcesResponse

_ORDER = (
    ResourceType.GROUP,
    ResourceType.CLIENT_METRICS,
    ResourceType.BROKER_LOGGER,
    ResourceType.BROKER,
    ResourceType.TOPIC,
)


def error_response(request: ListConfigResourcesRequest, code: ErrorCode, version: int) -> ListConfigResourcesResponse:
    """The code on top."""
    return ListConfigResourcesResponse(error_code=code)


@handles(ApiKey.LIST_CONFIG_RESOURCES, 0, 1, error_response=error_response)
def list_config_resources(ctx: RequestContext, request: ListConfigResourcesRequest) -> Outcome:
    asked = set(request.resource_types) if ctx.api_version > 0 else {int(ResourceType.CLIENT_METRICS)}
    if not asked <= set(ResourceType):
        return error_response(request, ErrorCode.UNSUPPORTED_VERSION, ctx.api_version)
    return ListConfigResourcesResponse(
        config_resources=[
            ConfigResource(name, kind)
            for kind in _ORDER
            if not asked or kind in asked
            for name in _names(ctx.state.cluster, kind)
        ]
    )


def _names(cluster: Cluster, kind: ResourceType) -> list[str]:
    match kind:
        case ResourceType.GROUP:
            return list(cluster.group_configs)
        case ResourceType.CLIENT_METRICS:
            return list(cluster.client_metrics_configs)
        case ResourceType.TOPIC:
            return list(cluster.topics)
        case _:
            return [str(node_id) for node_id in cluster.registered]
