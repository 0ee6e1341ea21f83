"""SaslHandshakeResponse (key 17), versions 0-1. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message


class SaslHandshakeResponse(Message):
    __slots__ = ("error_code", "mechanisms")
    API_KEY = 17
    VERSIONS = (0, 1)
    FIELDS = (
        ("error_code", "int16", (0, 1), None, None, None),
        ("mechanisms", "[]string", (0, 1), None, None, None),
    )

    def __init__(
        self,
        error_code: int = 0,
        mechanisms: Sequence[str] = (),
    ) -> None:
        self.error_code = error_code
        self.mechanisms = mechanisms
