"""TxnOffsetCommitResponse (key 28), versions 0-6. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class TxnOffsetCommitResponsePartition(Struct):
    __slots__ = ("partition_index", "error_code")
    FIELDS = (
        ("partition_index", "int32", (0, 6), None, None, None),
        ("error_code", "int16", (0, 6), None, None, None),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code


class TxnOffsetCommitResponseTopic(Struct):
    __slots__ = ("name", "topic_id", "partitions")
    FIELDS = (
        ("name", "string", (0, 5), None, None, None),
        ("topic_id", "uuid", (6, 6), None, None, None),
        ("partitions", "[]TxnOffsetCommitResponsePartition", (0, 6), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[TxnOffsetCommitResponsePartition] = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions = partitions


class TxnOffsetCommitResponse(Message):
    __slots__ = ("throttle_time_ms", "topics")
    API_KEY = 28
    VERSIONS = (0, 6)
    FLEXIBLE = (3, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (0, 6), None, None, None),
        ("topics", "[]TxnOffsetCommitResponseTopic", (0, 6), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: Sequence[TxnOffsetCommitResponseTopic] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = topics
