"""DeleteGroupsResponse (key 42), versions 0-3. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class DeletableGroupResult(Struct):
    __slots__ = ("group_id", "error_code", "error_message")
    FIELDS = (
        ("group_id", "string", (0, 3), None, None, None),
        ("error_code", "int16", (0, 3), None, None, None),
        ("error_message", "string", (3, 3), (3, 3), None, None),
    )

    def __init__(
        self,
        group_id: str = "",
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.group_id = group_id
        self.error_code = error_code
        self.error_message = error_message


class DeleteGroupsResponse(Message):
    __slots__ = ("throttle_time_ms", "results")
    API_KEY = 42
    VERSIONS = (0, 3)
    FLEXIBLE = (2, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (0, 3), None, None, None),
        ("results", "[]DeletableGroupResult", (0, 3), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: Sequence[DeletableGroupResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = results
