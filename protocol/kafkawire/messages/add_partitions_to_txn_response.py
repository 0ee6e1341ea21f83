"""AddPartitionsToTxnResponse (key 24), versions 0-5. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class AddPartitionsToTxnPartitionResult(Struct):
    __slots__ = ("partition_index", "partition_error_code")
    FIELDS = (
        ("partition_index", "int32", (0, 5), None, None, None),
        ("partition_error_code", "int16", (0, 5), None, None, None),
    )

    def __init__(
        self,
        partition_index: int = 0,
        partition_error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.partition_error_code = partition_error_code


class AddPartitionsToTxnTopicResult(Struct):
    __slots__ = ("name", "results_by_partition")
    FIELDS = (
        ("name", "string", (0, 5), None, None, None),
        ("results_by_partition", "[]AddPartitionsToTxnPartitionResult", (0, 5), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        results_by_partition: Sequence[AddPartitionsToTxnPartitionResult] = (),
    ) -> None:
        self.name = name
        self.results_by_partition = results_by_partition


class AddPartitionsToTxnResult(Struct):
    __slots__ = ("transactional_id", "topic_results")
    FIELDS = (
        ("transactional_id", "string", (4, 5), None, None, None),
        ("topic_results", "[]AddPartitionsToTxnTopicResult", (4, 5), None, None, None),
    )

    def __init__(
        self,
        transactional_id: str = "",
        topic_results: Sequence[AddPartitionsToTxnTopicResult] = (),
    ) -> None:
        self.transactional_id = transactional_id
        self.topic_results = topic_results


class AddPartitionsToTxnResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "results_by_transaction", "results_by_topic_v3_and_below")
    API_KEY = 24
    VERSIONS = (0, 5)
    FLEXIBLE = (3, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (0, 5), None, None, None),
        ("error_code", "int16", (4, 5), None, None, None),
        ("results_by_transaction", "[]AddPartitionsToTxnResult", (4, 5), None, None, None),
        ("results_by_topic_v3_and_below", "[]AddPartitionsToTxnTopicResult", (0, 3), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        results_by_transaction: Sequence[AddPartitionsToTxnResult] = (),
        results_by_topic_v3_and_below: Sequence[AddPartitionsToTxnTopicResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.results_by_transaction = results_by_transaction
        self.results_by_topic_v3_and_below = results_by_topic_v3_and_below
