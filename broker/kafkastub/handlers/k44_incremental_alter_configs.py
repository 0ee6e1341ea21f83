"""IncrementalAlterConfigs (key 44), versions 0-1.

IA-1   SET and DELETE change a topic's overrides, and its logs go by them at once.      KIP-339
IA-2   APPEND and SUBTRACT edit a list, beginning with Kafka's default; INVALID_CONFIG where there is no list.
IA-3   Refused values: INVALID_CONFIG with Kafka's text; nothing of the resource is changed then.
IA-4   A null value without DELETE, a key named twice, a resource named twice (both mentions), an unknown resource type:
       INVALID_REQUEST.                                                   Kafka: ConfigAdminManager.preprocess
IA-5   An unknown topic UNKNOWN_TOPIC_OR_PARTITION, after its values were looked at; an invalid name
       INVALID_TOPIC_EXCEPTION; the empty name INVALID_REQUEST.
IA-6   The broker, by id or (the empty name) all brokers: what is dynamic takes effect at once, for topics without an
       override too.                                                      KIP-226
IA-7   What is not dynamic (offsets.retention.minutes), a security configuration without listener prefix, one of a
       broker for all, a bad value, another broker's id: INVALID_REQUEST. Kafka: DynamicBrokerConfig
IA-8   min.insync.replicas can't be set for a broker nor removed for all: INVALID_CONFIG.       KIP-966
IA-9   Groups and client metrics subscriptions are validated against the broker's bounds and kept.
IA-10  Broker loggers: SET gives one a level of its own, DELETE takes it away, but not that of the root logger.
IA-11  validate_only changes nothing.
IA-12  An operation that does not exist: INVALID_REQUEST for a broker and its loggers; UNKNOWN_SERVER_ERROR for a topic,
       group or client metrics, with all resources that the controller is asked about, brokers among them.
IA-13  An assignment interval of the broker's groups stays within its bounds: INVALID_REQUEST.
       Kafka: GroupCoordinatorConfig
Not done: alter.config.policy.class.name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from kafkastub.config.kafka_table import GROUP, TOPIC, Row
from kafkastub.handlers.config_changes import ConfigsChange, named
from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.state.configs.broker_changes import check_broker
from kafkastub.state.configs.changes import changed, check_changes, repeated_resources
from kafkastub.state.configs.entries import ResourceType
from kafkastub.state.configs.operations import Change
from kafkastub.state.pace import paced
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.incremental_alter_configs_request import IncrementalAlterConfigsRequest
from kafkawire.messages.incremental_alter_configs_response import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)

_LISTS: Mapping[int, Mapping[str, Row]] = {
    ResourceType.TOPIC: TOPIC,
    ResourceType.CLIENT_METRICS: {},
    ResourceType.GROUP: GROUP,
}
"""Where the controller edits what it is asked about, and finds what is a list; a broker edits its own."""


_CHANGE: Final = ConfigsChange(IncrementalAlterConfigsResponse, AlterConfigsResourceResponse, replace=False)


@handles(ApiKey.INCREMENTAL_ALTER_CONFIGS, 0, 1, error_response=_CHANGE.error_response)
def incremental_alter_configs(ctx: RequestContext, request: IncrementalAlterConfigsRequest) -> Outcome:
    resources = [
        (named(one), [(config.name, config.config_operation, config.value) for config in paced(one.configs, ctx.pace)])
        for one in paced(request.resources, ctx.pace)
    ]
    repeated = repeated_resources(resource for resource, _ in paced(resources, ctx.pace))
    any_fails = any(
        resource not in repeated and _breaks_off(resource[0], changes) and _is_forwarded(ctx, resource, changes)
        for resource, changes in paced(resources, ctx.pace)
    )
    return _CHANGE.answer(
        ctx,
        paced(resources, ctx.pace),
        repeated,
        validate_only=request.validate_only,
        fails=lambda resource, changes: any_fails and _is_forwarded(ctx, resource, changes),
    )


def _is_forwarded(ctx: RequestContext, resource: tuple[int, str], changes: Sequence[Change]) -> bool:
    """Whether Kafka's broker finds nothing wrong and asks its controller, for all such resources at once."""
    kind, name = resource
    try:
        check_changes(changes, ctx.pace)
        if kind == ResourceType.BROKER:
            check_broker(ctx.state, ctx.node_id, name, changes, replace=False)
            return True
    except KafkaError:
        return False
    return kind in _LISTS


def _breaks_off(kind: int, changes: Sequence[Change]) -> bool:
    """Whether the controller comes upon an operation that does not exist before it finds another fault."""
    table = _LISTS.get(kind)
    if table is None:
        return False
    try:
        changed({}, changes, table, replace=False)
    except KafkaError as error:
        return error.code == ErrorCode.UNKNOWN_SERVER_ERROR
    return False
