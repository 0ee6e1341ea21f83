"""DeleteTopicsRequest (key 20), versions 1-6. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class DeleteTopicState(Struct):
    __slots__ = ("name", "topic_id")
    FIELDS = (
        ("name", "string", (6, 6), (6, 6), None, None),
        ("topic_id", "uuid", (6, 6), None, None, None),
    )

    def __init__(
        self,
        name: str | None = None,
        topic_id: bytes = ZERO_UUID,
    ) -> None:
        self.name = name
        self.topic_id = topic_id


class DeleteTopicsRequest(Message):
    __slots__ = ("topics", "topic_names", "timeout_ms")
    API_KEY = 20
    VERSIONS = (1, 6)
    FLEXIBLE = (4, 32767)
    FIELDS = (
        ("topics", "[]DeleteTopicState", (6, 6), None, None, None),
        ("topic_names", "[]string", (1, 5), None, None, None),
        ("timeout_ms", "int32", (1, 6), None, None, None),
    )

    def __init__(
        self,
        topics: Sequence[DeleteTopicState] = (),
        topic_names: Sequence[str] = (),
        timeout_ms: int = 0,
    ) -> None:
        self.topics = topics
        self.topic_names = topic_names
        self.timeout_ms = timeout_ms
