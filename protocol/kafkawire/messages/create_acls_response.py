"""CreateAclsResponse (key 30), versions 1-3. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class AclCreationResult(Struct):
    __slots__ = ("error_code", "error_message")
    FIELDS = (
        ("error_code", "int16", (1, 3), None, None, None),
        ("error_message", "string", (1, 3), (1, 3), None, None),
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message


class CreateAclsResponse(Message):
    __slots__ = ("throttle_time_ms", "results")
    API_KEY = 30
    VERSIONS = (1, 3)
    FLEXIBLE = (2, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (1, 3), None, None, None),
        ("results", "[]AclCreationResult", (1, 3), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: Sequence[AclCreationResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = results
