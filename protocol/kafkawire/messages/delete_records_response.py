"""DeleteRecordsResponse (key 21), versions 0-2. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Records, Struct


class DeleteRecordsPartitionResult(Struct):
    __slots__ = ("partition_index", "low_watermark", "error_code")
    FIELDS = (
        ("partition_index", "int32", (0, 2), None, None, None),
        ("low_watermark", "int64", (0, 2), None, None, None),
        ("error_code", "int16", (0, 2), None, None, None),
    )

    def __init__(
        self,
        partition_index: int = 0,
        low_watermark: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.low_watermark = low_watermark
        self.error_code = error_code


class DeleteRecordsTopicResult(Struct):
    __slots__ = ("name", "partitions")
    FIELDS = (
        ("name", "string", (0, 2), None, None, None),
        ("partitions", "[]DeleteRecordsPartitionResult", (0, 2), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[DeleteRecordsPartitionResult] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class DeleteRecordsResponse(Message):
    __slots__ = ("throttle_time_ms", "topics")
    API_KEY = 21
    VERSIONS = (0, 2)
    FLEXIBLE = (2, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (0, 2), None, None, None),
        ("topics", "[]DeleteRecordsTopicResult", (0, 2), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: Sequence[DeleteRecordsTopicResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = topics
