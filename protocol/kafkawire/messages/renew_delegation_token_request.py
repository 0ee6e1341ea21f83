"""RenewDelegationTokenRequest (key 39), versions 1-2. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class RenewDelegationTokenRequest(Message):
    __slots__ = ("hmac", "renew_period_ms")
    API_KEY = 39
    VERSIONS = (1, 2)
    FLEXIBLE = (2, 32767)
    FIELDS = (
        ("hmac", "bytes", (1, 2), None, None, None),
        ("renew_period_ms", "int64", (1, 2), None, None, None),
    )

    def __init__(
        self,
        hmac: bytes = b"",
        renew_period_ms: int = 0,
    ) -> None:
        self.hmac = hmac
        self.renew_period_ms = renew_period_ms
