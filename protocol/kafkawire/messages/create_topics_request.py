"""CreateTopicsRequest (key 19), versions 2-7. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class CreatableReplicaAssignment(Struct):
    __slots__ = ("partition_index", "broker_ids")
    FIELDS = (
        ("partition_index", "int32", (2, 7), None, None, None),
        ("broker_ids", "[]int32", (2, 7), None, None, None),
    )

    def __init__(
        self,
        partition_index: int = 0,
        broker_ids: Sequence[int] = (),
    ) -> None:
        self.partition_index = partition_index
        self.broker_ids = broker_ids


class CreatableTopicConfig(Struct):
    __slots__ = ("name", "value")
    FIELDS = (
        ("name", "string", (2, 7), None, None, None),
        ("value", "string", (2, 7), (2, 7), None, None),
    )

    def __init__(
        self,
        name: str = "",
        value: str | None = "",
    ) -> None:
        self.name = name
        self.value = value


class CreatableTopic(Struct):
    __slots__ = ("name", "num_partitions", "replication_factor", "assignments", "configs")
    FIELDS = (
        ("name", "string", (2, 7), None, None, None),
        ("num_partitions", "int32", (2, 7), None, None, None),
        ("replication_factor", "int16", (2, 7), None, None, None),
        ("assignments", "[]CreatableReplicaAssignment", (2, 7), None, None, None),
        ("configs", "[]CreatableTopicConfig", (2, 7), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        num_partitions: int = 0,
        replication_factor: int = 0,
        assignments: Sequence[CreatableReplicaAssignment] = (),
        configs: Sequence[CreatableTopicConfig] = (),
    ) -> None:
        self.name = name
        self.num_partitions = num_partitions
        self.replication_factor = replication_factor
        self.assignments = assignments
        self.configs = configs


class CreateTopicsRequest(Message):
    __slots__ = ("topics", "timeout_ms", "validate_only")
    API_KEY = 19
    VERSIONS = (2, 7)
    FLEXIBLE = (5, 32767)
    FIELDS = (
        ("topics", "[]CreatableTopic", (2, 7), None, None, None),
        ("timeout_ms", "int32", (2, 7), None, None, None),
        ("validate_only", "bool", (2, 7), None, None, None),
    )

    def __init__(
        self,
        topics: Sequence[CreatableTopic] = (),
        timeout_ms: int = 60000,
        validate_only: bool = False,
    ) -> None:
        self.topics = topics
        self.timeout_ms = timeout_ms
        self.validate_only = validate_only
