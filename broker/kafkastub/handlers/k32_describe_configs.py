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
DC-10  Broker loggers: those of Kafka's classes, with their own level or root's; the broker's id is checked as for a
       broker.
DC-11  A resource type that does not exist: every resource of the request INVALID_REQUEST.
DC-12  A resource named twice is answered twice.
DC-13  Version 3+, where asked for: a sentence of our own about topic and group configurations, the broker's defaults of
       these, and what else the group coordinator goes by; null for other names, where Kafka has its own prose. KIP-569
DC-14  advertised.listeners is what clients are told, and static, though nobody may have configured it.
DC-15  An internal configuration of a group is shown where the group or the broker sets it, the group's as it was
       written.                                                            Kafka: AbstractKafkaConfig
Not done: documentation of other broker configurations and of client metrics; loggers of classes that a
broker loads later.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.metadata import Node, invalid_topic_name
from kafkastub.metadata.loggers import effective
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
from kafkastub.state.pace import Pace, no_pause, paced
from kafkawire.api import ApiKey
from kafkawire.error_texts import default_text
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kafkawire.messages.describe_configs_response import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from kafkawire.rows import Shared


def error_response(
    request: DescribeConfigsRequest, code: ErrorCode, version: int, pace: Pace = no_pause
) -> DescribeConfigsResponse:
    """The code at every resource."""
    return DescribeConfigsResponse(
        results=[
            DescribeConfigsResult(
                error_code=code,
                error_message=default_text(code),
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
            )
            for resource in paced(request.resources, pace)
        ]
    )


@handles(ApiKey.DESCRIBE_CONFIGS, 1, 4, error_response=error_response)
def describe_configs(ctx: RequestContext, request: DescribeConfigsRequest) -> Outcome:
    if any(resource.resource_type not in _KNOWN_TYPES for resource in paced(request.resources, ctx.pace)):
        return error_response(request, ErrorCode.INVALID_REQUEST, ctx.api_version, ctx.pace)
    described = _Described(ctx, request)
    results = [described.result(resource) for resource in paced(request.resources, ctx.pace)]
    return DescribeConfigsResponse(results=Shared(results, described.encoded))


class _Described:
    """What one request asks for, each thing made once: it may name the same, or what is configured alike, very often.

    Fifty kilobytes can name the broker ten thousand times, and its configuration with synonyms takes as many.
    """

    def __init__(self, ctx: RequestContext, request: DescribeConfigsRequest) -> None:
        self._ctx = ctx
        self._request = request
        self._results: dict[tuple[int, str, frozenset[str]], DescribeConfigsResult] = {}
        self._entries: dict[object, dict[str, DescribeConfigsResourceResult]] = {}
        """By what they depend on; by name."""
        self._picked: dict[tuple[int, frozenset[str]], Shared[DescribeConfigsResourceResult]] = {}
        self.encoded: dict[int, bytes] = {}

    def result(self, resource: DescribeConfigsResource) -> DescribeConfigsResult:
        keys = frozenset(resource.configuration_keys or ())
        named = resource.resource_type, resource.resource_name, keys
        found = self._results.get(named)
        if found is None:
            found = self._results[named] = self._result(resource, keys)
        return found

    def _result(self, resource: DescribeConfigsResource, keys: frozenset[str]) -> DescribeConfigsResult:
        result = DescribeConfigsResult(
            error_message="", resource_type=resource.resource_type, resource_name=resource.resource_name
        )
        try:
            depends_on, make = _entries(self._ctx, resource)
        except KafkaError as error:
            result.error_code, result.error_message = error.code, error.message
            return result
        entries = self._entries.get((resource.resource_type, depends_on))
        if entries is None:
            made = make()
            if not self._request.include_synonyms:
                without_synonyms(made)
            if self._request.include_documentation:
                add_documentation(resource.resource_type, made)
            entries = self._entries[resource.resource_type, depends_on] = {entry.name: entry for entry in made}
        picked = self._picked.get((id(entries), keys))
        if picked is None:
            names = entries.keys()
            chosen = names if not keys else () if keys.isdisjoint(names) else [name for name in names if name in keys]
            picked = self._picked[id(entries), keys] = Shared([entries[name] for name in chosen], self.encoded)
        result.configs = picked
        return result


_KNOWN_TYPES = frozenset(ResourceType)


_Make = Callable[[], list[DescribeConfigsResourceResult]]


def _entries(ctx: RequestContext, resource: DescribeConfigsResource) -> tuple[object, _Make]:
    """How to make a resource's entries, and on what they depend beside its type and the broker's own configuration.

    Raises KafkaError.
    """
    state, name = ctx.state, resource.resource_name
    config, cluster = state.config, state.cluster
    match resource.resource_type:
        case ResourceType.TOPIC:
            reason = invalid_topic_name(name)
            if reason is not None:
                raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, reason)
            topic = cluster.topic(name)
            if topic is None:
                # Kafka leaves the text empty here
                raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "")
            return frozenset(topic.configs.items()), partial(topic_entries, config, topic.configs)
        case ResourceType.BROKER:
            if not name:
                return False, partial(broker_default_entries, config)
            _check_broker(ctx, name, " or empty string,")
            return True, partial(broker_entries, config, _advertised(cluster.nodes[ctx.node_id]))
        case ResourceType.BROKER_LOGGER:
            if not name:
                raise KafkaError(ErrorCode.INVALID_REQUEST, "Broker id must not be empty")
            _check_broker(ctx, name, "")
            return None, lambda: [_logger(*item) for item in effective(cluster.logger_levels)]
        case ResourceType.CLIENT_METRICS:
            if not name:
                raise KafkaError(ErrorCode.INVALID_REQUEST, "Client metrics subscription name must not be empty")
            overrides = cluster.client_metrics_configs.get(name, {})
            return frozenset(overrides.items()), partial(client_metrics_entries, overrides)
        case _:
            if not name:
                raise KafkaError(ErrorCode.INVALID_REQUEST, "Group name must not be empty")
            overrides = cluster.group_configs.get(name, {})
            return frozenset(overrides.items()), partial(group_entries, config, overrides)


def _advertised(node: Node) -> str:
    """As advertised.listeners would say it: a broker that clients can reach has one, if need be from its listeners."""
    shown = ((name, f"[{host}]" if ":" in host else host, port) for name, (host, port) in node.endpoints.items())
    return ",".join(f"{name}://{host}:{port}" for name, host, port in shown)


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
