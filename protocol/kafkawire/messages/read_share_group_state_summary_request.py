"""ReadShareGroupStateSummaryRequest (key 87), versions 0-1. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class PartitionData(Struct):
    __slots__ = ("partition", "leader_epoch")
    FIELDS = (
        ("partition", "int32", (0, 1), None, None, None),
        ("leader_epoch", "int32", (0, 1), None, None, None),
    )

    def __init__(
        self,
        partition: int = 0,
        leader_epoch: int = 0,
    ) -> None:
        self.partition = partition
        self.leader_epoch = leader_epoch


class ReadStateSummaryData(Struct):
    __slots__ = ("topic_id", "partitions")
    FIELDS = (
        ("topic_id", "uuid", (0, 1), None, None, None),
        ("partitions", "[]PartitionData", (0, 1), None, None, None),
    )

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[PartitionData] = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = partitions


class ReadShareGroupStateSummaryRequest(Message):
    __slots__ = ("group_id", "topics")
    API_KEY = 87
    VERSIONS = (0, 1)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("group_id", "string", (0, 1), None, None, None),
        ("topics", "[]ReadStateSummaryData", (0, 1), None, None, None),
    )

    def __init__(
        self,
        group_id: str = "",
        topics: Sequence[ReadStateSummaryData] = (),
    ) -> None:
        self.group_id = group_id
        self.topics = topics
