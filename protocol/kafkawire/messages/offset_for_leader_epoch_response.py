"""OffsetForLeaderEpochResponse (key 23), versions 2-4. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class EpochEndOffset(Struct):
    __slots__ = ("error_code", "partition", "leader_epoch", "end_offset")
    FIELDS = (
        ("error_code", "int16", (2, 4), None, None, None),
        ("partition", "int32", (2, 4), None, None, None),
        ("leader_epoch", "int32", (2, 4), None, None, None),
        ("end_offset", "int64", (2, 4), None, None, None),
    )

    def __init__(
        self,
        error_code: int = 0,
        partition: int = 0,
        leader_epoch: int = -1,
        end_offset: int = -1,
    ) -> None:
        self.error_code = error_code
        self.partition = partition
        self.leader_epoch = leader_epoch
        self.end_offset = end_offset


class OffsetForLeaderTopicResult(Struct):
    __slots__ = ("topic", "partitions")
    FIELDS = (
        ("topic", "string", (2, 4), None, None, None),
        ("partitions", "[]EpochEndOffset", (2, 4), None, None, None),
    )

    def __init__(
        self,
        topic: str = "",
        partitions: Sequence[EpochEndOffset] = (),
    ) -> None:
        self.topic = topic
        self.partitions = partitions


class OffsetForLeaderEpochResponse(Message):
    __slots__ = ("throttle_time_ms", "topics")
    API_KEY = 23
    VERSIONS = (2, 4)
    FLEXIBLE = (4, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (2, 4), None, None, None),
        ("topics", "[]OffsetForLeaderTopicResult", (2, 4), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: Sequence[OffsetForLeaderTopicResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = topics
