"""IncrementalAlterConfigsResponse (key 44), versions 0-1. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class AlterConfigsResourceResponse(Struct):
    __slots__ = ("error_code", "error_message", "resource_type", "resource_name")
    FIELDS = (
        ("error_code", "int16", (0, 1), None, None, None),
        ("error_message", "string", (0, 1), (0, 1), None, None),
        ("resource_type", "int8", (0, 1), None, None, None),
        ("resource_name", "string", (0, 1), None, None, None),
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        resource_type: int = 0,
        resource_name: str = "",
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.resource_type = resource_type
        self.resource_name = resource_name


class IncrementalAlterConfigsResponse(Message):
    __slots__ = ("throttle_time_ms", "responses")
    API_KEY = 44
    VERSIONS = (0, 1)
    FLEXIBLE = (1, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (0, 1), None, None, None),
        ("responses", "[]AlterConfigsResourceResponse", (0, 1), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        responses: Sequence[AlterConfigsResourceResponse] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.responses = responses
