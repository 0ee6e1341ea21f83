"""DescribeClientQuotasRequest (key 48), versions 0-1. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class ComponentData(Struct):
    __slots__ = ("entity_type", "match_type", "match")
    FIELDS = (
        ("entity_type", "string", (0, 1), None, None, None),
        ("match_type", "int8", (0, 1), None, None, None),
        ("match", "string", (0, 1), (0, 1), None, None),
    )

    def __init__(
        self,
        entity_type: str = "",
        match_type: int = 0,
        match: str | None = "",
    ) -> None:
        self.entity_type = entity_type
        self.match_type = match_type
        self.match = match


class DescribeClientQuotasRequest(Message):
    __slots__ = ("components", "strict")
    API_KEY = 48
    VERSIONS = (0, 1)
    FLEXIBLE = (1, 32767)
    FIELDS = (
        ("components", "[]ComponentData", (0, 1), None, None, None),
        ("strict", "bool", (0, 1), None, None, None),
    )

    def __init__(
        self,
        components: Sequence[ComponentData] = (),
        strict: bool = False,
    ) -> None:
        self.components = components
        self.strict = strict
