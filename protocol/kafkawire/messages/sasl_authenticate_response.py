"""SaslAuthenticateResponse (key 36), versions 0-2. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class SaslAuthenticateResponse(Message):
    __slots__ = ("error_code", "error_message", "auth_bytes", "session_lifetime_ms")
    API_KEY = 36
    VERSIONS = (0, 2)
    FLEXIBLE = (2, 32767)
    FIELDS = (
        ("error_code", "int16", (0, 2), None, None, None),
        ("error_message", "string", (0, 2), (0, 2), None, None),
        ("auth_bytes", "bytes", (0, 2), None, None, None),
        ("session_lifetime_ms", "int64", (1, 2), None, None, None),
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        auth_bytes: bytes = b"",
        session_lifetime_ms: int = 0,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.auth_bytes = auth_bytes
        self.session_lifetime_ms = session_lifetime_ms
