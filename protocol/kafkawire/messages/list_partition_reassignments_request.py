"""ListPartitionReassignmentsRequest (key 46), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class ListPartitionReassignmentsTopics(Struct):
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


class ListPartitionReassignmentsRequest(Message):
    __slots__ = ("timeout_ms", "topics")
    API_KEY = 46
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("timeout_ms", "int32", (0, 0), None, None, None),
        ("topics", "[]ListPartitionReassignmentsTopics", (0, 0), (0, 0), None, None),
    )

    def __init__(
        self,
        timeout_ms: int = 60000,
        topics: Sequence[ListPartitionReassignmentsTopics] | None = None,
    ) -> None:
        self.timeout_ms = timeout_ms
        self.topics = topics
