"""DescribeTopicPartitionsRequest (key 75), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class TopicRequest(Struct):
    __slots__ = ("name",)
    FIELDS = (
        ("name", "string", (0, 0), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
    ) -> None:
        self.name = name


class Cursor(Struct):
    __slots__ = ("topic_name", "partition_index")
    FIELDS = (
        ("topic_name", "string", (0, 0), None, None, None),
        ("partition_index", "int32", (0, 0), None, None, None),
    )

    def __init__(
        self,
        topic_name: str = "",
        partition_index: int = 0,
    ) -> None:
        self.topic_name = topic_name
        self.partition_index = partition_index


class DescribeTopicPartitionsRequest(Message):
    __slots__ = ("topics", "response_partition_limit", "cursor")
    API_KEY = 75
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("topics", "[]TopicRequest", (0, 0), None, None, None),
        ("response_partition_limit", "int32", (0, 0), None, None, None),
        ("cursor", "Cursor", (0, 0), (0, 0), None, None),
    )

    def __init__(
        self,
        topics: Sequence[TopicRequest] = (),
        response_partition_limit: int = 2000,
        cursor: Cursor | None = None,
    ) -> None:
        self.topics = topics
        self.response_partition_limit = response_partition_limit
        self.cursor = cursor
