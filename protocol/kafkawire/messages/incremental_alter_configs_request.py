"""IncrementalAlterConfigsRequest (key 44), versions 0-1. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class AlterableConfig(Struct):
    __slots__ = ("name", "config_operation", "value")
    FIELDS = (
        ("name", "string", (0, 1), None, None, None),
        ("config_operation", "int8", (0, 1), None, None, None),
        ("value", "string", (0, 1), (0, 1), None, None),
    )

    def __init__(
        self,
        name: str = "",
        config_operation: int = 0,
        value: str | None = "",
    ) -> None:
        self.name = name
        self.config_operation = config_operation
        self.value = value


class AlterConfigsResource(Struct):
    __slots__ = ("resource_type", "resource_name", "configs")
    FIELDS = (
        ("resource_type", "int8", (0, 1), None, None, None),
        ("resource_name", "string", (0, 1), None, None, None),
        ("configs", "[]AlterableConfig", (0, 1), None, None, None),
    )

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = "",
        configs: Sequence[AlterableConfig] = (),
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.configs = configs


class IncrementalAlterConfigsRequest(Message):
    __slots__ = ("resources", "validate_only")
    API_KEY = 44
    VERSIONS = (0, 1)
    FLEXIBLE = (1, 32767)
    FIELDS = (
        ("resources", "[]AlterConfigsResource", (0, 1), None, None, None),
        ("validate_only", "bool", (0, 1), None, None, None),
    )

    def __init__(
        self,
        resources: Sequence[AlterConfigsResource] = (),
        validate_only: bool = False,
    ) -> None:
        self.resources = resources
        self.validate_only = validate_only
