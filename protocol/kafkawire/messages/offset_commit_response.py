"""OffsetCommitResponse (key 8), versions 2-10. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class OffsetCommitResponsePartition(Struct):
    __slots__ = ("partition_index", "error_code")
    FIELDS = (
        ("partition_index", "int32", (2, 10), None, None, None),
        ("error_code", "int16", (2, 10), None, None, None),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code


class OffsetCommitResponseTopic(Struct):
    __slots__ = ("name", "topic_id", "partitions")
    FIELDS = (
        ("name", "string", (2, 9), None, None, None),
        ("topic_id", "uuid", (10, 10), None, None, None),
        ("partitions", "[]OffsetCommitResponsePartition", (2, 10), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[OffsetCommitResponsePartition] = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions = partitions


class OffsetCommitResponse(Message):
    __slots__ = ("throttle_time_ms", "topics")
    API_KEY = 8
    VERSIONS = (2, 10)
    FLEXIBLE = (8, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (3, 10), None, None, None),
        ("topics", "[]OffsetCommitResponseTopic", (2, 10), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: Sequence[OffsetCommitResponseTopic] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = topics
