"""DescribeTransactionsResponse (key 65), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class TopicData(Struct):
    __slots__ = ("topic", "partitions")
    FIELDS = (
        ("topic", "string", (0, 0), None, None, None),
        ("partitions", "[]int32", (0, 0), None, None, None),
    )

    def __init__(
        self,
        topic: str = "",
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic = topic
        self.partitions = partitions


class TransactionState(Struct):
    __slots__ = ("error_code", "transactional_id", "transaction_state", "transaction_timeout_ms", "transaction_start_time_ms", "producer_id", "producer_epoch", "topics")
    FIELDS = (
        ("error_code", "int16", (0, 0), None, None, None),
        ("transactional_id", "string", (0, 0), None, None, None),
        ("transaction_state", "string", (0, 0), None, None, None),
        ("transaction_timeout_ms", "int32", (0, 0), None, None, None),
        ("transaction_start_time_ms", "int64", (0, 0), None, None, None),
        ("producer_id", "int64", (0, 0), None, None, None),
        ("producer_epoch", "int16", (0, 0), None, None, None),
        ("topics", "[]TopicData", (0, 0), None, None, None),
    )

    def __init__(
        self,
        error_code: int = 0,
        transactional_id: str = "",
        transaction_state: str = "",
        transaction_timeout_ms: int = 0,
        transaction_start_time_ms: int = 0,
        producer_id: int = 0,
        producer_epoch: int = 0,
        topics: Sequence[TopicData] = (),
    ) -> None:
        self.error_code = error_code
        self.transactional_id = transactional_id
        self.transaction_state = transaction_state
        self.transaction_timeout_ms = transaction_timeout_ms
        self.transaction_start_time_ms = transaction_start_time_ms
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.topics = topics


class DescribeTransactionsResponse(Message):
    __slots__ = ("throttle_time_ms", "transaction_states")
    API_KEY = 65
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (0, 0), None, None, None),
        ("transaction_states", "[]TransactionState", (0, 0), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        transaction_states: Sequence[TransactionState] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.transaction_states = transaction_states
