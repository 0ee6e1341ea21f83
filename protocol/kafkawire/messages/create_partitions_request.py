"""CreatePartitionsRequest (key 37), versions 0-3. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class CreatePartitionsAssignment(Struct):
    __slots__ = ("broker_ids",)
    FIELDS = (
        ("broker_ids", "[]int32", (0, 3), None, None, None),
    )

    def __init__(
        self,
        broker_ids: Sequence[int] = (),
    ) -> None:
        self.broker_ids = broker_ids


class CreatePartitionsTopic(Struct):
    __slots__ = ("name", "count", "assignments")
    FIELDS = (
        ("name", "string", (0, 3), None, None, None),
        ("count", "int32", (0, 3), None, None, None),
        ("assignments", "[]CreatePartitionsAssignment", (0, 3), (0, 3), None, None),
    )

    def __init__(
        self,
        name: str = "",
        count: int = 0,
        assignments: Sequence[CreatePartitionsAssignment] | None = (),
    ) -> None:
        self.name = name
        self.count = count
        self.assignments = assignments


class CreatePartitionsRequest(Message):
    __slots__ = ("topics", "timeout_ms", "validate_only")
    API_KEY = 37
    VERSIONS = (0, 3)
    FLEXIBLE = (2, 32767)
    FIELDS = (
        ("topics", "[]CreatePartitionsTopic", (0, 3), None, None, None),
        ("timeout_ms", "int32", (0, 3), None, None, None),
        ("validate_only", "bool", (0, 3), None, None, None),
    )

    def __init__(
        self,
        topics: Sequence[CreatePartitionsTopic] = (),
        timeout_ms: int = 0,
        validate_only: bool = False,
    ) -> None:
        self.topics = topics
        self.timeout_ms = timeout_ms
        self.validate_only = validate_only
