"""ExpireDelegationTokenRequest (key 40), versions 1-2. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class ExpireDelegationTokenRequest(Message):
    __slots__ = ("hmac", "expiry_time_period_ms")
    API_KEY = 40
    VERSIONS = (1, 2)
    FLEXIBLE = (2, 32767)
    FIELDS = (
        ("hmac", "bytes", (1, 2), None, None, None),
        ("expiry_time_period_ms", "int64", (1, 2), None, None, None),
    )

    def __init__(
        self,
        hmac: bytes = b"",
        expiry_time_period_ms: int = 0,
    ) -> None:
        self.hmac = hmac
        self.expiry_time_period_ms = expiry_time_period_ms
