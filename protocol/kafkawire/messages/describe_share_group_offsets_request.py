"""DescribeShareGroupOffsetsRequest (key 90), versions 0-1. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class DescribeShareGroupOffsetsRequestTopic(Struct):
    __slots__ = ("topic_name", "partitions")
    FIELDS = (
        ("topic_name", "string", (0, 1), None, None, None),
        ("partitions", "[]int32", (0, 1), None, None, None),
    )

    def __init__(
        self,
        topic_name: str = "",
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic_name = topic_name
        self.partitions = partitions


class DescribeShareGroupOffsetsRequestGroup(Struct):
    __slots__ = ("group_id", "topics")
    FIELDS = (
        ("group_id", "string", (0, 1), None, None, None),
        ("topics", "[]DescribeShareGroupOffsetsRequestTopic", (0, 1), (0, 1), None, None),
    )

    def __init__(
        self,
        group_id: str = "",
        topics: Sequence[DescribeShareGroupOffsetsRequestTopic] | None = (),
    ) -> None:
        self.group_id = group_id
        self.topics = topics


class DescribeShareGroupOffsetsRequest(Message):
    __slots__ = ("groups",)
    API_KEY = 90
    VERSIONS = (0, 1)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("groups", "[]DescribeShareGroupOffsetsRequestGroup", (0, 1), None, None, None),
    )

    def __init__(
        self,
        groups: Sequence[DescribeShareGroupOffsetsRequestGroup] = (),
    ) -> None:
        self.groups = groups
