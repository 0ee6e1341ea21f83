"""DeleteRecordsRequest (key 21), versions 0-2. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Records, Struct


class DeleteRecordsPartition(Struct):
    __slots__ = ("partition_index", "offset")
    FIELDS = (
        ("partition_index", "int32", (0, 2), None, None, None),
        ("offset", "int64", (0, 2), None, None, None),
    )

    def __init__(
        self,
        partition_index: int = 0,
        offset: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.offset = offset


class DeleteRecordsTopic(Struct):
    __slots__ = ("name", "partitions")
    FIELDS = (
        ("name", "string", (0, 2), None, None, None),
        ("partitions", "[]DeleteRecordsPartition", (0, 2), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[DeleteRecordsPartition] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class DeleteRecordsRequest(Message):
    __slots__ = ("topics", "timeout_ms")
    API_KEY = 21
    VERSIONS = (0, 2)
    FLEXIBLE = (2, 32767)
    FIELDS = (
        ("topics", "[]DeleteRecordsTopic", (0, 2), None, None, None),
        ("timeout_ms", "int32", (0, 2), None, None, None),
    )

    def __init__(
        self,
        topics: Sequence[DeleteRecordsTopic] = (),
        timeout_ms: int = 0,
    ) -> None:
        self.topics = topics
        self.timeout_ms = timeout_ms
