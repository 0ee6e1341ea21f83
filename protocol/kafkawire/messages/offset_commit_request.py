"""OffsetCommitRequest (key 8), versions 2-10. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class OffsetCommitRequestPartition(Struct):
    __slots__ = ("partition_index", "committed_offset", "committed_leader_epoch", "committed_metadata")
    FIELDS = (
        ("partition_index", "int32", (2, 10), None, None, None),
        ("committed_offset", "int64", (2, 10), None, None, None),
        ("committed_leader_epoch", "int32", (6, 10), None, None, None),
        ("committed_metadata", "string", (2, 10), (2, 10), None, None),
    )

    def __init__(
        self,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        committed_metadata: str | None = "",
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.committed_metadata = committed_metadata


class OffsetCommitRequestTopic(Struct):
    __slots__ = ("name", "topic_id", "partitions")
    FIELDS = (
        ("name", "string", (2, 9), None, None, None),
        ("topic_id", "uuid", (10, 10), None, None, None),
        ("partitions", "[]OffsetCommitRequestPartition", (2, 10), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[OffsetCommitRequestPartition] = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions = partitions


class OffsetCommitRequest(Message):
    __slots__ = ("group_id", "generation_id_or_member_epoch", "member_id", "group_instance_id", "retention_time_ms", "topics")
    API_KEY = 8
    VERSIONS = (2, 10)
    FLEXIBLE = (8, 32767)
    FIELDS = (
        ("group_id", "string", (2, 10), None, None, None),
        ("generation_id_or_member_epoch", "int32", (2, 10), None, None, None),
        ("member_id", "string", (2, 10), None, None, None),
        ("group_instance_id", "string", (7, 10), (7, 10), None, None),
        ("retention_time_ms", "int64", (2, 4), None, None, None),
        ("topics", "[]OffsetCommitRequestTopic", (2, 10), None, None, None),
    )

    def __init__(
        self,
        group_id: str = "",
        generation_id_or_member_epoch: int = -1,
        member_id: str = "",
        group_instance_id: str | None = None,
        retention_time_ms: int = -1,
        topics: Sequence[OffsetCommitRequestTopic] = (),
    ) -> None:
        self.group_id = group_id
        self.generation_id_or_member_epoch = generation_id_or_member_epoch
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.retention_time_ms = retention_time_ms
        self.topics = topics
