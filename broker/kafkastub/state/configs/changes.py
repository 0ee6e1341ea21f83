"""A resource's configuration changed, for AlterConfigs and IncrementalAlterConfigs.

What concerns one resource is decided here, and is done or refused as a whole; `KafkaError` carries Kafka's code and
text. Kafka: ``ConfigAdminManager``, ``ConfigurationControlManager``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from kafkastub.config import InvalidValue
from kafkastub.config.definition import to_text
from kafkastub.config.kafka_table import GROUP, TOPIC, Row
from kafkastub.config.other import InvalidClientMetrics, validate_client_metrics_configs, validate_group_configs
from kafkastub.metadata import invalid_topic_name
from kafkastub.metadata.loggers import KNOWN, ROOT
from kafkastub.state.broker_state import BrokerState
from kafkastub.state.configs.broker_changes import change_broker, named_node
from kafkastub.state.configs.entries import ResourceType
from kafkastub.state.configs.operations import Change, Op, edited_list
from kafkastub.state.pace import Pace, no_pause, paced
from kafkastub.state.telemetry import MOST_PLACES
from kafkastub.state.topics import check_configs, configure_topic
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.java_order import hash_map_order, string_hash

LEVELS: Final = ("DEBUG", "ERROR", "FATAL", "INFO", "TRACE", "WARN")


def repeated_resources(resources: Iterable[tuple[int, str]]) -> set[tuple[int, str]]:
    """Those named more than once: each of their mentions is refused."""
    named, repeated = set[tuple[int, str]](), set[tuple[int, str]]()
    for one in resources:
        (repeated if one in named else named).add(one)
    return repeated


def alter(
    state: BrokerState,
    node_id: int,
    resource: tuple[int, str],
    changes: Sequence[Change],
    *,
    replace: bool,
    validate_only: bool,
    pace: Pace = no_pause,
) -> None:
    """Change one resource at the node that is asked. Raises KafkaError.

    ``replace``: what is not named goes (AlterConfigs).
    """
    kind, name = resource
    check_changes(changes, pace)
    match kind:
        case ResourceType.TOPIC:
            _alter_topic(state, name, changes, replace, validate_only)
        case ResourceType.BROKER:
            change_broker(state, node_id, name, changes, replace=replace, validate_only=validate_only)
        case ResourceType.BROKER_LOGGER if not replace:
            _alter_loggers(state, node_id, name, changes, validate_only)
        case ResourceType.CLIENT_METRICS:
            _alter_client_metrics(state, name, changes, replace, validate_only)
        case ResourceType.GROUP:
            _alter_group(state, name, changes, replace, validate_only)
        case _:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unknown resource type {kind}")


def check_changes(changes: Sequence[Change], pace: Pace = no_pause) -> None:
    """KafkaError for what is looked at before the resource itself (Kafka: ConfigAdminManager.preprocess)."""
    if len({name for name, _, _ in paced(changes, pace)}) < len(changes):
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Error due to duplicate config keys")
    missing = [name for name, operation, value in paced(changes, pace) if value is None and operation != Op.DELETE]
    if missing:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Null value not supported for : {', '.join(missing)}")


def changed(
    current: Mapping[str, str], changes: Sequence[Change], table: Mapping[str, Row], replace: bool
) -> dict[str, str]:
    """The overrides after the changes, which Kafka's controller keeps in a hash map.

    Raises KafkaError for APPEND and SUBTRACT where there is no list, and for operations that do not exist.
    """
    result = {} if replace else dict(current)
    in_order = hash_map_order((string_hash(change[0]), change) for change in changes)
    for name, operation, value in in_order:
        if operation == Op.SET:
            result[name] = value or ""
        elif operation == Op.DELETE:
            result.pop(name, None)
        elif operation in (Op.APPEND, Op.SUBTRACT):
            row = table.get(name)
            if row is None or row[0] != "list":
                message = f"Can't {Op(operation).name} to key {name} because its type is not LIST."
                raise KafkaError(ErrorCode.INVALID_CONFIG, message)
            result[name] = edited_list(result.get(name, to_text(row, row[1]) or ""), operation, value or "")
        else:
            # Kafka fails on a type that it does not know, without a text
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
    return result


def _alter_topic(state: BrokerState, name: str, changes: Sequence[Change], replace: bool, validate_only: bool) -> None:
    topic = state.cluster.topic(name)
    overrides = changed({} if topic is None else topic.configs, changes, TOPIC, replace)
    if not name:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Default topic resources are not allowed.")
    reason = invalid_topic_name(name)
    if reason is not None:
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, reason)
    check_configs(state, overrides.items())
    if topic is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{name}' does not exist.")
    if not validate_only:
        configure_topic(state, topic, overrides)


def _alter_group(state: BrokerState, name: str, changes: Sequence[Change], replace: bool, validate_only: bool) -> None:
    stored = state.cluster.group_configs
    overrides = changed(stored.get(name, {}), changes, GROUP, replace)
    if not name:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Default group resources are not allowed.")
    try:
        validate_group_configs(state.config, overrides)
    except InvalidValue as error:
        raise KafkaError(ErrorCode.INVALID_CONFIG, str(error)) from None
    if not validate_only:
        _store(stored, name, overrides)
        state.changed()


def _alter_client_metrics(
    state: BrokerState, name: str, changes: Sequence[Change], replace: bool, validate_only: bool
) -> None:
    stored = state.cluster.client_metrics_configs
    # no list here as far as Kafka's controller knows: APPEND is always refused
    overrides = changed(stored.get(name, {}), changes, {}, replace)
    if not name:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Subscription name can't be empty")
    telemetry = state.telemetry
    try:
        validate_client_metrics_configs(overrides)
        has_room = telemetry.has_room(stored, name, overrides)
    except InvalidClientMetrics as error:
        raise KafkaError(ErrorCode.INVALID_REQUEST, str(error)) from None
    except InvalidValue as error:
        raise KafkaError(ErrorCode.INVALID_CONFIG, str(error)) from None
    if not has_room:
        why = f"the patterns of all subscriptions have more than {MOST_PLACES} characters and classes"
        raise KafkaError(ErrorCode.INVALID_CONFIG, f"Illegal client matching pattern: {why}; remove or shorten some")
    if not validate_only:
        _store(stored, name, overrides)
        telemetry.altered(stored, name)
        state.changed()


def _store(stored: dict[str, dict[str, str]], name: str, overrides: dict[str, str]) -> None:
    if overrides:
        stored[name] = overrides
    else:
        stored.pop(name, None)


def _alter_loggers(state: BrokerState, node_id: int, name: str, changes: Sequence[Change], validate_only: bool) -> None:
    """Kafka: RuntimeLoggerManager."""
    if named_node(name) != node_id:
        message = f"Unexpected node id. Expected {node_id}, but received {name}"
        raise KafkaError(ErrorCode.INVALID_REQUEST, message)
    levels = state.cluster.logger_levels
    for logger, operation, level in changes:
        if operation in (Op.APPEND, Op.SUBTRACT):
            message = f"{Op(operation).name} operation is not allowed for the BROKER_LOGGER resource"
            raise KafkaError(ErrorCode.INVALID_REQUEST, message)
        if operation not in (Op.SET, Op.DELETE):
            message = f"Unknown operation type {operation} is not allowed for the BROKER_LOGGER resource"
            raise KafkaError(ErrorCode.INVALID_REQUEST, message)
        if logger not in KNOWN:
            raise KafkaError(ErrorCode.INVALID_CONFIG, f"Logger {logger} does not exist!")
        if operation == Op.DELETE and logger == ROOT:
            message = "Removing the log level of the root logger is not allowed"
            raise KafkaError(ErrorCode.INVALID_REQUEST, message)
        if operation == Op.SET and level not in LEVELS:
            message = f"Cannot set the log level of {logger} to {level} as it is not a supported log level. "
            message += f"Valid log levels are {', '.join(LEVELS)}"
            raise KafkaError(ErrorCode.INVALID_CONFIG, message)
    if not validate_only:
        levels.update({logger: level or "" if operation == Op.SET else "" for logger, operation, level in changes})
