"""ElectLeadersRequest (key 43), versions 0-2. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class TopicPartitions(Struct):
    __slots__ = ("topic", "partitions")
    FIELDS = (
        ("topic", "string", (0, 2), None, None, None),
        ("partitions", "[]int32", (0, 2), None, None, None),
    )

    def __init__(
        self,
        topic: str = "",
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic = topic
        self.partitions = partitions


class ElectLeadersRequest(Message):
    __slots__ = ("election_type", "topic_partitions", "timeout_ms")
    API_KEY = 43
    VERSIONS = (0, 2)
    FLEXIBLE = (2, 32767)
    FIELDS = (
        ("election_type", "int8", (1, 2), None, None, None),
        ("topic_partitions", "[]TopicPartitions", (0, 2), (0, 2), None, None),
        ("timeout_ms", "int32", (0, 2), None, None, None),
    )

    def __init__(
        self,
        election_type: int = 0,
        topic_partitions: Sequence[TopicPartitions] | None = (),
        timeout_ms: int = 60000,
    ) -> None:
        self.election_type = election_type
        self.topic_partitions = topic_partitions
        self.timeout_ms = timeout_ms
