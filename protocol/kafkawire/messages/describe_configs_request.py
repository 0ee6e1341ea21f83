"""DescribeConfigsRequest (key 32), versions 1-4. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class DescribeConfigsResource(Struct):
    __slots__ = ("resource_type", "resource_name", "configuration_keys")
    FIELDS = (
        ("resource_type", "int8", (1, 4), None, None, None),
        ("resource_name", "string", (1, 4), None, None, None),
        ("configuration_keys", "[]string", (1, 4), (1, 4), None, None),
    )

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = "",
        configuration_keys: Sequence[str] | None = (),
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.configuration_keys = configuration_keys


class DescribeConfigsRequest(Message):
    __slots__ = ("resources", "include_synonyms", "include_documentation")
    API_KEY = 32
    VERSIONS = (1, 4)
    FLEXIBLE = (4, 32767)
    FIELDS = (
        ("resources", "[]DescribeConfigsResource", (1, 4), None, None, None),
        ("include_synonyms", "bool", (1, 4), None, None, None),
        ("include_documentation", "bool", (3, 4), None, None, None),
    )

    def __init__(
        self,
        resources: Sequence[DescribeConfigsResource] = (),
        include_synonyms: bool = False,
        include_documentation: bool = False,
    ) -> None:
        self.resources = resources
        self.include_synonyms = include_synonyms
        self.include_documentation = include_documentation
