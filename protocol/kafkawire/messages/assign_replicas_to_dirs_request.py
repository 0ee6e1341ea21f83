"""AssignReplicasToDirsRequest (key 73), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class PartitionData(Struct):
    __slots__ = ("partition_index",)
    FIELDS = (
        ("partition_index", "int32", (0, 0), None, None, None),
    )

    def __init__(
        self,
        partition_index: int = 0,
    ) -> None:
        self.partition_index = partition_index


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


class AssignReplicasToDirsRequest(Message):
    __slots__ = ("broker_id", "broker_epoch", "directories")
    API_KEY = 73
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("broker_id", "int32", (0, 0), None, None, None),
        ("broker_epoch", "int64", (0, 0), None, None, None),
        ("directories", "[]DirectoryData", (0, 0), None, None, None),
    )

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = -1,
        directories: Sequence[DirectoryData] = (),
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.directories = directories
