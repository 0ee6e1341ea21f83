"""ShareGroupTargetAssignmentMemberValue (key 13), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class TopicPartition(Struct):
    __slots__ = ("topic_id", "partitions")
    FIELDS = (
        ("topic_id", "uuid", (0, 0), None, None, None),
        ("partitions", "[]int32", (0, 0), None, None, None),
    )

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = partitions


class ShareGroupTargetAssignmentMemberValue(Message):
    __slots__ = ("topic_partitions",)
    API_KEY = 13
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("topic_partitions", "[]TopicPartition", (0, 0), None, None, None),
    )

    def __init__(
        self,
        topic_partitions: Sequence[TopicPartition] = (),
    ) -> None:
        self.topic_partitions = topic_partitions
