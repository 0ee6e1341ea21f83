"""RenewDelegationTokenResponse (key 39), versions 1-2. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class RenewDelegationTokenResponse(Message):
    __slots__ = ("error_code", "expiry_timestamp_ms", "throttle_time_ms")
    API_KEY = 39
    VERSIONS = (1, 2)
    FLEXIBLE = (2, 32767)
    FIELDS = (
        ("error_code", "int16", (1, 2), None, None, None),
        ("expiry_timestamp_ms", "int64", (1, 2), None, None, None),
        ("throttle_time_ms", "int32", (1, 2), None, None, None),
    )

    def __init__(
        self,
        error_code: int = 0,
        expiry_timestamp_ms: int = 0,
        throttle_time_ms: int = 0,
    ) -> None:
        self.error_code = error_code
        self.expiry_timestamp_ms = expiry_timestamp_ms
        self.throttle_time_ms = throttle_time_ms
