"""ResponseHeader, versions 0-1. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class ResponseHeader(Message):
    __slots__ = ("correlation_id",)
    VERSIONS = (0, 1)
    FLEXIBLE = (1, 32767)
    FIELDS = (
        ("correlation_id", "int32", (0, 1), None, None, None),
    )

    def __init__(
        self,
        correlation_id: int = 0,
    ) -> None:
        self.correlation_id = correlation_id
