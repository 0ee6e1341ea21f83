"""OffsetDeleteResponse (key 47), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class OffsetDeleteResponsePartition(Struct):
    __slots__ = ("partition_index", "error_code")
    FIELDS = (
        ("partition_index", "int32", (0, 0), None, None, None),
        ("error_code", "int16", (0, 0), None, None, None),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code


class OffsetDeleteResponseTopic(Struct):
    __slots__ = ("name", "partitions")
    FIELDS = (
        ("name", "string", (0, 0), None, None, None),
        ("partitions", "[]OffsetDeleteResponsePartition", (0, 0), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[OffsetDeleteResponsePartition] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class OffsetDeleteResponse(Message):
    __slots__ = ("error_code", "throttle_time_ms", "topics")
    API_KEY = 47
    VERSIONS = (0, 0)
    FIELDS = (
        ("error_code", "int16", (0, 0), None, None, None),
        ("throttle_time_ms", "int32", (0, 0), None, None, None),
        ("topics", "[]OffsetDeleteResponseTopic", (0, 0), None, None, None),
    )

    def __init__(
        self,
        error_code: int = 0,
        throttle_time_ms: int = 0,
        topics: Sequence[OffsetDeleteResponseTopic] = (),
    ) -> None:
        self.error_code = error_code
        self.throttle_time_ms = throttle_time_ms
        self.topics = topics
