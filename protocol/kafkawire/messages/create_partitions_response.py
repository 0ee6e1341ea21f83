"""CreatePartitionsResponse (key 37), versions 0-3. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class CreatePartitionsTopicResult(Struct):
    __slots__ = ("name", "error_code", "error_message")
    FIELDS = (
        ("name", "string", (0, 3), None, None, None),
        ("error_code", "int16", (0, 3), None, None, None),
        ("error_message", "string", (0, 3), (0, 3), None, None),
    )

    def __init__(
        self,
        name: str = "",
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.name = name
        self.error_code = error_code
        self.error_message = error_message


class CreatePartitionsResponse(Message):
    __slots__ = ("throttle_time_ms", "results")
    API_KEY = 37
    VERSIONS = (0, 3)
    FLEXIBLE = (2, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (0, 3), None, None, None),
        ("results", "[]CreatePartitionsTopicResult", (0, 3), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: Sequence[CreatePartitionsTopicResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = results
