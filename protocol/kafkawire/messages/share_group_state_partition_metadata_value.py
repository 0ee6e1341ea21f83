"""ShareGroupStatePartitionMetadataValue (key 15), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class TopicPartitionsInfo(Struct):
    __slots__ = ("topic_id", "topic_name", "partitions")
    FIELDS = (
        ("topic_id", "uuid", (0, 0), None, None, None),
        ("topic_name", "string", (0, 0), None, None, None),
        ("partitions", "[]int32", (0, 0), None, None, None),
    )

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        topic_name: str = "",
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic_id = topic_id
        self.topic_name = topic_name
        self.partitions = partitions


class TopicInfo(Struct):
    __slots__ = ("topic_id", "topic_name")
    FIELDS = (
        ("topic_id", "uuid", (0, 0), None, None, None),
        ("topic_name", "string", (0, 0), None, None, None),
    )

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        topic_name: str = "",
    ) -> None:
        self.topic_id = topic_id
        self.topic_name = topic_name


class ShareGroupStatePartitionMetadataValue(Message):
    __slots__ = ("initializing_topics", "initialized_topics", "deleting_topics")
    API_KEY = 15
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("initializing_topics", "[]TopicPartitionsInfo", (0, 0), None, None, None),
        ("initialized_topics", "[]TopicPartitionsInfo", (0, 0), None, None, None),
        ("deleting_topics", "[]TopicInfo", (0, 0), None, None, None),
    )

    def __init__(
        self,
        initializing_topics: Sequence[TopicPartitionsInfo] = (),
        initialized_topics: Sequence[TopicPartitionsInfo] = (),
        deleting_topics: Sequence[TopicInfo] = (),
    ) -> None:
        self.initializing_topics = initializing_topics
        self.initialized_topics = initialized_topics
        self.deleting_topics = deleting_topics
