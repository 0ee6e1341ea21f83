"""AlterClientQuotasResponse (key 49), versions 0-1. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

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


class EntryData(Struct):
    __slots__ = ("error_code", "error_message", "entity")
    FIELDS = (
        ("error_code", "int16", (0, 1), None, None, None),
        ("error_message", "string", (0, 1), (0, 1), None, None),
        ("entity", "[]EntityData", (0, 1), None, None, None),
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        entity: Sequence[EntityData] = (),
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.entity = entity


class AlterClientQuotasResponse(Message):
    __slots__ = ("throttle_time_ms", "entries")
    API_KEY = 49
    VERSIONS = (0, 1)
    FLEXIBLE = (1, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (0, 1), None, None, None),
        ("entries", "[]EntryData", (0, 1), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        entries: Sequence[EntryData] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.entries = entries
