"""WriteShareGroupStateRequest (key 85), versions 0-1. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class StateBatch(Struct):
    __slots__ = ("first_offset", "last_offset", "delivery_state", "delivery_count")
    FIELDS = (
        ("first_offset", "int64", (0, 1), None, None, None),
        ("last_offset", "int64", (0, 1), None, None, None),
        ("delivery_state", "int8", (0, 1), None, None, None),
        ("delivery_count", "int16", (0, 1), None, None, None),
    )

    def __init__(
        self,
        first_offset: int = 0,
        last_offset: int = 0,
        delivery_state: int = 0,
        delivery_count: int = 0,
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.delivery_state = delivery_state
        self.delivery_count = delivery_count


class PartitionData(Struct):
    __slots__ = ("partition", "state_epoch", "leader_epoch", "start_offset", "delivery_complete_count", "state_batches")
    FIELDS = (
        ("partition", "int32", (0, 1), None, None, None),
        ("state_epoch", "int32", (0, 1), None, None, None),
        ("leader_epoch", "int32", (0, 1), None, None, None),
        ("start_offset", "int64", (0, 1), None, None, None),
        ("delivery_complete_count", "int32", (1, 1), None, None, None),
        ("state_batches", "[]StateBatch", (0, 1), None, None, None),
    )

    def __init__(
        self,
        partition: int = 0,
        state_epoch: int = 0,
        leader_epoch: int = 0,
        start_offset: int = 0,
        delivery_complete_count: int = -1,
        state_batches: Sequence[StateBatch] = (),
    ) -> None:
        self.partition = partition
        self.state_epoch = state_epoch
        self.leader_epoch = leader_epoch
        self.start_offset = start_offset
        self.delivery_complete_count = delivery_complete_count
        self.state_batches = state_batches


class WriteStateData(Struct):
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


class WriteShareGroupStateRequest(Message):
    __slots__ = ("group_id", "topics")
    API_KEY = 85
    VERSIONS = (0, 1)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("group_id", "string", (0, 1), None, None, None),
        ("topics", "[]WriteStateData", (0, 1), None, None, None),
    )

    def __init__(
        self,
        group_id: str = "",
        topics: Sequence[WriteStateData] = (),
    ) -> None:
        self.group_id = group_id
        self.topics = topics
