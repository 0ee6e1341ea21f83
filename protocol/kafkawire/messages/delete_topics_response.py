"""DeleteTopicsResponse (key 20), versions 1-6. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class DeletableTopicResult(Struct):
    __slots__ = ("name", "topic_id", "error_code", "error_message")
    FIELDS = (
        ("name", "string", (1, 6), (6, 6), None, None),
        ("topic_id", "uuid", (6, 6), None, None, None),
        ("error_code", "int16", (1, 6), None, None, None),
        ("error_message", "string", (5, 6), (5, 6), None, None),
    )

    def __init__(
        self,
        name: str | None = "",
        topic_id: bytes = ZERO_UUID,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.error_code = error_code
        self.error_message = error_message


class DeleteTopicsResponse(Message):
    __slots__ = ("throttle_time_ms", "responses")
    API_KEY = 20
    VERSIONS = (1, 6)
    FLEXIBLE = (4, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (1, 6), None, None, None),
        ("responses", "[]DeletableTopicResult", (1, 6), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        responses: Sequence[DeletableTopicResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.responses = responses
