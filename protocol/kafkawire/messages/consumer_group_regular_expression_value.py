"""ConsumerGroupRegularExpressionValue (key 16), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message


class ConsumerGroupRegularExpressionValue(Message):
    __slots__ = ("topics", "version", "timestamp")
    API_KEY = 16
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("topics", "[]string", (0, 0), None, None, None),
        ("version", "int64", (0, 0), None, None, None),
        ("timestamp", "int64", (0, 0), None, None, None),
    )

    def __init__(
        self,
        topics: Sequence[str] = (),
        version: int = 0,
        timestamp: int = 0,
    ) -> None:
        self.topics = topics
        self.version = version
        self.timestamp = timestamp
