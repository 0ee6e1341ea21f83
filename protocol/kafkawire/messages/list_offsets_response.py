"""ListOffsetsResponse (key 2), versions 1-11. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class ListOffsetsPartitionResponse(Struct):
    __slots__ = ("partition_index", "error_code", "timestamp", "offset", "leader_epoch")
    FIELDS = (
        ("partition_index", "int32", (1, 11), None, None, None),
        ("error_code", "int16", (1, 11), None, None, None),
        ("timestamp", "int64", (1, 11), None, None, None),
        ("offset", "int64", (1, 11), None, None, None),
        ("leader_epoch", "int32", (4, 11), None, None, None),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        timestamp: int = -1,
        offset: int = -1,
        leader_epoch: int = -1,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.timestamp = timestamp
        self.offset = offset
        self.leader_epoch = leader_epoch


class ListOffsetsTopicResponse(Struct):
    __slots__ = ("name", "partitions")
    FIELDS = (
        ("name", "string", (1, 11), None, None, None),
        ("partitions", "[]ListOffsetsPartitionResponse", (1, 11), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[ListOffsetsPartitionResponse] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class ListOffsetsResponse(Message):
    __slots__ = ("throttle_time_ms", "topics")
    API_KEY = 2
    VERSIONS = (1, 11)
    FLEXIBLE = (6, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (2, 11), None, None, None),
        ("topics", "[]ListOffsetsTopicResponse", (1, 11), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: Sequence[ListOffsetsTopicResponse] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = topics
