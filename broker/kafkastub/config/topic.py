"""A topic's configuration: the broker's defaults with the topic's overrides on top (Kafka: ``LogConfig``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import definition
from .errors import InvalidValue, UnknownTopicConfig
from .kafka_table import TOPIC


def topic_settings(defaults: Mapping[str, Any], overrides: Mapping[str, str]) -> dict[str, Any]:
    """Topic configuration name to typed value, ``BrokerConfig.log_defaults`` overlaid. Raises InvalidValue."""
    settings = dict(defaults)
    for name, text in overrides.items():
        if (row := TOPIC.get(name)) and name in defaults:
            settings[name] = definition.parse(name, row, text)
    return settings


def validate_topic_configs(defaults: Mapping[str, Any], overrides: Mapping[str, str]) -> dict[str, Any]:
    """The typed settings of a topic, when Kafka accepts the overrides (``LogConfig.validate``).

    Raises UnknownTopicConfig or InvalidValue; their text
    is what Kafka answers.
    """
    for name in overrides:
        if name not in defaults:
            raise UnknownTopicConfig(name)
    settings = dict(defaults)
    for name, row in TOPIC.items():
        if name in overrides:
            settings[name] = definition.parse(name, row, overrides[name])
            definition.check(name, row, settings[name])
    low, high = settings["min.compaction.lag.ms"], settings["max.compaction.lag.ms"]
    if low > high:
        conflict = f"conflict topic config setting min.compaction.lag.ms ({low}) > max.compaction.lag.ms ({high})"
        raise InvalidValue("min.compaction.lag.ms", low, conflict, whole=conflict)
    if settings["remote.storage.enable"]:
        refusal = "Tiered Storage functionality is disabled in the broker. "
        refusal += "Topic cannot be configured with remote log storage."
        raise InvalidValue("remote.storage.enable", True, refusal, whole=refusal)
    return settings
