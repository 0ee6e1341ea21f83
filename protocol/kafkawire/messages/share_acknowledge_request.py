"""ShareAcknowledgeRequest (key 79), versions 1-2. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class AcknowledgementBatch(Struct):
    __slots__ = ("first_offset", "last_offset", "acknowledge_types")
    FIELDS = (
        ("first_offset", "int64", (1, 2), None, None, None),
        ("last_offset", "int64", (1, 2), None, None, None),
        ("acknowledge_types", "[]int8", (1, 2), None, None, None),
    )

    def __init__(
        self,
        first_offset: int = 0,
        last_offset: int = 0,
        acknowledge_types: Sequence[int] = (),
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.acknowledge_types = acknowledge_types


class AcknowledgePartition(Struct):
    __slots__ = ("partition_index", "acknowledgement_batches")
    FIELDS = (
        ("partition_index", "int32", (1, 2), None, None, None),
        ("acknowledgement_batches", "[]AcknowledgementBatch", (1, 2), None, None, None),
    )

    def __init__(
        self,
        partition_index: int = 0,
        acknowledgement_batches: Sequence[AcknowledgementBatch] = (),
    ) -> None:
        self.partition_index = partition_index
        self.acknowledgement_batches = acknowledgement_batches


class AcknowledgeTopic(Struct):
    __slots__ = ("topic_id", "partitions")
    FIELDS = (
        ("topic_id", "uuid", (1, 2), None, None, None),
        ("partitions", "[]AcknowledgePartition", (1, 2), None, None, None),
    )

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[AcknowledgePartition] = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = partitions


class ShareAcknowledgeRequest(Message):
    __slots__ = ("group_id", "member_id", "share_session_epoch", "is_renew_ack", "topics")
    API_KEY = 79
    VERSIONS = (1, 2)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("group_id", "string", (1, 2), (1, 2), None, None),
        ("member_id", "string", (1, 2), (1, 2), None, None),
        ("share_session_epoch", "int32", (1, 2), None, None, None),
        ("is_renew_ack", "bool", (2, 2), None, None, None),
        ("topics", "[]AcknowledgeTopic", (1, 2), None, None, None),
    )

    def __init__(
        self,
        group_id: str | None = None,
        member_id: str | None = "",
        share_session_epoch: int = 0,
        is_renew_ack: bool = False,
        topics: Sequence[AcknowledgeTopic] = (),
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.share_session_epoch = share_session_epoch
        self.is_renew_ack = is_renew_ack
        self.topics = topics
