"""AlterClientQuotasRequest (key 49), versions 0-1. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

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


class OpData(Struct):
    __slots__ = ("key", "value", "remove")
    FIELDS = (
        ("key", "string", (0, 1), None, None, None),
        ("value", "float64", (0, 1), None, None, None),
        ("remove", "bool", (0, 1), None, None, None),
    )

    def __init__(
        self,
        key: str = "",
        value: float = 0.0,
        remove: bool = False,
    ) -> None:
        self.key = key
        self.value = value
        self.remove = remove


class EntryData(Struct):
    __slots__ = ("entity", "ops")
    FIELDS = (
        ("entity", "[]EntityData", (0, 1), None, None, None),
        ("ops", "[]OpData", (0, 1), None, None, None),
    )

    def __init__(
        self,
        entity: Sequence[EntityData] = (),
        ops: Sequence[OpData] = (),
    ) -> None:
        self.entity = entity
        self.ops = ops


class AlterClientQuotasRequest(Message):
    __slots__ = ("entries", "validate_only")
    API_KEY = 49
    VERSIONS = (0, 1)
    FLEXIBLE = (1, 32767)
    FIELDS = (
        ("entries", "[]EntryData", (0, 1), None, None, None),
        ("validate_only", "bool", (0, 1), None, None, None),
    )

    def __init__(
        self,
        entries: Sequence[EntryData] = (),
        validate_only: bool = False,
    ) -> None:
        self.entries = entries
        self.validate_only = validate_only
