"""AlterPartitionRequest (key 56), versions 2-3. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class BrokerState(Struct):
    __slots__ = ("broker_id", "broker_epoch")
    FIELDS = (
        ("broker_id", "int32", (3, 3), None, None, None),
        ("broker_epoch", "int64", (3, 3), None, None, None),
    )

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = -1,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch


class PartitionData(Struct):
    __slots__ = ("partition_index", "leader_epoch", "new_isr", "new_isr_with_epochs", "leader_recovery_state", "partition_epoch")
    FIELDS = (
        ("partition_index", "int32", (2, 3), None, None, None),
        ("leader_epoch", "int32", (2, 3), None, None, None),
        ("new_isr", "[]int32", (2, 2), None, None, None),
        ("new_isr_with_epochs", "[]BrokerState", (3, 3), None, None, None),
        ("leader_recovery_state", "int8", (2, 3), None, None, None),
        ("partition_epoch", "int32", (2, 3), None, None, None),
    )

    def __init__(
        self,
        partition_index: int = 0,
        leader_epoch: int = 0,
        new_isr: Sequence[int] = (),
        new_isr_with_epochs: Sequence[BrokerState] = (),
        leader_recovery_state: int = 0,
        partition_epoch: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.leader_epoch = leader_epoch
        self.new_isr = new_isr
        self.new_isr_with_epochs = new_isr_with_epochs
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


class AlterPartitionRequest(Message):
    __slots__ = ("broker_id", "broker_epoch", "topics")
    API_KEY = 56
    VERSIONS = (2, 3)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("broker_id", "int32", (2, 3), None, None, None),
        ("broker_epoch", "int64", (2, 3), None, None, None),
        ("topics", "[]TopicData", (2, 3), None, None, None),
    )

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = -1,
        topics: Sequence[TopicData] = (),
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.topics = topics
