"""TransactionLogValue (key 0), versions 0-1. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class PartitionsSchema(Struct):
    __slots__ = ("topic", "partition_ids")
    FIELDS = (
        ("topic", "string", (0, 1), None, None, None),
        ("partition_ids", "[]int32", (0, 1), None, None, None),
    )

    def __init__(
        self,
        topic: str = "",
        partition_ids: Sequence[int] = (),
    ) -> None:
        self.topic = topic
        self.partition_ids = partition_ids


class TransactionLogValue(Message):
    __slots__ = ("producer_id", "previous_producer_id", "next_producer_id", "producer_epoch", "next_producer_epoch", "transaction_timeout_ms", "transaction_status", "transaction_partitions", "transaction_last_update_timestamp_ms", "transaction_start_timestamp_ms", "client_transaction_version")
    API_KEY = 0
    VERSIONS = (0, 1)
    FLEXIBLE = (1, 32767)
    FIELDS = (
        ("producer_id", "int64", (0, 1), None, None, None),
        ("previous_producer_id", "int64", (1, 1), None, 0, (1, 1)),
        ("next_producer_id", "int64", (1, 1), None, 1, (1, 1)),
        ("producer_epoch", "int16", (0, 1), None, None, None),
        ("next_producer_epoch", "int16", (1, 1), None, 3, (1, 1)),
        ("transaction_timeout_ms", "int32", (0, 1), None, None, None),
        ("transaction_status", "int8", (0, 1), None, None, None),
        ("transaction_partitions", "[]PartitionsSchema", (0, 1), (0, 1), None, None),
        ("transaction_last_update_timestamp_ms", "int64", (0, 1), None, None, None),
        ("transaction_start_timestamp_ms", "int64", (0, 1), None, None, None),
        ("client_transaction_version", "int16", (1, 1), None, 2, (1, 1)),
    )

    def __init__(
        self,
        producer_id: int = 0,
        previous_producer_id: int = -1,
        next_producer_id: int = -1,
        producer_epoch: int = 0,
        next_producer_epoch: int = -1,
        transaction_timeout_ms: int = 0,
        transaction_status: int = 0,
        transaction_partitions: Sequence[PartitionsSchema] | None = (),
        transaction_last_update_timestamp_ms: int = 0,
        transaction_start_timestamp_ms: int = 0,
        client_transaction_version: int = 0,
    ) -> None:
        self.producer_id = producer_id
        self.previous_producer_id = previous_producer_id
        self.next_producer_id = next_producer_id
        self.producer_epoch = producer_epoch
        self.next_producer_epoch = next_producer_epoch
        self.transaction_timeout_ms = transaction_timeout_ms
        self.transaction_status = transaction_status
        self.transaction_partitions = transaction_partitions
        self.transaction_last_update_timestamp_ms = transaction_last_update_timestamp_ms
        self.transaction_start_timestamp_ms = transaction_start_timestamp_ms
        self.client_transaction_version = client_transaction_version
