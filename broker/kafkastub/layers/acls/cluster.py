"""Guards of the APIs about the cluster and about configurations; see `guards`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import Handler, Registration
from kafkastub.layers.acls.topics import in_order
from kafkastub.layers.split import about, split
from kafkastub.security import Operation
from kafkastub.security.access import Access
from kafkastub.security.operations import CLUSTER_OPERATIONS
from kafkastub.state.configs.changes import check_changes, repeated_resources
from kafkastub.state.configs.entries import ResourceType as ConfigType
from kafkawire.api import ApiKey
from kafkawire.error_texts import default_text
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.describe_configs_response import DescribeConfigsResult

_REFUSALS: Final = {
    ConfigType.TOPIC: ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    ConfigType.GROUP: ErrorCode.GROUP_AUTHORIZATION_FAILED,
}
"""Of a resource's configuration; that of all others belongs to the cluster."""


def _whole(operation: Operation) -> Callable[[Registration], Handler]:
    """The operation on the cluster, or nothing."""

    def make(api: Registration) -> Handler:
        handler = api.handler

        def guard(ctx: RequestContext, request: Any) -> Outcome:
            if not ctx.access.to_cluster(operation):
                return api.error_response(request, ErrorCode.CLUSTER_AUTHORIZATION_FAILED, ctx.api_version)
            return handler(ctx, request)

        return guard

    return make


def _describe_cluster(api: Registration) -> Handler:
    """For everybody, but for the operations: these need Describe on the cluster."""
    handler = api.handler

    def guard(ctx: RequestContext, request: Any) -> Outcome:
        answer: Any = handler(ctx, request)
        if request.include_cluster_authorized_operations and not answer.error_code:
            answer.cluster_authorized_operations = ctx.access.cluster_operations(CLUSTER_OPERATIONS)
        return answer  # type: ignore[no-any-return]

    return guard


def _may(access: Access, operation: Operation, kind: int, name: str) -> bool:
    if kind == ConfigType.TOPIC:
        return access.to_topic(operation, name)
    if kind == ConfigType.GROUP:
        return access.to_group(operation, name)
    return access.to_cluster(operation)


def _refusal(kind: int) -> ErrorCode:
    return _REFUSALS.get(ConfigType(kind), ErrorCode.CLUSTER_AUTHORIZATION_FAILED)


def _describe_configs(api: Registration) -> Handler:
    """DescribeConfigs on each topic and group, and on the cluster for all else; the refused come last."""
    handler = api.handler

    def guard(ctx: RequestContext, request: Any) -> Outcome:
        access, known = ctx.access, frozenset(ConfigType)
        if any(one.resource_type not in known for one in request.resources):
            return handler(ctx, request)
        mine, refused = split(
            request.resources,
            lambda one: _may(access, Operation.DESCRIBE_CONFIGS, one.resource_type, one.resource_name),
            ctx.pace,
        )
        if not refused:
            return handler(ctx, request)
        answer: Any = handler(ctx, about(request, resources=mine))
        answer.results = [
            *answer.results,
            *(
                DescribeConfigsResult(
                    error_code=(code := _refusal(one.resource_type)),
                    error_message=default_text(code),
                    resource_type=one.resource_type,
                    resource_name=one.resource_name,
                )
                for one in refused
            ),
        ]
        return answer  # type: ignore[no-any-return]

    return guard


def _alter_configs(api: Registration) -> Handler:
    """AlterConfigs on each topic and group, and on the cluster for all else.

    Kafka's broker looks at a request before its controller, which knows the entries, does: what it finds is told first.
    About loggers the broker decides by itself, without a text; since 4.4 about brokers, too (ConfigAdminManager).
    """
    handler, incremental = api.handler, api.key == ApiKey.INCREMENTAL_ALTER_CONFIGS

    def guard(ctx: RequestContext, request: Any) -> Outcome:
        access, asked = ctx.access, request.resources
        repeated = repeated_resources([(one.resource_type, one.resource_name) for one in asked])

        def goes_on(one: Any) -> bool:
            named = one.resource_type, one.resource_name
            known = one.resource_type in frozenset(ConfigType)
            if not known or named in repeated or (one.resource_type == ConfigType.BROKER_LOGGER and not incremental):
                return True
            if _may(access, Operation.ALTER_CONFIGS, *named):
                return True
            if not _is_sound(one):
                return True
            looked_at_first = one.resource_type == ConfigType.BROKER and not ctx.state.config.follows(4, 4)
            return looked_at_first and _fails(ctx, request, one)

        mine, refused = split(asked, goes_on, ctx.pace)
        if not refused:
            return handler(ctx, request)
        failed: Any = api.error_response(
            about(request, resources=refused), ErrorCode.CLUSTER_AUTHORIZATION_FAILED, ctx.api_version
        )
        for one in failed.responses:
            one.error_code = _refusal(one.resource_type)
            # about loggers the broker decides by itself, without a text; from 4.4 on about brokers too
            alone = (ConfigType.BROKER_LOGGER, *((ConfigType.BROKER,) if ctx.state.config.follows(4, 4) else ()))
            one.error_message = None if one.resource_type in alone else default_text(one.error_code)
        answer: Any = handler(ctx, about(request, resources=mine))
        answer.responses = in_order(asked, mine, answer.responses, failed.responses)
        return answer  # type: ignore[no-any-return]

    def _fails(ctx: RequestContext, request: Any, one: Any) -> bool:
        trial = type(request)(resources=[one], validate_only=True)
        answer: Any = handler(ctx, trial)
        return bool(answer.responses[0].error_code == ErrorCode.INVALID_REQUEST)

    return guard


def _is_sound(one: Any) -> bool:
    try:
        check_changes([(config.name, getattr(config, "config_operation", 0), config.value) for config in one.configs])
    except KafkaError:
        return False
    return True


GUARDS: Final[Mapping[ApiKey, Callable[[Registration], Handler]]] = {
    ApiKey.DESCRIBE_CONFIGS: _describe_configs,
    ApiKey.ALTER_CONFIGS: _alter_configs,
    ApiKey.INCREMENTAL_ALTER_CONFIGS: _alter_configs,
    ApiKey.ALTER_REPLICA_LOG_DIRS: _whole(Operation.ALTER),
    ApiKey.DESCRIBE_LOG_DIRS: _whole(Operation.DESCRIBE),
    ApiKey.ELECT_LEADERS: _whole(Operation.ALTER),
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: _whole(Operation.ALTER),
    ApiKey.LIST_PARTITION_REASSIGNMENTS: _whole(Operation.DESCRIBE),
    ApiKey.DESCRIBE_QUORUM: _whole(Operation.DESCRIBE),
    ApiKey.UPDATE_FEATURES: _whole(Operation.ALTER),
    ApiKey.DESCRIBE_CLUSTER: _describe_cluster,
    ApiKey.UNREGISTER_BROKER: _whole(Operation.ALTER),
    ApiKey.ADD_RAFT_VOTER: _whole(Operation.ALTER),
    ApiKey.REMOVE_RAFT_VOTER: _whole(Operation.ALTER),
    ApiKey.UNREGISTER_CONTROLLER: _whole(Operation.ALTER),
    ApiKey.DESCRIBE_CLIENT_QUOTAS: _whole(Operation.DESCRIBE_CONFIGS),
    ApiKey.ALTER_CLIENT_QUOTAS: _whole(Operation.ALTER_CONFIGS),
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: _whole(Operation.DESCRIBE),
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: _whole(Operation.ALTER),
    ApiKey.LIST_CONFIG_RESOURCES: _whole(Operation.DESCRIBE_CONFIGS),
    ApiKey.INITIALIZE_SHARE_GROUP_STATE: _whole(Operation.CLUSTER_ACTION),
    ApiKey.READ_SHARE_GROUP_STATE: _whole(Operation.CLUSTER_ACTION),
    ApiKey.WRITE_SHARE_GROUP_STATE: _whole(Operation.CLUSTER_ACTION),
    ApiKey.DELETE_SHARE_GROUP_STATE: _whole(Operation.CLUSTER_ACTION),
    ApiKey.READ_SHARE_GROUP_STATE_SUMMARY: _whole(Operation.CLUSTER_ACTION),
}
