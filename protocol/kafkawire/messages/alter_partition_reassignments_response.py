"""AlterPartitionReassignmentsResponse (key 45), versions 0-1. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class ReassignablePartitionResponse(Struct):
    __slots__ = ("partition_index", "error_code", "error_message")
    FIELDS = (
        ("partition_index", "int32", (0, 1), None, None, None),
        ("error_code", "int16", (0, 1), None, None, None),
        ("error_message", "string", (0, 1), (0, 1), None, None),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message


class ReassignableTopicResponse(Struct):
    __slots__ = ("name", "partitions")
    FIELDS = (
        ("name", "string", (0, 1), None, None, None),
        ("partitions", "[]ReassignablePartitionResponse", (0, 1), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[ReassignablePartitionResponse] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class AlterPartitionReassignmentsResponse(Message):
    __slots__ = ("throttle_time_ms", "allow_replication_factor_change", "error_code", "error_message", "responses")
    API_KEY = 45
    VERSIONS = (0, 1)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (0, 1), None, None, None),
        ("allow_replication_factor_change", "bool", (1, 1), None, None, None),
        ("error_code", "int16", (0, 1), None, None, None),
        ("error_message", "string", (0, 1), (0, 1), None, None),
        ("responses", "[]ReassignableTopicResponse", (0, 1), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        allow_replication_factor_change: bool = True,
        error_code: int = 0,
        error_message: str | None = "",
        responses: Sequence[ReassignableTopicResponse] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.allow_replication_factor_change = allow_replication_factor_change
        self.error_code = error_code
        self.error_message = error_message
        self.responses = responses
