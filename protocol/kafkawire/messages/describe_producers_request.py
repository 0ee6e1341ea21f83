"""DescribeProducersRequest (key 61), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class TopicRequest(Struct):
    __slots__ = ("name", "partition_indexes")
    FIELDS = (
        ("name", "string", (0, 0), None, None, None),
        ("partition_indexes", "[]int32", (0, 0), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        partition_indexes: Sequence[int] = (),
    ) -> None:
        self.name = name
        self.partition_indexes = partition_indexes


class DescribeProducersRequest(Message):
    __slots__ = ("topics",)
    API_KEY = 61
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("topics", "[]TopicRequest", (0, 0), None, None, None),
    )

    def __init__(
        self,
        topics: Sequence[TopicRequest] = (),
    ) -> None:
        self.topics = topics
