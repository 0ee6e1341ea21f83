"""ConsumerProtocolAssignment, versions 0-3. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class TopicPartition(Struct):
    __slots__ = ("topic", "partitions")
    FIELDS = (
        ("topic", "string", (0, 3), None, None, None),
        ("partitions", "[]int32", (0, 3), None, None, None),
    )

    def __init__(
        self,
        topic: str = "",
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic = topic
        self.partitions = partitions


class ConsumerProtocolAssignment(Message):
    __slots__ = ("assigned_partitions", "user_data")
    VERSIONS = (0, 3)
    FIELDS = (
        ("assigned_partitions", "[]TopicPartition", (0, 3), None, None, None),
        ("user_data", "bytes", (0, 3), (0, 3), None, None),
    )

    def __init__(
        self,
        assigned_partitions: Sequence[TopicPartition] = (),
        user_data: bytes | None = None,
    ) -> None:
        self.assigned_partitions = assigned_partitions
        self.user_data = user_data
