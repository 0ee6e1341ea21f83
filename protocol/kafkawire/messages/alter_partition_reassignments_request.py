"""AlterPartitionReassignmentsRequest (key 45), versions 0-1. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class ReassignablePartition(Struct):
    __slots__ = ("partition_index", "replicas")
    FIELDS = (
        ("partition_index", "int32", (0, 1), None, None, None),
        ("replicas", "[]int32", (0, 1), (0, 1), None, None),
    )

    def __init__(
        self,
        partition_index: int = 0,
        replicas: Sequence[int] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.replicas = replicas


class ReassignableTopic(Struct):
    __slots__ = ("name", "partitions")
    FIELDS = (
        ("name", "string", (0, 1), None, None, None),
        ("partitions", "[]ReassignablePartition", (0, 1), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[ReassignablePartition] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class AlterPartitionReassignmentsRequest(Message):
    __slots__ = ("timeout_ms", "allow_replication_factor_change", "topics")
    API_KEY = 45
    VERSIONS = (0, 1)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("timeout_ms", "int32", (0, 1), None, None, None),
        ("allow_replication_factor_change", "bool", (1, 1), None, None, None),
        ("topics", "[]ReassignableTopic", (0, 1), None, None, None),
    )

    def __init__(
        self,
        timeout_ms: int = 60000,
        allow_replication_factor_change: bool = True,
        topics: Sequence[ReassignableTopic] = (),
    ) -> None:
        self.timeout_ms = timeout_ms
        self.allow_replication_factor_change = allow_replication_factor_change
        self.topics = topics
