"""InitializeShareGroupStateResponse (key 83), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class PartitionResult(Struct):
    __slots__ = ("partition", "error_code", "error_message")
    FIELDS = (
        ("partition", "int32", (0, 0), None, None, None),
        ("error_code", "int16", (0, 0), None, None, None),
        ("error_message", "string", (0, 0), (0, 0), None, None),
    )

    def __init__(
        self,
        partition: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.partition = partition
        self.error_code = error_code
        self.error_message = error_message


class InitializeStateResult(Struct):
    __slots__ = ("topic_id", "partitions")
    FIELDS = (
        ("topic_id", "uuid", (0, 0), None, None, None),
        ("partitions", "[]PartitionResult", (0, 0), None, None, None),
    )

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[PartitionResult] = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = partitions


class InitializeShareGroupStateResponse(Message):
    __slots__ = ("results",)
    API_KEY = 83
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("results", "[]InitializeStateResult", (0, 0), None, None, None),
    )

    def __init__(
        self,
        results: Sequence[InitializeStateResult] = (),
    ) -> None:
        self.results = results
