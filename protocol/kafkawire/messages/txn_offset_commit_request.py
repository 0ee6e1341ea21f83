"""TxnOffsetCommitRequest (key 28), versions 0-6. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class TxnOffsetCommitRequestPartition(Struct):
    __slots__ = ("partition_index", "committed_offset", "committed_leader_epoch", "committed_metadata")
    FIELDS = (
        ("partition_index", "int32", (0, 6), None, None, None),
        ("committed_offset", "int64", (0, 6), None, None, None),
        ("committed_leader_epoch", "int32", (2, 6), None, None, None),
        ("committed_metadata", "string", (0, 6), (0, 6), None, None),
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


class TxnOffsetCommitRequestTopic(Struct):
    __slots__ = ("name", "topic_id", "partitions")
    FIELDS = (
        ("name", "string", (0, 5), None, None, None),
        ("topic_id", "uuid", (6, 6), None, None, None),
        ("partitions", "[]TxnOffsetCommitRequestPartition", (0, 6), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[TxnOffsetCommitRequestPartition] = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions = partitions


class TxnOffsetCommitRequest(Message):
    __slots__ = ("transactional_id", "group_id", "producer_id", "producer_epoch", "generation_id_or_member_epoch", "member_id", "group_instance_id", "topics")
    API_KEY = 28
    VERSIONS = (0, 6)
    FLEXIBLE = (3, 32767)
    FIELDS = (
        ("transactional_id", "string", (0, 6), None, None, None),
        ("group_id", "string", (0, 6), None, None, None),
        ("producer_id", "int64", (0, 6), None, None, None),
        ("producer_epoch", "int16", (0, 6), None, None, None),
        ("generation_id_or_member_epoch", "int32", (3, 6), None, None, None),
        ("member_id", "string", (3, 6), None, None, None),
        ("group_instance_id", "string", (3, 6), (3, 6), None, None),
        ("topics", "[]TxnOffsetCommitRequestTopic", (0, 6), None, None, None),
    )

    def __init__(
        self,
        transactional_id: str = "",
        group_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        generation_id_or_member_epoch: int = -1,
        member_id: str = "",
        group_instance_id: str | None = None,
        topics: Sequence[TxnOffsetCommitRequestTopic] = (),
    ) -> None:
        self.transactional_id = transactional_id
        self.group_id = group_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.generation_id_or_member_epoch = generation_id_or_member_epoch
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.topics = topics
