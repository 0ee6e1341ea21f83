"""DescribeQuorumRequest (key 55), versions 0-2. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class PartitionData(Struct):
    __slots__ = ("partition_index",)
    FIELDS = (
        ("partition_index", "int32", (0, 2), None, None, None),
    )

    def __init__(
        self,
        partition_index: int = 0,
    ) -> None:
        self.partition_index = partition_index


class TopicData(Struct):
    __slots__ = ("topic_name", "partitions")
    FIELDS = (
        ("topic_name", "string", (0, 2), None, None, None),
        ("partitions", "[]PartitionData", (0, 2), None, None, None),
    )

    def __init__(
        self,
        topic_name: str = "",
        partitions: Sequence[PartitionData] = (),
    ) -> None:
        self.topic_name = topic_name
        self.partitions = partitions


class DescribeQuorumRequest(Message):
    __slots__ = ("topics",)
    API_KEY = 55
    VERSIONS = (0, 2)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("topics", "[]TopicData", (0, 2), None, None, None),
    )

    def __init__(
        self,
        topics: Sequence[TopicData] = (),
    ) -> None:
        self.topics = topics
