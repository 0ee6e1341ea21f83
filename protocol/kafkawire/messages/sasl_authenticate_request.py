"""SaslAuthenticateRequest (key 36), versions 0-2. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class SaslAuthenticateRequest(Message):
    __slots__ = ("auth_bytes",)
    API_KEY = 36
    VERSIONS = (0, 2)
    FLEXIBLE = (2, 32767)
    FIELDS = (
        ("auth_bytes", "bytes", (0, 2), None, None, None),
    )

    def __init__(
        self,
        auth_bytes: bytes = b"",
    ) -> None:
        self.auth_bytes = auth_bytes
