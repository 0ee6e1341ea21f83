"""The configurations of groups (``GroupConfig``) and of client metrics subscriptions (``ClientMetricsConfigs``)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from . import definition
from .broker import BrokerConfig
from .errors import InvalidValue
from .kafka_table import CLIENT_METRICS, GROUP, GROUP_SYNONYMS
from .patterns import NotServed, Pattern

# in the order in which Kafka checks them: a group's value and the broker's bounds (a missing one does not exist)
_BOUNDED: Final = (
    ("consumer.heartbeat.interval.ms", "group.consumer.{}.heartbeat.interval.ms"),
    ("consumer.session.timeout.ms", "group.consumer.{}.session.timeout.ms"),
    ("consumer.assignment.interval.ms", "group.consumer.{}.assignment.interval.ms"),
    ("share.heartbeat.interval.ms", "group.share.{}.heartbeat.interval.ms"),
    ("share.session.timeout.ms", "group.share.{}.session.timeout.ms"),
    ("share.record.lock.duration.ms", "group.share.{}.record.lock.duration.ms"),
    ("share.delivery.count.limit", "group.share.{}.delivery.count.limit"),
    ("share.partition.max.record.locks", "group.share.{}.partition.max.record.locks"),
    ("share.assignment.interval.ms", "group.share.{}.assignment.interval.ms"),
    ("streams.heartbeat.interval.ms", "group.streams.{}.heartbeat.interval.ms"),
    ("streams.session.timeout.ms", "group.streams.{}.session.timeout.ms"),
    ("streams.num.standby.replicas", "group.streams.{}.standby.replicas"),
    ("streams.assignment.interval.ms", "group.streams.{}.assignment.interval.ms"),
)
_MATCHED: Final = frozenset(
    (
        "client_instance_id",
        "client_id",
        "client_software_name",
        "client_software_version",
        "client_source_address",
        "client_source_port",
    )
)
SHORTEST_INTERVAL_MS: Final = 100
LONGEST_INTERVAL_MS: Final = 3_600_000


class InvalidClientMetrics(ValueError):
    """What Kafka refuses of a subscription as a bad request, not as a bad value; ``str()`` is its text."""


def validate_group_configs(config: BrokerConfig, overrides: Mapping[str, str]) -> None:
    """Raises InvalidValue, with Kafka's text, where Kafka refuses a group's overrides (``GroupConfig.validate``)."""
    for name in overrides:
        if name not in GROUP:
            raise _refusal(name, f"Unknown group config name: {name}")
    values: dict[str, Any] = {}
    for name, row in GROUP.items():
        broker_name = GROUP_SYNONYMS[name]
        values[name] = config[broker_name] if broker_name is not None else row[1]
        if name in overrides:
            values[name] = definition.parse(name, row, overrides[name])
            definition.check(name, row, values[name])
    for name, bound in _BOUNDED:
        low, high = bound.format("min"), bound.format("max")
        if low in config and values[name] < config[low]:
            raise _refusal(name, f"{name} must be greater than or equal to {low}")
        if high in config and values[name] > config[high]:
            raise _refusal(name, f"{name} must be less than or equal to {high}")
    for kind in ("consumer", "share", "streams"):
        session, heartbeat = f"{kind}.session.timeout.ms", f"{kind}.heartbeat.interval.ms"
        if values[session] <= values[heartbeat]:
            raise _refusal(session, f"{session} must be greater than {heartbeat}")


def validate_client_metrics_configs(overrides: Mapping[str, str]) -> None:
    """Raises InvalidClientMetrics or InvalidValue, with Kafka's text (``ClientMetricsConfigs.validate``)."""
    for name in overrides:
        if name not in CLIENT_METRICS:
            raise InvalidClientMetrics(f"Unknown client metrics configuration: {name}")
    values = {}
    for name, text in overrides.items():
        values[name] = definition.parse(name, CLIENT_METRICS[name], text)
        definition.check(name, CLIENT_METRICS[name], values[name])
    interval = values.get("interval.ms")
    if interval is not None and not SHORTEST_INTERVAL_MS <= interval <= LONGEST_INTERVAL_MS:
        bounds = f"{SHORTEST_INTERVAL_MS} and {LONGEST_INTERVAL_MS} (1 hour)"
        raise InvalidClientMetrics(f"Invalid value {interval} for interval.ms, interval must be between {bounds}")
    match_patterns(values.get("match", ()))


def match_patterns(texts: Iterable[str]) -> dict[str, Pattern]:
    """``name=expression``, by name. Raises InvalidValue, with Kafka's text and what we have to say."""
    found: dict[str, Pattern] = {}
    for text in texts:
        name, equals, expression = text.partition("=")
        if not equals or name.strip() not in _MATCHED or "=" in expression:
            raise _refusal("match", f"Illegal client matching pattern: {text}")
        try:
            found[name.strip()] = Pattern(expression.strip())
        except NotServed as error:
            why = f" ({error})" if _is_expression(expression) else ""
            raise _refusal("match", f"Illegal client matching pattern: {text}{why}") from None
    return found


def _is_expression(text: str) -> bool:
    """Whether Kafka may well take it, so that there is something to explain."""
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError):
        return False
    return bool(text.strip())


def _refusal(name: str, text: str) -> InvalidValue:
    return InvalidValue(name, None, text, whole=text)
