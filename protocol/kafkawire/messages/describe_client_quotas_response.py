"""DescribeClientQuotasResponse (key 48), versions 0-1. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class EntityData(Struct):
    __slots__ = ("entity_type", "entity_name")
    FIELDS = (
        ("entity_type", "string", (0, 1), None, None, None),
        ("entity_name", "string", (0, 1), (0, 1), None, None),
    )

    def __init__(
        self,
        entity_type: str = "",
        entity_name: str | None = "",
    ) -> None:
        self.entity_type = entity_type
        self.entity_name = entity_name


class ValueData(Struct):
    __slots__ = ("key", "value")
    FIELDS = (
        ("key", "string", (0, 1), None, None, None),
        ("value", "float64", (0, 1), None, None, None),
    )

    def __init__(
        self,
        key: str = "",
        value: float = 0.0,
    ) -> None:
        self.key = key
        self.value = value


class EntryData(Struct):
    __slots__ = ("entity", "values")
    FIELDS = (
        ("entity", "[]EntityData", (0, 1), None, None, None),
        ("values", "[]ValueData", (0, 1), None, None, None),
    )

    def __init__(
        self,
        entity: Sequence[EntityData] = (),
        values: Sequence[ValueData] = (),
    ) -> None:
        self.entity = entity
        self.values = values


class DescribeClientQuotasResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "error_message", "entries")
    API_KEY = 48
    VERSIONS = (0, 1)
    FLEXIBLE = (1, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (0, 1), None, None, None),
        ("error_code", "int16", (0, 1), None, None, None),
        ("error_message", "string", (0, 1), (0, 1), None, None),
        ("entries", "[]EntryData", (0, 1), (0, 1), None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        entries: Sequence[EntryData] | None = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.entries = entries
