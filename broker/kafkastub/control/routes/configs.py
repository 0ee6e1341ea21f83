"""/v1/configs: the configuration of the broker or of a topic, value by value, with where each comes from."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, Field

from kafkastub.config.own import OWN, PROFILE
from kafkastub.control.endpoints import Endpoints
from kafkastub.control.hosted import Hosted
from kafkastub.control.problems import Problem
from kafkastub.control.routes.shapes import Body, Text, example
from kafkastub.state.configs.entries import (
    TYPE_CODES,
    ResourceType,
    Source,
    add_documentation,
    broker_entries,
    topic_entries,
)
from kafkawire.messages.describe_configs_response import DescribeConfigsResourceResult

_TYPES = {code: name for name, code in TYPE_CODES.items()}


class ConfigSource(BaseModel):
    """A place that sets a configuration."""

    name: str = Field(description="its name there: a topic's configuration may come from a broker's")
    value: str | None
    source: str


class ConfigEntry(BaseModel):
    """One configuration."""

    model_config = example(
        name="retention.ms", value="3600000", source="topic", type="long", read_only=False,
        sensitive=False, documentation=None,
        sources=[{"name": "retention.ms", "value": "3600000", "source": "topic"}],
    )  # fmt: skip

    name: str
    value: str | None = Field(description="null if it has no value, or is a password")
    source: str = Field(description="topic, dynamic_broker, dynamic_default_broker, static_broker, default, kafkastub")
    type: str
    read_only: bool
    sensitive: bool
    documentation: str | None
    sources: list[ConfigSource] = Field(
        description="every place that sets it, the default included; the first one is in effect"
    )


class ConfigList(BaseModel):
    """Configurations sorted by name, the stub's own last."""

    configs: list[ConfigEntry]


class ConfigsQuery(Body):
    """Whose."""

    topic: Text | None = Field(None, description="the topic; without it the broker")


def routes(hosted: Hosted) -> Endpoints:
    """The endpoint."""
    router = Endpoints(tags=["broker"])

    @router.get(
        "/configs", summary="Return the configuration of the broker or of a topic, with the source of each value"
    )
    async def configs(query: Annotated[ConfigsQuery, Query()]) -> ConfigList:
        broker = hosted.running()
        if query.topic is not None:
            topic = broker.state.cluster.topic(query.topic)
            if topic is None:
                raise Problem(404, f"topic {query.topic!r} does not exist")
            entries = topic_entries(broker.config, topic.configs)
            add_documentation(ResourceType.TOPIC, entries)
            return ConfigList(configs=[_entry(each) for each in sorted(entries, key=lambda one: one.name)])
        entries = broker_entries(broker.config)
        add_documentation(ResourceType.BROKER, entries)
        told = [_entry(each) for each in sorted(entries, key=lambda one: one.name)]
        return ConfigList(configs=told + [_own(hosted, name) for name in (*OWN, *PROFILE)])

    return router


def _entry(entry: DescribeConfigsResourceResult) -> ConfigEntry:
    sources = [
        ConfigSource(name=each.name, value=each.value, source=Source(each.source).name.lower())
        for each in entry.synonyms
    ]
    return ConfigEntry(
        name=entry.name,
        value=entry.value,
        source=Source(entry.config_source).name.lower(),
        type=_TYPES.get(entry.config_type, "unknown"),
        read_only=entry.read_only,
        sensitive=entry.is_sensitive,
        documentation=entry.documentation,
        sources=sources,
    )


def _own(hosted: Hosted, name: str) -> ConfigEntry:
    """One that only the stub has. Of those of the profile, the profile says what is the default."""
    config = hosted.running().config
    row = OWN.get(name)
    sensitive = row is not None and row[0] == "password"
    value = None if sensitive else _text(config[name])
    source = "static_broker" if name in config.static else "kafkastub"
    return ConfigEntry(
        name=name,
        value=value,
        source=source,
        type="string" if row is None else row[0],
        read_only=True,
        sensitive=sensitive,
        documentation=None,
        sources=[ConfigSource(name=name, value=value, source=source)],
    )


def _text(value: object) -> str | None:
    return None if value is None else str(value)
