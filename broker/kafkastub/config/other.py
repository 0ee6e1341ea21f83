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
    ("streams.task.offset.interval.ms", "group.streams.{}.task.offset.interval.ms"),
    ("streams.num.warmup.replicas", "group.streams.{}.warmup.replicas"),
)
_ASSIGNOR: Final = "streams.assignor.name"
_TAGS: Final = "streams.rack.aware.assignment.tags"
_DEAD_LETTERS: Final = "errors.deadletterqueue.topic.name"
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
        if name not in GROUP or name in config.to_come:
            raise _refusal(name, f"Unknown group config name: {name}")
    tags = [tag.strip() for tag in overrides.get(_TAGS, "").split(",")]
    if len(tags) != len(set(tags)):
        raise _refusal(_TAGS, f"{_TAGS} must not contain duplicate tag keys.")
    values: dict[str, Any] = {}
    for name, row in GROUP.items():
        broker_name = GROUP_SYNONYMS[name]
        values[name] = config[broker_name] if broker_name is not None else row[1]
        if name in overrides:
            values[name] = definition.parse(name, row, overrides[name])
            definition.check(name, row, values[name])
    for name, bound in _BOUNDED:
        if name in overrides:
            _check_bounds(config, name, values[name], bound)
    assignors = config["group.streams.assignors"]
    if _ASSIGNOR in overrides and values[_ASSIGNOR] not in assignors:
        why = f"is not a registered task assignor. Registered assignors are: [{', '.join(assignors)}]."
        raise _refusal(_ASSIGNOR, f"{_ASSIGNOR} '{values[_ASSIGNOR]}' {why}")
    for kind in ("consumer", "share", "streams"):
        session, heartbeat = f"{kind}.session.timeout.ms", f"{kind}.heartbeat.interval.ms"
        if (session in overrides or heartbeat in overrides) and values[session] <= values[heartbeat]:
            raise _refusal(session, f"{session} must be greater than {heartbeat}")
    if values[_DEAD_LETTERS].startswith("__"):
        raise _refusal(_DEAD_LETTERS, f"{_DEAD_LETTERS}: DLQ topic name must not start with '__'")


def _check_bounds(config: BrokerConfig, name: str, value: int, bound: str) -> None:
    low, high = bound.format("min"), bound.format("max")
    least = config[low] if low in config else None  # noqa: SIM401 - a BrokerConfig has no get
    most = config[high] if high in config else None  # noqa: SIM401
    too_low, too_high = least is not None and value < least, most is not None and value > most
    if not too_low and not too_high:
        return
    if not config.follows(4, 4):
        why = f"greater than or equal to {low}" if too_low else f"less than or equal to {high}"
    elif least is not None and most is not None:
        why = f"in the range {least} to {most} inclusive."
    else:
        why = f"greater than or equal to {least}" if too_low else f"less than or equal to {most}"
    raise _refusal(name, f"{name} must be {why}")


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
