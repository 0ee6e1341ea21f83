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

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.state.configs.changes import alter, repeated_resources
from kafkastub.state.configs.operations import Op
from kafkastub.state.pace import paced
from kafkawire.api import ApiKey
from kafkawire.error_texts import default_text
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.alter_configs_request import AlterConfigsRequest
from kafkawire.messages.alter_configs_response import AlterConfigsResourceResponse, AlterConfigsResponse


def error_response(request: AlterConfigsRequest, code: ErrorCode, version: int) -> AlterConfigsResponse:
    """The code at every resource."""
    return AlterConfigsResponse(
        responses=[
            AlterConfigsResourceResponse(code, default_text(code), resource.resource_type, resource.resource_name)
            for resource in request.resources
        ]
    )


@handles(ApiKey.ALTER_CONFIGS, 0, 2, error_response=error_response)
def alter_configs(ctx: RequestContext, request: AlterConfigsRequest) -> Outcome:
    repeated = repeated_resources(
        (resource.resource_type, resource.resource_name) for resource in paced(request.resources, ctx.pace)
    )
    responses = []
    for resource in paced(request.resources, ctx.pace):
        named = (resource.resource_type, resource.resource_name)
        code, text = ErrorCode.NONE, None
        if named in repeated:
            code, text = ErrorCode.INVALID_REQUEST, "Each resource must appear at most once."
        else:
            changes = [(config.name, int(Op.SET), config.value) for config in paced(resource.configs, ctx.pace)]
            try:
                alter(
                    ctx.state,
                    ctx.node_id,
                    named,
                    changes,
                    replace=True,
                    validate_only=request.validate_only,
                    pace=ctx.pace,
                )
            except KafkaError as error:
                code, text = error.code, error.message
        responses.append(AlterConfigsResourceResponse(code, text, *named))
    return AlterConfigsResponse(responses=responses)
