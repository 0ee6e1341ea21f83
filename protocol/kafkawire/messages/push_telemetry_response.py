"""PushTelemetryResponse (key 72), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class PushTelemetryResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code")
    API_KEY = 72
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (0, 0), None, None, None),
        ("error_code", "int16", (0, 0), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
