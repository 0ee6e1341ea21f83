"""OffsetForLeaderEpochRequest (key 23), versions 2-4. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class OffsetForLeaderPartition(Struct):
    __slots__ = ("partition", "current_leader_epoch", "leader_epoch")
    FIELDS = (
        ("partition", "int32", (2, 4), None, None, None),
        ("current_leader_epoch", "int32", (2, 4), None, None, None),
        ("leader_epoch", "int32", (2, 4), None, None, None),
    )

    def __init__(
        self,
        partition: int = 0,
        current_leader_epoch: int = -1,
        leader_epoch: int = 0,
    ) -> None:
        self.partition = partition
        self.current_leader_epoch = current_leader_epoch
        self.leader_epoch = leader_epoch


class OffsetForLeaderTopic(Struct):
    __slots__ = ("topic", "partitions")
    FIELDS = (
        ("topic", "string", (2, 4), None, None, None),
        ("partitions", "[]OffsetForLeaderPartition", (2, 4), None, None, None),
    )

    def __init__(
        self,
        topic: str = "",
        partitions: Sequence[OffsetForLeaderPartition] = (),
    ) -> None:
        self.topic = topic
        self.partitions = partitions


class OffsetForLeaderEpochRequest(Message):
    __slots__ = ("replica_id", "topics")
    API_KEY = 23
    VERSIONS = (2, 4)
    FLEXIBLE = (4, 32767)
    FIELDS = (
        ("replica_id", "int32", (3, 4), None, None, None),
        ("topics", "[]OffsetForLeaderTopic", (2, 4), None, None, None),
    )

    def __init__(
        self,
        replica_id: int = -2,
        topics: Sequence[OffsetForLeaderTopic] = (),
    ) -> None:
        self.replica_id = replica_id
        self.topics = topics
