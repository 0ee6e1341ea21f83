"""DescribeShareGroupOffsetsResponse (key 90), versions 0-1. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class DescribeShareGroupOffsetsResponsePartition(Struct):
    __slots__ = ("partition_index", "start_offset", "leader_epoch", "lag", "error_code", "error_message")
    FIELDS = (
        ("partition_index", "int32", (0, 1), None, None, None),
        ("start_offset", "int64", (0, 1), None, None, None),
        ("leader_epoch", "int32", (0, 1), None, None, None),
        ("lag", "int64", (1, 1), None, None, None),
        ("error_code", "int16", (0, 1), None, None, None),
        ("error_message", "string", (0, 1), (0, 1), None, None),
    )

    def __init__(
        self,
        partition_index: int = 0,
        start_offset: int = 0,
        leader_epoch: int = 0,
        lag: int = -1,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.start_offset = start_offset
        self.leader_epoch = leader_epoch
        self.lag = lag
        self.error_code = error_code
        self.error_message = error_message


class DescribeShareGroupOffsetsResponseTopic(Struct):
    __slots__ = ("topic_name", "topic_id", "partitions")
    FIELDS = (
        ("topic_name", "string", (0, 1), None, None, None),
        ("topic_id", "uuid", (0, 1), None, None, None),
        ("partitions", "[]DescribeShareGroupOffsetsResponsePartition", (0, 1), None, None, None),
    )

    def __init__(
        self,
        topic_name: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[DescribeShareGroupOffsetsResponsePartition] = (),
    ) -> None:
        self.topic_name = topic_name
        self.topic_id = topic_id
        self.partitions = partitions


class DescribeShareGroupOffsetsResponseGroup(Struct):
    __slots__ = ("group_id", "topics", "error_code", "error_message")
    FIELDS = (
        ("group_id", "string", (0, 1), None, None, None),
        ("topics", "[]DescribeShareGroupOffsetsResponseTopic", (0, 1), None, None, None),
        ("error_code", "int16", (0, 1), None, None, None),
        ("error_message", "string", (0, 1), (0, 1), None, None),
    )

    def __init__(
        self,
        group_id: str = "",
        topics: Sequence[DescribeShareGroupOffsetsResponseTopic] = (),
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.group_id = group_id
        self.topics = topics
        self.error_code = error_code
        self.error_message = error_message


class DescribeShareGroupOffsetsResponse(Message):
    __slots__ = ("throttle_time_ms", "groups")
    API_KEY = 90
    VERSIONS = (0, 1)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (0, 1), None, None, None),
        ("groups", "[]DescribeShareGroupOffsetsResponseGroup", (0, 1), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        groups: Sequence[DescribeShareGroupOffsetsResponseGroup] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups = groups
