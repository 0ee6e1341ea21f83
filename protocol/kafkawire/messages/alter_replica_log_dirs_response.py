"""AlterReplicaLogDirsResponse (key 34), versions 1-2. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class AlterReplicaLogDirPartitionResult(Struct):
    __slots__ = ("partition_index", "error_code")
    FIELDS = (
        ("partition_index", "int32", (1, 2), None, None, None),
        ("error_code", "int16", (1, 2), None, None, None),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code


class AlterReplicaLogDirTopicResult(Struct):
    __slots__ = ("topic_name", "partitions")
    FIELDS = (
        ("topic_name", "string", (1, 2), None, None, None),
        ("partitions", "[]AlterReplicaLogDirPartitionResult", (1, 2), None, None, None),
    )

    def __init__(
        self,
        topic_name: str = "",
        partitions: Sequence[AlterReplicaLogDirPartitionResult] = (),
    ) -> None:
        self.topic_name = topic_name
        self.partitions = partitions


class AlterReplicaLogDirsResponse(Message):
    __slots__ = ("throttle_time_ms", "results")
    API_KEY = 34
    VERSIONS = (1, 2)
    FLEXIBLE = (2, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (1, 2), None, None, None),
        ("results", "[]AlterReplicaLogDirTopicResult", (1, 2), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: Sequence[AlterReplicaLogDirTopicResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = results
