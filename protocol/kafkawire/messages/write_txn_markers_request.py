"""WriteTxnMarkersRequest (key 27), versions 1-2. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class WritableTxnMarkerTopic(Struct):
    __slots__ = ("name", "partition_indexes")
    FIELDS = (
        ("name", "string", (1, 2), None, None, None),
        ("partition_indexes", "[]int32", (1, 2), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        partition_indexes: Sequence[int] = (),
    ) -> None:
        self.name = name
        self.partition_indexes = partition_indexes


class WritableTxnMarker(Struct):
    __slots__ = ("producer_id", "producer_epoch", "transaction_result", "topics", "coordinator_epoch", "transaction_version")
    FIELDS = (
        ("producer_id", "int64", (1, 2), None, None, None),
        ("producer_epoch", "int16", (1, 2), None, None, None),
        ("transaction_result", "bool", (1, 2), None, None, None),
        ("topics", "[]WritableTxnMarkerTopic", (1, 2), None, None, None),
        ("coordinator_epoch", "int32", (1, 2), None, None, None),
        ("transaction_version", "int8", (2, 2), None, None, None),
    )

    def __init__(
        self,
        producer_id: int = 0,
        producer_epoch: int = 0,
        transaction_result: bool = False,
        topics: Sequence[WritableTxnMarkerTopic] = (),
        coordinator_epoch: int = 0,
        transaction_version: int = 0,
    ) -> None:
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.transaction_result = transaction_result
        self.topics = topics
        self.coordinator_epoch = coordinator_epoch
        self.transaction_version = transaction_version


class WriteTxnMarkersRequest(Message):
    __slots__ = ("markers",)
    API_KEY = 27
    VERSIONS = (1, 2)
    FLEXIBLE = (1, 32767)
    FIELDS = (
        ("markers", "[]WritableTxnMarker", (1, 2), None, None, None),
    )

    def __init__(
        self,
        markers: Sequence[WritableTxnMarker] = (),
    ) -> None:
        self.markers = markers
