"""DescribeProducersResponse (key 61), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class ProducerState(Struct):
    __slots__ = ("producer_id", "producer_epoch", "last_sequence", "last_timestamp", "coordinator_epoch", "current_txn_start_offset")
    FIELDS = (
        ("producer_id", "int64", (0, 0), None, None, None),
        ("producer_epoch", "int32", (0, 0), None, None, None),
        ("last_sequence", "int32", (0, 0), None, None, None),
        ("last_timestamp", "int64", (0, 0), None, None, None),
        ("coordinator_epoch", "int32", (0, 0), None, None, None),
        ("current_txn_start_offset", "int64", (0, 0), None, None, None),
    )

    def __init__(
        self,
        producer_id: int = 0,
        producer_epoch: int = 0,
        last_sequence: int = -1,
        last_timestamp: int = -1,
        coordinator_epoch: int = 0,
        current_txn_start_offset: int = -1,
    ) -> None:
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.last_sequence = last_sequence
        self.last_timestamp = last_timestamp
        self.coordinator_epoch = coordinator_epoch
        self.current_txn_start_offset = current_txn_start_offset


class PartitionResponse(Struct):
    __slots__ = ("partition_index", "error_code", "error_message", "active_producers")
    FIELDS = (
        ("partition_index", "int32", (0, 0), None, None, None),
        ("error_code", "int16", (0, 0), None, None, None),
        ("error_message", "string", (0, 0), (0, 0), None, None),
        ("active_producers", "[]ProducerState", (0, 0), None, None, None),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        active_producers: Sequence[ProducerState] = (),
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.active_producers = active_producers


class TopicResponse(Struct):
    __slots__ = ("name", "partitions")
    FIELDS = (
        ("name", "string", (0, 0), None, None, None),
        ("partitions", "[]PartitionResponse", (0, 0), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[PartitionResponse] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class DescribeProducersResponse(Message):
    __slots__ = ("throttle_time_ms", "topics")
    API_KEY = 61
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (0, 0), None, None, None),
        ("topics", "[]TopicResponse", (0, 0), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: Sequence[TopicResponse] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = topics
