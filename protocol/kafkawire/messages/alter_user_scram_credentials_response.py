"""AlterUserScramCredentialsResponse (key 51), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class AlterUserScramCredentialsResult(Struct):
    __slots__ = ("user", "error_code", "error_message")
    FIELDS = (
        ("user", "string", (0, 0), None, None, None),
        ("error_code", "int16", (0, 0), None, None, None),
        ("error_message", "string", (0, 0), (0, 0), None, None),
    )

    def __init__(
        self,
        user: str = "",
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.user = user
        self.error_code = error_code
        self.error_message = error_message


class AlterUserScramCredentialsResponse(Message):
    __slots__ = ("throttle_time_ms", "results")
    API_KEY = 51
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (0, 0), None, None, None),
        ("results", "[]AlterUserScramCredentialsResult", (0, 0), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: Sequence[AlterUserScramCredentialsResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = results
