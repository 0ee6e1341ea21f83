"""A resource's configuration as DescribeConfigs and CreateTopics list it.

Kafka: ``ConfigHelper``, ``KafkaConfigSchema``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Any, Final

from kafkastub.config import BrokerConfig, synonyms, topic_settings
from kafkastub.config.definition import parse, to_text
from kafkastub.config.kafka_table import (
    BROKER,
    CLIENT_METRICS,
    GROUP,
    GROUP_SYNONYMS,
    INTERNAL,
    TOPIC,
    TOPIC_SYNONYMS,
    Row,
)
from kafkastub.config.listeners import ADVERTISED
from kafkawire.messages.create_topics_response import CreatableTopicConfigs
from kafkawire.messages.describe_configs_response import DescribeConfigsResourceResult, DescribeConfigsSynonym


class ResourceType(IntEnum):
    """Kafka: ``ConfigResource.Type``."""

    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class Source(IntEnum):
    """Kafka: ``DescribeConfigsResponse.ConfigSource``."""

    TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    DYNAMIC_BROKER_LOGGER = 6
    CLIENT_METRICS = 7
    GROUP = 8


# Kafka: DescribeConfigsResponse.ConfigType; 0 is unknown
TYPE_CODES: Final = {
    "boolean": 1,
    "string": 2,
    "int": 3,
    "short": 4,
    "long": 5,
    "double": 6,
    "list": 7,
    "class": 8,
    "password": 9,
}

Synonym = tuple[str, str | None, Source]


def topic_entries(config: BrokerConfig, overrides: Mapping[str, str]) -> list[DescribeConfigsResourceResult]:
    """A topic's configuration."""
    settings = topic_settings(config.log_defaults, overrides)
    entries = []
    for name, row in TOPIC.items():
        if name not in settings or (name in INTERNAL and name not in overrides):
            continue
        value = to_text(row, settings[name])
        listed = _broker_synonyms(config, TOPIC_SYNONYMS[name][0][0], False) if name in TOPIC_SYNONYMS else []
        if name in overrides:
            listed.insert(0, (name, value, Source.TOPIC))
        entries.append(_entry(name, row, value, listed))
    return entries


def group_entries(config: BrokerConfig, overrides: Mapping[str, str]) -> list[DescribeConfigsResourceResult]:
    """A group's configuration (KIP-848, KIP-932, KIP-1071).

    An internal one is shown where somebody has set it, for the group or for its broker; for the group as it was
    written. Kafka: AbstractKafkaConfig.extractGroupConfigMap, ConfigHelperUtils.createResponseConfig
    """
    entries = []
    for name, row in GROUP.items():
        broker_name = GROUP_SYNONYMS[name]
        internal = name in INTERNAL
        if name in config.to_come or (internal and name not in overrides and not _is_given(config, broker_name)):
            continue
        typed = config[broker_name] if broker_name is not None else row[1]
        if row[0] == "string" and isinstance(typed, (list, tuple)):
            typed = typed[0]  # of the assignors that the broker has, the first is the default
        default = to_text(row, typed)
        listed = _broker_synonyms(config, broker_name, False) if broker_name else [(name, default, Source.DEFAULT)]
        value = default
        if name in overrides:
            value = overrides[name] if internal else to_text(row, parse(name, row, overrides[name]))
            listed.insert(0, (name, value, Source.GROUP))
        entries.append(_entry(name, row, value, listed))
    return entries


def client_metrics_entries(overrides: Mapping[str, str]) -> list[DescribeConfigsResourceResult]:
    """A client metrics subscription's configuration (KIP-714); Kafka lists no defaults as synonyms here."""
    entries = []
    for name, row in CLIENT_METRICS.items():
        value = overrides[name] if name in overrides else to_text(row, row[1])
        listed = [(name, value, Source.CLIENT_METRICS)] if name in overrides else []
        entries.append(_entry(name, row, value, listed))
    return entries


def broker_entries(config: BrokerConfig, advertised: str = "") -> list[DescribeConfigsResourceResult]:
    """This broker's configuration; names that Kafka does not know appear as it shows them, without their value.

    `advertised`: what clients are told, where the configuration does not say it.
    """
    entries = []
    given = {**config.static, **config.dynamic_default, **config.dynamic_broker}
    for name in dict.fromkeys([*BROKER, *given]):
        row = BROKER.get(name)
        if row is not None and name not in given and (name in INTERNAL or name in config.to_come):
            continue
        sensitive = row is None or row[0] == "password"
        listed = _broker_synonyms(config, name, sensitive)
        value = None if row is None or sensitive else to_text(row, config[name])
        if name == ADVERTISED and name not in given and advertised:
            listed, value = [(name, advertised, Source.STATIC_BROKER)], advertised
        entries.append(_entry(name, row, value, listed))
    return entries


def broker_default_entries(config: BrokerConfig) -> list[DescribeConfigsResourceResult]:
    """The dynamic configuration of all brokers."""
    entries = []
    for name, text in config.dynamic_default.items():
        row = BROKER.get(name)
        sensitive = row is None or row[0] == "password"
        listed = _broker_synonyms(config, name, sensitive)
        listed = [synonym for synonym in listed if synonym[2] == Source.DYNAMIC_DEFAULT_BROKER]
        entries.append(_entry(name, row, None if sensitive else text, listed))
    return entries


def without_synonyms(entries: Iterable[DescribeConfigsResourceResult]) -> None:
    """What is answered to a request that does not ask for them."""
    for entry in entries:
        entry.synonyms = ()


def add_documentation(kind: int, entries: Iterable[DescribeConfigsResourceResult]) -> None:
    """What is answered to a request that asks for it; nothing about what we have no words for."""
    from kafkastub.config.documentation import BROKER_TEXTS, CLIENT_METRICS_TEXTS, GROUP_TEXTS, TOPIC_TEXTS

    texts: dict[int, Mapping[str, str]] = {
        ResourceType.TOPIC: TOPIC_TEXTS,
        ResourceType.BROKER: BROKER_TEXTS,
        ResourceType.CLIENT_METRICS: CLIENT_METRICS_TEXTS,
        ResourceType.GROUP: GROUP_TEXTS,
    }
    for entry in entries:
        entry.documentation = texts.get(kind, {}).get(entry.name, entry.documentation)


def created_topic_configs(config: BrokerConfig, overrides: Mapping[str, str]) -> list[CreatableTopicConfigs]:
    """What CreateTopics tells of a new topic: sorted by name, overrides as they were written."""
    result = []
    for name in sorted(config.log_defaults):
        value, source = overrides.get(name), Source.TOPIC
        if value is None:
            value, source = _effective(config, name)
        if name not in INTERNAL or value is not None:
            result.append(CreatableTopicConfigs(name=name, value=value, config_source=source))
    return result


def _effective(config: BrokerConfig, name: str) -> tuple[str | None, Source]:
    """Kafka: KafkaConfigSchema.resolveEffectiveTopicConfig, below the topic's own."""
    row = TOPIC[name]
    for texts, source in _layers(config):
        for broker_name, factor in TOPIC_SYNONYMS.get(name, ()):
            if broker_name in texts:
                text = texts[broker_name]
                return (str(int(text) * factor) if factor != 1 else text), source
    return to_text(row, row[1]), Source.DEFAULT


def _layers(config: BrokerConfig) -> tuple[tuple[Mapping[str, str], Source], ...]:
    return (
        (config.dynamic_broker, Source.DYNAMIC_BROKER),
        (config.dynamic_default, Source.DYNAMIC_DEFAULT_BROKER),
        (config.static, Source.STATIC_BROKER),
    )


def _is_given(config: BrokerConfig, name: str | None) -> bool:
    """Whether the broker's configuration says anything of it, at the start or since."""
    return any(name in texts for texts, _ in _layers(config))


def _broker_synonyms(config: BrokerConfig, name: str, sensitive: bool) -> list[Synonym]:
    """Where the value of a broker configuration may come from, in the order of precedence, from its own name on."""
    names = synonyms(name)
    listed: list[Synonym] = [
        (other, None if sensitive else texts[other], source)
        for texts, source in _layers(config)
        for other in names
        if other in texts
    ]
    for other in names:
        row = BROKER.get(other)
        if row is not None and row[1] is not None:
            listed.append((other, None if sensitive else to_text(row, row[1]), Source.DEFAULT))
    own = next((index for index, synonym in enumerate(listed) if synonym[0] == name), len(listed))
    return listed[own:]


def _entry(name: str, row: Row | None, value: Any, listed: list[Synonym]) -> DescribeConfigsResourceResult:
    return DescribeConfigsResourceResult(
        name=name,
        value=value,
        read_only=row is None or row[4] == "read-only",
        config_source=listed[0][2] if listed else Source.DEFAULT,
        is_sensitive=row is None or row[0] == "password",
        synonyms=[DescribeConfigsSynonym(other, text, source) for other, text, source in listed],
        config_type=TYPE_CODES[row[0]] if row is not None else 0,
        documentation=None,
    )
