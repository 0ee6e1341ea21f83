"""AssignReplicasToDirsResponse (key 73), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class PartitionData(Struct):
    __slots__ = ("partition_index", "error_code")
    FIELDS = (
        ("partition_index", "int32", (0, 0), None, None, None),
        ("error_code", "int16", (0, 0), None, None, None),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code


class TopicData(Struct):
    __slots__ = ("topic_id", "partitions")
    FIELDS = (
        ("topic_id", "uuid", (0, 0), None, None, None),
        ("partitions", "[]PartitionData", (0, 0), None, None, None),
    )

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[PartitionData] = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = partitions


class DirectoryData(Struct):
    __slots__ = ("id", "topics")
    FIELDS = (
        ("id", "uuid", (0, 0), None, None, None),
        ("topics", "[]TopicData", (0, 0), None, None, None),
    )

    def __init__(
        self,
        id: bytes = ZERO_UUID,
        topics: Sequence[TopicData] = (),
    ) -> None:
        self.id = id
        self.topics = topics


class AssignReplicasToDirsResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "directories")
    API_KEY = 73
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (0, 0), None, None, None),
        ("error_code", "int16", (0, 0), None, None, None),
        ("directories", "[]DirectoryData", (0, 0), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        directories: Sequence[DirectoryData] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.directories = directories
