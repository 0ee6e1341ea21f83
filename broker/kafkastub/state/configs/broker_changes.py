"""The broker's dynamic configuration (Kafka: ``DynamicBrokerConfig``): for this broker, or for all (the empty name)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from kafkastub.config import ConfigError, InvalidValue
from kafkastub.config.connection_limits import OF_LISTENERS, OVERRIDES, BadOverrides, per_ip_overrides
from kafkastub.config.definition import check, parse, to_text
from kafkastub.config.kafka_table import BROKER, Row
from kafkastub.config.log_dirs import CORDONED, wrongly_cordoned
from kafkastub.metadata.features import ELIGIBLE
from kafkastub.state.broker_state import BrokerState
from kafkastub.state.configs.operations import edited_list
from kafkastub.state.topics import reconfigure_logs
from kafkawire.errors import ErrorCode, KafkaError

_SET, _DELETE, _APPEND, _SUBTRACT = range(4)
_MIN_ISR: Final = "min.insync.replicas"
_LISTENER_OVERRIDE: Final = re.compile(r"listener\.name\.[^.]*\.(.*)")
# Kafka: DynamicThreadPool, LogCleaner
_THREAD_COUNTS: Final = (
    "num.io.threads",
    "num.replica.fetchers",
    "num.recovery.threads.per.data.dir",
    "background.threads",
    "num.network.threads",
    "log.cleaner.threads",
)


def change_broker(
    state: BrokerState,
    node_id: int,
    name: str,
    changes: Sequence[tuple[str, int, str | None]],
    *,
    replace: bool,
    validate_only: bool,
) -> None:
    """Change the dynamic configuration of the broker ``name``, or of all. Raises KafkaError, Kafka's code and text."""
    texts = check_broker(state, node_id, name, changes, replace=replace)
    config = state.config
    if state.features.level(ELIGIBLE):
        _check_minimum(name, _current(state, name), texts, changes)
    before = (config.dynamic_broker, config.dynamic_default)
    try:
        config.set_dynamic(texts, per_broker=bool(name))
    except (InvalidValue, ConfigError) as error:
        raise KafkaError(ErrorCode.INVALID_REQUEST, str(error)) from None
    if validate_only:
        config.set_dynamic(before[0], per_broker=True)
        config.set_dynamic(before[1], per_broker=False)
        return
    for topic in state.cluster.topics.values():
        reconfigure_logs(state, topic)
    state.coordinator.reconfigured()
    state.changed()
    state.broker_changed()


def check_broker(
    state: BrokerState, node_id: int, name: str, changes: Sequence[tuple[str, int, str | None]], *, replace: bool
) -> dict[str, str]:
    """What would be configured. Raises KafkaError for what a broker refuses before it asks the controller."""
    if name and named_node(name) != node_id:
        message = f"Unexpected broker id, expected {node_id}, but received {name}"
        raise KafkaError(ErrorCode.INVALID_REQUEST, message)
    texts = _changed(_current(state, name), changes, replace)
    _check_dynamic(texts, per_broker=bool(name))
    _check_threads(state, texts)
    _check_assignment_intervals(state, texts)
    _check_connections(state, node_id, texts)
    _check_cordoned(state, texts)
    return texts


def _current(state: BrokerState, name: str) -> Mapping[str, str]:
    config = state.config
    return config.dynamic_broker if name else config.dynamic_default


def named_node(name: str) -> int:
    """The node of a resource by its name. Raises KafkaError."""
    try:
        return int(name)
    except ValueError:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Node id must be an integer, but it is: {name}") from None


def _changed(
    current: Mapping[str, str], changes: Sequence[tuple[str, int, str | None]], replace: bool
) -> dict[str, str]:
    for _, operation, _ in changes:
        if not _SET <= operation <= _SUBTRACT:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unknown operations type {operation}")
    texts = {} if replace else dict(current)
    for name, operation, value in changes:
        if operation == _SET:
            texts[name] = value or ""
        elif operation == _DELETE:
            texts.pop(name, None)
        else:
            row = BROKER.get(name)
            if row is None:
                raise KafkaError(ErrorCode.INVALID_CONFIG, f"Unknown config name: {name}")
            if row[0] != "list":
                word = "append" if operation == _APPEND else "subtract"
                message = f"Config value {word} is not allowed for config key: {name}"
                raise KafkaError(ErrorCode.INVALID_CONFIG, message)
            texts[name] = edited_list(texts.get(name, to_text(row, row[1]) or ""), operation, value or "")
    return texts


def _check_dynamic(texts: Mapping[str, str], *, per_broker: bool) -> None:
    """Kafka: DynamicBrokerConfig.validateConfigs."""
    fixed = [name for name in texts if name in BROKER and BROKER[name][4] == "read-only"]
    _refuse_names(fixed, "Cannot update these configs dynamically")
    security = [name for name in texts if name.startswith("ssl.") and name in BROKER]
    _refuse_names(
        security, "These security configs can be dynamically updated only per-listener using the listener prefix"
    )
    for name, text in texts.items():
        override = _LISTENER_OVERRIDE.fullmatch(name)
        base = override[1] if override else name
        row = BROKER.get(base)
        if row is not None:
            try:
                value = parse(base, row, text)
                _check_repeated(base, row, value)
                check(base, row, value)
            except InvalidValue as error:
                raise KafkaError(ErrorCode.INVALID_REQUEST, str(error)) from None
    if not per_broker:
        local = [name for name in texts if _is_per_broker(name)]
        _refuse_names(local, "Cannot update these configs at default cluster level, broker id must be specified")
    if "log.retention.ms" in texts and _whole("log.retention.ms", texts) == 0:
        text = "requirement failed: log.retention.ms must be unlimited (-1) or, greater than or equal to 1"
        raise KafkaError(ErrorCode.INVALID_REQUEST, text)


def _check_repeated(name: str, row: Row, value: Any) -> None:
    """What is there twice is taken out of a list at the start and of a topic's, but not here. Raises InvalidValue."""
    if row[3] is not None and row[3][0] == "list of" and value and len(set(value)) < len(value):
        whole = f"Configuration '{name}' values must not be duplicated."
        raise InvalidValue(name, value, "must not be duplicated", whole=whole)


def _is_per_broker(name: str) -> bool:
    override = _LISTENER_OVERRIDE.fullmatch(name)
    if override:
        return override[1] not in (*OF_LISTENERS, "num.network.threads")
    return name in BROKER and BROKER[name][4] == "per-broker"


def _refuse_names(names: Iterable[str], text: str) -> None:
    listed = ", ".join(names)
    if listed:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"{text}: [{listed}]")


def _check_threads(state: BrokerState, texts: Mapping[str, str]) -> None:
    """A number of threads may at most double or halve at a time (Kafka: DynamicThreadPool)."""
    for name in _THREAD_COUNTS:
        if name not in texts:
            continue
        old, new = state.config[name], _whole(name, texts)
        if old // 2 <= new <= old * 2:
            continue
        if name == "log.cleaner.threads":
            bound = "reduced to less than half" if new < old else "increased to more than double"
            raise _invalid(f"Log cleaner threads cannot be {bound} the current value {old}")
        rule = f"value should be at least half the current value {old}"
        if new > old:
            rule = f"value should not be greater than double the current value {old}"
        raise _invalid(f"Dynamic thread count update validation failed for {name}={new}, {rule}")


_GROUP_TYPES: Final = tuple(
    found[1] for found in map(re.compile(r"group\.(\w+)\.assignment\.interval\.ms").fullmatch, BROKER) if found
)
"""The group types with epochs, as they stand in Kafka's names."""


def _check_assignment_intervals(state: BrokerState, texts: Mapping[str, str]) -> None:
    """Kafka: GroupCoordinatorConfig.checkConstraints."""
    for kind in _GROUP_TYPES:
        name, low, high = (f"group.{kind}.{bound}assignment.interval.ms" for bound in ("", "min.", "max."))
        if name not in texts:
            continue
        value = _whole(name, texts)
        if value < state.config[low]:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"{name} must be greater than or equal to {low}")
        if value > state.config[high]:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"{name} must be less than or equal to {high}")


def _check_connections(state: BrokerState, node_id: int, texts: Mapping[str, str]) -> None:
    """Kafka: SocketServer, ConnectionQuotas."""
    try:
        per_ip_overrides(texts.get(OVERRIDES, ""))
    except BadOverrides as error:
        raise KafkaError(ErrorCode.INVALID_REQUEST, str(error)) from None
    prefixes = ["", *(f"listener.name.{name.lower()}." for name in state.cluster.nodes[node_id].endpoints)]
    for prefix in prefixes:
        for name in OF_LISTENERS:
            if prefix + name in texts and (number := _whole(prefix + name, texts)) <= 0:
                raise _invalid(f"Invalid {name} {number}")


def _check_cordoned(state: BrokerState, texts: Mapping[str, str]) -> None:
    """Kafka: DynamicLogConfig.validateCordonedLogDirs."""
    if CORDONED not in texts:
        return
    config, cordoned = state.config, parse(CORDONED, BROKER[CORDONED], texts[CORDONED])
    problem = wrongly_cordoned({CORDONED: cordoned, "log.dirs": config["log.dirs"], "log.dir": config["log.dir"]})
    if problem is not None:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"requirement failed: {problem}")


def _whole(name: str, texts: Mapping[str, str]) -> int:
    """A value that was found to be a whole number."""
    return int(parse(name, ("long", None, "", None, ""), texts[name]))


def _invalid(problem: str) -> KafkaError:
    """As Kafka words what one of the broker's parts has against a value."""
    whole = f"Invalid value org.apache.kafka.common.config.ConfigException: {problem} for configuration "
    return KafkaError(ErrorCode.INVALID_REQUEST, whole + "Invalid dynamic configuration")


def _check_minimum(
    name: str, current: Mapping[str, str], texts: Mapping[str, str], changes: Sequence[tuple[str, int, str | None]]
) -> None:
    """With eligible leader replicas on (KIP-966), the cluster's minimum is there and the broker has none."""
    if name and any(changed == _MIN_ISR for changed, _, _ in changes):
        message = "Broker-level min.insync.replicas cannot be altered while ELR is enabled."
        raise KafkaError(ErrorCode.INVALID_CONFIG, message)
    if not name and _MIN_ISR in current and _MIN_ISR not in texts:
        message = "Cluster-level min.insync.replicas cannot be removed while ELR is enabled."
        raise KafkaError(ErrorCode.INVALID_CONFIG, message)
