"""ListOffsetsRequest (key 2), versions 1-11. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class ListOffsetsPartition(Struct):
    __slots__ = ("partition_index", "current_leader_epoch", "timestamp")
    FIELDS = (
        ("partition_index", "int32", (1, 11), None, None, None),
        ("current_leader_epoch", "int32", (4, 11), None, None, None),
        ("timestamp", "int64", (1, 11), None, None, None),
    )

    def __init__(
        self,
        partition_index: int = 0,
        current_leader_epoch: int = -1,
        timestamp: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.current_leader_epoch = current_leader_epoch
        self.timestamp = timestamp


class ListOffsetsTopic(Struct):
    __slots__ = ("name", "partitions")
    FIELDS = (
        ("name", "string", (1, 11), None, None, None),
        ("partitions", "[]ListOffsetsPartition", (1, 11), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[ListOffsetsPartition] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class ListOffsetsRequest(Message):
    __slots__ = ("replica_id", "isolation_level", "topics", "timeout_ms")
    API_KEY = 2
    VERSIONS = (1, 11)
    FLEXIBLE = (6, 32767)
    FIELDS = (
        ("replica_id", "int32", (1, 11), None, None, None),
        ("isolation_level", "int8", (2, 11), None, None, None),
        ("topics", "[]ListOffsetsTopic", (1, 11), None, None, None),
        ("timeout_ms", "int32", (10, 11), None, None, None),
    )

    def __init__(
        self,
        replica_id: int = 0,
        isolation_level: int = 0,
        topics: Sequence[ListOffsetsTopic] = (),
        timeout_ms: int = 0,
    ) -> None:
        self.replica_id = replica_id
        self.isolation_level = isolation_level
        self.topics = topics
        self.timeout_ms = timeout_ms
