"""ListPartitionReassignmentsResponse (key 46), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class OngoingPartitionReassignment(Struct):
    __slots__ = ("partition_index", "replicas", "adding_replicas", "removing_replicas")
    FIELDS = (
        ("partition_index", "int32", (0, 0), None, None, None),
        ("replicas", "[]int32", (0, 0), None, None, None),
        ("adding_replicas", "[]int32", (0, 0), None, None, None),
        ("removing_replicas", "[]int32", (0, 0), None, None, None),
    )

    def __init__(
        self,
        partition_index: int = 0,
        replicas: Sequence[int] = (),
        adding_replicas: Sequence[int] = (),
        removing_replicas: Sequence[int] = (),
    ) -> None:
        self.partition_index = partition_index
        self.replicas = replicas
        self.adding_replicas = adding_replicas
        self.removing_replicas = removing_replicas


class OngoingTopicReassignment(Struct):
    __slots__ = ("name", "partitions")
    FIELDS = (
        ("name", "string", (0, 0), None, None, None),
        ("partitions", "[]OngoingPartitionReassignment", (0, 0), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[OngoingPartitionReassignment] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class ListPartitionReassignmentsResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "error_message", "topics")
    API_KEY = 46
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (0, 0), None, None, None),
        ("error_code", "int16", (0, 0), None, None, None),
        ("error_message", "string", (0, 0), (0, 0), None, None),
        ("topics", "[]OngoingTopicReassignment", (0, 0), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        topics: Sequence[OngoingTopicReassignment] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.topics = topics
