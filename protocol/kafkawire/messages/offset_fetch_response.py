"""OffsetFetchResponse (key 9), versions 1-10. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class OffsetFetchResponsePartition(Struct):
    __slots__ = ("partition_index", "committed_offset", "committed_leader_epoch", "metadata", "error_code")
    FIELDS = (
        ("partition_index", "int32", (1, 7), None, None, None),
        ("committed_offset", "int64", (1, 7), None, None, None),
        ("committed_leader_epoch", "int32", (5, 7), None, None, None),
        ("metadata", "string", (1, 7), (1, 7), None, None),
        ("error_code", "int16", (1, 7), None, None, None),
    )

    def __init__(
        self,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        metadata: str | None = "",
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.metadata = metadata
        self.error_code = error_code


class OffsetFetchResponseTopic(Struct):
    __slots__ = ("name", "partitions")
    FIELDS = (
        ("name", "string", (1, 7), None, None, None),
        ("partitions", "[]OffsetFetchResponsePartition", (1, 7), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[OffsetFetchResponsePartition] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class OffsetFetchResponsePartitions(Struct):
    __slots__ = ("partition_index", "committed_offset", "committed_leader_epoch", "metadata", "error_code")
    FIELDS = (
        ("partition_index", "int32", (8, 10), None, None, None),
        ("committed_offset", "int64", (8, 10), None, None, None),
        ("committed_leader_epoch", "int32", (8, 10), None, None, None),
        ("metadata", "string", (8, 10), (8, 10), None, None),
        ("error_code", "int16", (8, 10), None, None, None),
    )

    def __init__(
        self,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        metadata: str | None = "",
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.metadata = metadata
        self.error_code = error_code


class OffsetFetchResponseTopics(Struct):
    __slots__ = ("name", "topic_id", "partitions")
    FIELDS = (
        ("name", "string", (8, 9), None, None, None),
        ("topic_id", "uuid", (10, 10), None, None, None),
        ("partitions", "[]OffsetFetchResponsePartitions", (8, 10), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[OffsetFetchResponsePartitions] = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions = partitions


class OffsetFetchResponseGroup(Struct):
    __slots__ = ("group_id", "topics", "error_code")
    FIELDS = (
        ("group_id", "string", (8, 10), None, None, None),
        ("topics", "[]OffsetFetchResponseTopics", (8, 10), None, None, None),
        ("error_code", "int16", (8, 10), None, None, None),
    )

    def __init__(
        self,
        group_id: str = "",
        topics: Sequence[OffsetFetchResponseTopics] = (),
        error_code: int = 0,
    ) -> None:
        self.group_id = group_id
        self.topics = topics
        self.error_code = error_code


class OffsetFetchResponse(Message):
    __slots__ = ("throttle_time_ms", "topics", "error_code", "groups")
    API_KEY = 9
    VERSIONS = (1, 10)
    FLEXIBLE = (6, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (3, 10), None, None, None),
        ("topics", "[]OffsetFetchResponseTopic", (1, 7), None, None, None),
        ("error_code", "int16", (2, 7), None, None, None),
        ("groups", "[]OffsetFetchResponseGroup", (8, 10), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: Sequence[OffsetFetchResponseTopic] = (),
        error_code: int = 0,
        groups: Sequence[OffsetFetchResponseGroup] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = topics
        self.error_code = error_code
        self.groups = groups
