"""DescribeConfigs (key 32), versions 1-4.

DC-1   A topic: every topic configuration with value, source and type; an unknown topic UNKNOWN_TOPIC_OR_PARTITION, an
       invalid name INVALID_TOPIC_EXCEPTION.                               KIP-226; Kafka: ConfigHelper
DC-2   The broker by its id: every configuration, read-only or not, values as set at the start, dynamic or by default.
DC-3   The empty broker name: the dynamic configuration of all brokers.
DC-4   A broker id of another broker, or that is no number: INVALID_REQUEST.
DC-5   Passwords, and names that Kafka does not know, are sensitive: no value, nowhere.
DC-6   Configuration keys, where given, pick; null or none is all; unknown ones are left out.
DC-7   Synonyms where asked for, in the order of precedence.
DC-8   Version 3+: types.                                                  KIP-569
DC-9   A group and a client metrics subscription, existing or not: every configuration; the empty name INVALID_REQUEST.
DC-10  A broker logger: the root logger; the broker's id is checked as for a broker.
DC-11  A resource type that does not exist: every resource of the request INVALID_REQUEST.
DC-12  A resource named twice is answered twice.
DC-13  Version 3+, where asked for: a sentence of our own about topic and group configurations, the broker's defaults of
       these, and what else the group coordinator goes by; null for other names, where Kafka has its own prose. KIP-569
Not done: documentation of other broker configurations and of client metrics; loggers beside root.
"""

from __future__ import annotations

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.metadata import invalid_topic_name
from kafkastub.state.configs.entries import (
    ResourceType,
    Source,
    add_documentation,
    broker_default_entries,
    broker_entries,
    client_metrics_entries,
    group_entries,
    topic_entries,
    without_synonyms,
)
from kafkawire.api import ApiKey
from kafkawire.error_texts import default_text
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kafkawire.messages.describe_configs_response import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)


def error_response(request: DescribeConfigsRequest, code: ErrorCode, version: int) -> DescribeConfigsResponse:
    """The code at every resource."""
    return DescribeConfigsResponse(
        results=[
            DescribeConfigsResult(
                error_code=code,
                error_message=default_text(code),
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
            )
            for resource in request.resources
        ]
    )


@handles(ApiKey.DESCRIBE_CONFIGS, 1, 4, error_response=error_response)
def describe_configs(ctx: RequestContext, request: DescribeConfigsRequest) -> Outcome:
    if any(resource.resource_type not in _KNOWN_TYPES for resource in request.resources):
        return error_response(request, ErrorCode.INVALID_REQUEST, ctx.api_version)
    results = []
    for resource in request.resources:
        result = DescribeConfigsResult(
            error_message="", resource_type=resource.resource_type, resource_name=resource.resource_name
        )
        try:
            entries = _entries(ctx, resource)
        except KafkaError as error:
            result.error_code, result.error_message = error.code, error.message
        else:
            if not request.include_synonyms:
                without_synonyms(entries)
            if request.include_documentation:
                add_documentation(resource.resource_type, entries)
            keys = resource.configuration_keys
            result.configs = [entry for entry in entries if not keys or entry.name in keys]
        results.append(result)
    return DescribeConfigsResponse(results=results)


_KNOWN_TYPES = frozenset(ResourceType)


def _entries(ctx: RequestContext, resource: DescribeConfigsResource) -> list[DescribeConfigsResourceResult]:
    state, name = ctx.state, resource.resource_name
    match resource.resource_type:
        case ResourceType.TOPIC:
            reason = invalid_topic_name(name)
            if reason is not None:
                raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, reason)
            topic = state.cluster.topic(name)
            if topic is None:
                # Kafka leaves the text empty here
                raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "")
            return topic_entries(state.config, topic.configs)
        case ResourceType.BROKER:
            if not name:
                return broker_default_entries(state.config)
            _check_broker(ctx, name, " or empty string,")
            return broker_entries(state.config)
        case ResourceType.BROKER_LOGGER:
            if not name:
                raise KafkaError(ErrorCode.INVALID_REQUEST, "Broker id must not be empty")
            _check_broker(ctx, name, "")
            return [_logger(*item) for item in state.cluster.logger_levels.items()]
        case ResourceType.CLIENT_METRICS:
            if not name:
                raise KafkaError(ErrorCode.INVALID_REQUEST, "Client metrics subscription name must not be empty")
            return client_metrics_entries(state.cluster.client_metrics_configs.get(name, {}))
        case _:
            if not name:
                raise KafkaError(ErrorCode.INVALID_REQUEST, "Group name must not be empty")
            return group_entries(state.config, state.cluster.group_configs.get(name, {}))


def _check_broker(ctx: RequestContext, name: str, also: str) -> None:
    try:
        node_id = int(name)
    except ValueError:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Broker id must be an integer, but it is: {name}") from None
    if node_id != ctx.node_id:
        message = f"Unexpected broker id, expected {ctx.node_id}{also} but received {name}"
        raise KafkaError(ErrorCode.INVALID_REQUEST, message)


def _logger(name: str, level: str) -> DescribeConfigsResourceResult:
    return DescribeConfigsResourceResult(
        name=name, value=level, config_source=Source.DYNAMIC_BROKER_LOGGER, documentation=""
    )
