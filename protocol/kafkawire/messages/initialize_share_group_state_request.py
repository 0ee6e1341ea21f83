"""InitializeShareGroupStateRequest (key 83), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class PartitionData(Struct):
    __slots__ = ("partition", "state_epoch", "start_offset")
    FIELDS = (
        ("partition", "int32", (0, 0), None, None, None),
        ("state_epoch", "int32", (0, 0), None, None, None),
        ("start_offset", "int64", (0, 0), None, None, None),
    )

    def __init__(
        self,
        partition: int = 0,
        state_epoch: int = 0,
        start_offset: int = 0,
    ) -> None:
        self.partition = partition
        self.state_epoch = state_epoch
        self.start_offset = start_offset


class InitializeStateData(Struct):
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


class InitializeShareGroupStateRequest(Message):
    __slots__ = ("group_id", "topics")
    API_KEY = 83
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("group_id", "string", (0, 0), None, None, None),
        ("topics", "[]InitializeStateData", (0, 0), None, None, None),
    )

    def __init__(
        self,
        group_id: str = "",
        topics: Sequence[InitializeStateData] = (),
    ) -> None:
        self.group_id = group_id
        self.topics = topics
