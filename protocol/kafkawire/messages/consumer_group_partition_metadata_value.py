"""ConsumerGroupPartitionMetadataValue (key 4), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class PartitionMetadata(Struct):
    __slots__ = ("partition", "racks")
    FIELDS = (
        ("partition", "int32", (0, 0), None, None, None),
        ("racks", "[]string", (0, 0), None, None, None),
    )

    def __init__(
        self,
        partition: int = 0,
        racks: Sequence[str] = (),
    ) -> None:
        self.partition = partition
        self.racks = racks


class TopicMetadata(Struct):
    __slots__ = ("topic_id", "topic_name", "num_partitions", "partition_metadata")
    FIELDS = (
        ("topic_id", "uuid", (0, 0), None, None, None),
        ("topic_name", "string", (0, 0), None, None, None),
        ("num_partitions", "int32", (0, 0), None, None, None),
        ("partition_metadata", "[]PartitionMetadata", (0, 0), None, None, None),
    )

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        topic_name: str = "",
        num_partitions: int = 0,
        partition_metadata: Sequence[PartitionMetadata] = (),
    ) -> None:
        self.topic_id = topic_id
        self.topic_name = topic_name
        self.num_partitions = num_partitions
        self.partition_metadata = partition_metadata


class ConsumerGroupPartitionMetadataValue(Message):
    __slots__ = ("topics",)
    API_KEY = 4
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("topics", "[]TopicMetadata", (0, 0), None, None, None),
    )

    def __init__(
        self,
        topics: Sequence[TopicMetadata] = (),
    ) -> None:
        self.topics = topics
