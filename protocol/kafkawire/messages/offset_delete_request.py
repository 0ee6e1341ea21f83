"""OffsetDeleteRequest (key 47), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class OffsetDeleteRequestPartition(Struct):
    __slots__ = ("partition_index",)
    FIELDS = (
        ("partition_index", "int32", (0, 0), None, None, None),
    )

    def __init__(
        self,
        partition_index: int = 0,
    ) -> None:
        self.partition_index = partition_index


class OffsetDeleteRequestTopic(Struct):
    __slots__ = ("name", "partitions")
    FIELDS = (
        ("name", "string", (0, 0), None, None, None),
        ("partitions", "[]OffsetDeleteRequestPartition", (0, 0), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[OffsetDeleteRequestPartition] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class OffsetDeleteRequest(Message):
    __slots__ = ("group_id", "topics")
    API_KEY = 47
    VERSIONS = (0, 0)
    FIELDS = (
        ("group_id", "string", (0, 0), None, None, None),
        ("topics", "[]OffsetDeleteRequestTopic", (0, 0), None, None, None),
    )

    def __init__(
        self,
        group_id: str = "",
        topics: Sequence[OffsetDeleteRequestTopic] = (),
    ) -> None:
        self.group_id = group_id
        self.topics = topics
