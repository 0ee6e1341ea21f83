"""AlterPartitionResponse (key 56), versions 2-3. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class PartitionData(Struct):
    __slots__ = ("partition_index", "error_code", "leader_id", "leader_epoch", "isr", "leader_recovery_state", "partition_epoch")
    FIELDS = (
        ("partition_index", "int32", (2, 3), None, None, None),
        ("error_code", "int16", (2, 3), None, None, None),
        ("leader_id", "int32", (2, 3), None, None, None),
        ("leader_epoch", "int32", (2, 3), None, None, None),
        ("isr", "[]int32", (2, 3), None, None, None),
        ("leader_recovery_state", "int8", (2, 3), None, None, None),
        ("partition_epoch", "int32", (2, 3), None, None, None),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        leader_id: int = 0,
        leader_epoch: int = 0,
        isr: Sequence[int] = (),
        leader_recovery_state: int = 0,
        partition_epoch: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.isr = isr
        self.leader_recovery_state = leader_recovery_state
        self.partition_epoch = partition_epoch


class TopicData(Struct):
    __slots__ = ("topic_id", "partitions")
    FIELDS = (
        ("topic_id", "uuid", (2, 3), None, None, None),
        ("partitions", "[]PartitionData", (2, 3), None, None, None),
    )

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[PartitionData] = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = partitions


class AlterPartitionResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "topics")
    API_KEY = 56
    VERSIONS = (2, 3)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (2, 3), None, None, None),
        ("error_code", "int16", (2, 3), None, None, None),
        ("topics", "[]TopicData", (2, 3), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        topics: Sequence[TopicData] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.topics = topics
