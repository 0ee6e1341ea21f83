"""DescribeLogDirsRequest (key 35), versions 1-5. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class DescribableLogDirTopic(Struct):
    __slots__ = ("topic", "partitions")
    FIELDS = (
        ("topic", "string", (1, 5), None, None, None),
        ("partitions", "[]int32", (1, 5), None, None, None),
    )

    def __init__(
        self,
        topic: str = "",
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic = topic
        self.partitions = partitions


class DescribeLogDirsRequest(Message):
    __slots__ = ("topics",)
    API_KEY = 35
    VERSIONS = (1, 5)
    FLEXIBLE = (2, 32767)
    FIELDS = (
        ("topics", "[]DescribableLogDirTopic", (1, 5), (1, 5), None, None),
    )

    def __init__(
        self,
        topics: Sequence[DescribableLogDirTopic] | None = (),
    ) -> None:
        self.topics = topics
