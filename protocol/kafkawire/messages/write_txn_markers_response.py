"""WriteTxnMarkersResponse (key 27), versions 1-2. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class WritableTxnMarkerPartitionResult(Struct):
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


class WritableTxnMarkerTopicResult(Struct):
    __slots__ = ("name", "partitions")
    FIELDS = (
        ("name", "string", (1, 2), None, None, None),
        ("partitions", "[]WritableTxnMarkerPartitionResult", (1, 2), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[WritableTxnMarkerPartitionResult] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class WritableTxnMarkerResult(Struct):
    __slots__ = ("producer_id", "topics")
    FIELDS = (
        ("producer_id", "int64", (1, 2), None, None, None),
        ("topics", "[]WritableTxnMarkerTopicResult", (1, 2), None, None, None),
    )

    def __init__(
        self,
        producer_id: int = 0,
        topics: Sequence[WritableTxnMarkerTopicResult] = (),
    ) -> None:
        self.producer_id = producer_id
        self.topics = topics


class WriteTxnMarkersResponse(Message):
    __slots__ = ("markers",)
    API_KEY = 27
    VERSIONS = (1, 2)
    FLEXIBLE = (1, 32767)
    FIELDS = (
        ("markers", "[]WritableTxnMarkerResult", (1, 2), None, None, None),
    )

    def __init__(
        self,
        markers: Sequence[WritableTxnMarkerResult] = (),
    ) -> None:
        self.markers = markers
