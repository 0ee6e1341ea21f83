"""ElectLeadersResponse (key 43), versions 0-2. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class PartitionResult(Struct):
    __slots__ = ("partition_id", "error_code", "error_message")
    FIELDS = (
        ("partition_id", "int32", (0, 2), None, None, None),
        ("error_code", "int16", (0, 2), None, None, None),
        ("error_message", "string", (0, 2), (0, 2), None, None),
    )

    def __init__(
        self,
        partition_id: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.partition_id = partition_id
        self.error_code = error_code
        self.error_message = error_message


class ReplicaElectionResult(Struct):
    __slots__ = ("topic", "partition_result")
    FIELDS = (
        ("topic", "string", (0, 2), None, None, None),
        ("partition_result", "[]PartitionResult", (0, 2), None, None, None),
    )

    def __init__(
        self,
        topic: str = "",
        partition_result: Sequence[PartitionResult] = (),
    ) -> None:
        self.topic = topic
        self.partition_result = partition_result


class ElectLeadersResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "replica_election_results")
    API_KEY = 43
    VERSIONS = (0, 2)
    FLEXIBLE = (2, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (0, 2), None, None, None),
        ("error_code", "int16", (1, 2), None, None, None),
        ("replica_election_results", "[]ReplicaElectionResult", (0, 2), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        replica_election_results: Sequence[ReplicaElectionResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.replica_election_results = replica_election_results
