"""AlterShareGroupOffsetsRequest (key 91), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class AlterShareGroupOffsetsRequestPartition(Struct):
    __slots__ = ("partition_index", "start_offset")
    FIELDS = (
        ("partition_index", "int32", (0, 0), None, None, None),
        ("start_offset", "int64", (0, 0), None, None, None),
    )

    def __init__(
        self,
        partition_index: int = 0,
        start_offset: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.start_offset = start_offset


class AlterShareGroupOffsetsRequestTopic(Struct):
    __slots__ = ("topic_name", "partitions")
    FIELDS = (
        ("topic_name", "string", (0, 0), None, None, None),
        ("partitions", "[]AlterShareGroupOffsetsRequestPartition", (0, 0), None, None, None),
    )

    def __init__(
        self,
        topic_name: str = "",
        partitions: Sequence[AlterShareGroupOffsetsRequestPartition] = (),
    ) -> None:
        self.topic_name = topic_name
        self.partitions = partitions


class AlterShareGroupOffsetsRequest(Message):
    __slots__ = ("group_id", "topics")
    API_KEY = 91
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("group_id", "string", (0, 0), None, None, None),
        ("topics", "[]AlterShareGroupOffsetsRequestTopic", (0, 0), None, None, None),
    )

    def __init__(
        self,
        group_id: str = "",
        topics: Sequence[AlterShareGroupOffsetsRequestTopic] = (),
    ) -> None:
        self.group_id = group_id
        self.topics = topics
