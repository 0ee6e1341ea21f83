"""AlterConfigsRequest (key 33), versions 0-2. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class AlterableConfig(Struct):
    __slots__ = ("name", "value")
    FIELDS = (
        ("name", "string", (0, 2), None, None, None),
        ("value", "string", (0, 2), (0, 2), None, None),
    )

    def __init__(
        self,
        name: str = "",
        value: str | None = "",
    ) -> None:
        self.name = name
        self.value = value


class AlterConfigsResource(Struct):
    __slots__ = ("resource_type", "resource_name", "configs")
    FIELDS = (
        ("resource_type", "int8", (0, 2), None, None, None),
        ("resource_name", "string", (0, 2), None, None, None),
        ("configs", "[]AlterableConfig", (0, 2), None, None, None),
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


class AlterConfigsRequest(Message):
    __slots__ = ("resources", "validate_only")
    API_KEY = 33
    VERSIONS = (0, 2)
    FLEXIBLE = (2, 32767)
    FIELDS = (
        ("resources", "[]AlterConfigsResource", (0, 2), None, None, None),
        ("validate_only", "bool", (0, 2), None, None, None),
    )

    def __init__(
        self,
        resources: Sequence[AlterConfigsResource] = (),
        validate_only: bool = False,
    ) -> None:
        self.resources = resources
        self.validate_only = validate_only
