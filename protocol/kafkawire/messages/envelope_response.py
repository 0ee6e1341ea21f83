"""EnvelopeResponse (key 58), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class EnvelopeResponse(Message):
    __slots__ = ("response_data", "error_code")
    API_KEY = 58
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("response_data", "bytes", (0, 0), (0, 0), None, None),
        ("error_code", "int16", (0, 0), None, None, None),
    )

    def __init__(
        self,
        response_data: bytes | None = None,
        error_code: int = 0,
    ) -> None:
        self.response_data = response_data
        self.error_code = error_code
