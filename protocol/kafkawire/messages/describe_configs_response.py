"""DescribeConfigsResponse (key 32), versions 1-4. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class DescribeConfigsSynonym(Struct):
    __slots__ = ("name", "value", "source")
    FIELDS = (
        ("name", "string", (1, 4), None, None, None),
        ("value", "string", (1, 4), (1, 4), None, None),
        ("source", "int8", (1, 4), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        value: str | None = "",
        source: int = 0,
    ) -> None:
        self.name = name
        self.value = value
        self.source = source


class DescribeConfigsResourceResult(Struct):
    __slots__ = ("name", "value", "read_only", "config_source", "is_sensitive", "synonyms", "config_type", "documentation")
    FIELDS = (
        ("name", "string", (1, 4), None, None, None),
        ("value", "string", (1, 4), (1, 4), None, None),
        ("read_only", "bool", (1, 4), None, None, None),
        ("config_source", "int8", (1, 4), None, None, None),
        ("is_sensitive", "bool", (1, 4), None, None, None),
        ("synonyms", "[]DescribeConfigsSynonym", (1, 4), None, None, None),
        ("config_type", "int8", (3, 4), None, None, None),
        ("documentation", "string", (3, 4), (3, 4), None, None),
    )

    def __init__(
        self,
        name: str = "",
        value: str | None = "",
        read_only: bool = False,
        config_source: int = -1,
        is_sensitive: bool = False,
        synonyms: Sequence[DescribeConfigsSynonym] = (),
        config_type: int = 0,
        documentation: str | None = "",
    ) -> None:
        self.name = name
        self.value = value
        self.read_only = read_only
        self.config_source = config_source
        self.is_sensitive = is_sensitive
        self.synonyms = synonyms
        self.config_type = config_type
        self.documentation = documentation


class DescribeConfigsResult(Struct):
    __slots__ = ("error_code", "error_message", "resource_type", "resource_name", "configs")
    FIELDS = (
        ("error_code", "int16", (1, 4), None, None, None),
        ("error_message", "string", (1, 4), (1, 4), None, None),
        ("resource_type", "int8", (1, 4), None, None, None),
        ("resource_name", "string", (1, 4), None, None, None),
        ("configs", "[]DescribeConfigsResourceResult", (1, 4), None, None, None),
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        resource_type: int = 0,
        resource_name: str = "",
        configs: Sequence[DescribeConfigsResourceResult] = (),
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.configs = configs


class DescribeConfigsResponse(Message):
    __slots__ = ("throttle_time_ms", "results")
    API_KEY = 32
    VERSIONS = (1, 4)
    FLEXIBLE = (4, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (1, 4), None, None, None),
        ("results", "[]DescribeConfigsResult", (1, 4), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: Sequence[DescribeConfigsResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = results
