"""SaslHandshakeRequest (key 17), versions 0-1. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class SaslHandshakeRequest(Message):
    __slots__ = ("mechanism",)
    API_KEY = 17
    VERSIONS = (0, 1)
    FIELDS = (
        ("mechanism", "string", (0, 1), None, None, None),
    )

    def __init__(
        self,
        mechanism: str = "",
    ) -> None:
        self.mechanism = mechanism
