"""ConsumerProtocolSubscription, versions 0-3. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class TopicPartition(Struct):
    __slots__ = ("topic", "partitions")
    FIELDS = (
        ("topic", "string", (1, 3), None, None, None),
        ("partitions", "[]int32", (1, 3), None, None, None),
    )

    def __init__(
        self,
        topic: str = "",
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic = topic
        self.partitions = partitions


class ConsumerProtocolSubscription(Message):
    __slots__ = ("topics", "user_data", "owned_partitions", "generation_id", "rack_id")
    VERSIONS = (0, 3)
    FIELDS = (
        ("topics", "[]string", (0, 3), None, None, None),
        ("user_data", "bytes", (0, 3), (0, 3), None, None),
        ("owned_partitions", "[]TopicPartition", (1, 3), None, None, None),
        ("generation_id", "int32", (2, 3), None, None, None),
        ("rack_id", "string", (3, 3), (3, 3), None, None),
    )

    def __init__(
        self,
        topics: Sequence[str] = (),
        user_data: bytes | None = None,
        owned_partitions: Sequence[TopicPartition] = (),
        generation_id: int = -1,
        rack_id: str | None = None,
    ) -> None:
        self.topics = topics
        self.user_data = user_data
        self.owned_partitions = owned_partitions
        self.generation_id = generation_id
        self.rack_id = rack_id
