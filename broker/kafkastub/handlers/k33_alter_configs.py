"""AlterConfigs (key 33), versions 0-2.

AC-1   A resource's overrides become exactly those given; what is not named is back at its default.   KIP-133
AC-2   Null values, keys or resources named twice, unknown resource types (broker loggers among them): INVALID_REQUEST;
       refused values INVALID_CONFIG; an unknown topic UNKNOWN_TOPIC_OR_PARTITION.
AC-3   A broker's dynamic configuration likewise; what is not dynamic: INVALID_REQUEST; the configuration of all brokers
       without min.insync.replicas: INVALID_CONFIG.                       KIP-966
AC-4   validate_only changes nothing.
Not done: alter.config.policy.class.name. Apache Kafka 4.3.1 never answers a request that names a
resource twice: it fails while it counts the errors of its answer.
"""

from __future__ import annotations

from typing import Final

from kafkastub.handlers.config_changes import ConfigsChange, named
from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.state.configs.changes import repeated_resources
from kafkastub.state.configs.operations import Op
from kafkastub.state.pace import paced
from kafkawire.api import ApiKey
from kafkawire.messages.alter_configs_request import AlterConfigsRequest
from kafkawire.messages.alter_configs_response import AlterConfigsResourceResponse, AlterConfigsResponse

_CHANGE: Final = ConfigsChange(AlterConfigsResponse, AlterConfigsResourceResponse, replace=True)


@handles(ApiKey.ALTER_CONFIGS, 0, 2, error_response=_CHANGE.error_response)
def alter_configs(ctx: RequestContext, request: AlterConfigsRequest) -> Outcome:
    repeated = repeated_resources(named(resource) for resource in paced(request.resources, ctx.pace))
    resources = (
        (named(one), [(config.name, int(Op.SET), config.value) for config in paced(one.configs, ctx.pace)])
        for one in paced(request.resources, ctx.pace)
    )
    return _CHANGE.answer(ctx, resources, repeated, validate_only=request.validate_only)
