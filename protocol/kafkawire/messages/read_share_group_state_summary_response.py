"""ReadShareGroupStateSummaryResponse (key 87), versions 0-1. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class PartitionResult(Struct):
    __slots__ = ("partition", "error_code", "error_message", "state_epoch", "leader_epoch", "start_offset", "delivery_complete_count")
    FIELDS = (
        ("partition", "int32", (0, 1), None, None, None),
        ("error_code", "int16", (0, 1), None, None, None),
        ("error_message", "string", (0, 1), (0, 1), None, None),
        ("state_epoch", "int32", (0, 1), None, None, None),
        ("leader_epoch", "int32", (0, 1), None, None, None),
        ("start_offset", "int64", (0, 1), None, None, None),
        ("delivery_complete_count", "int32", (1, 1), None, None, None),
    )

    def __init__(
        self,
        partition: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        state_epoch: int = 0,
        leader_epoch: int = 0,
        start_offset: int = 0,
        delivery_complete_count: int = -1,
    ) -> None:
        self.partition = partition
        self.error_code = error_code
        self.error_message = error_message
        self.state_epoch = state_epoch
        self.leader_epoch = leader_epoch
        self.start_offset = start_offset
        self.delivery_complete_count = delivery_complete_count


class ReadStateSummaryResult(Struct):
    __slots__ = ("topic_id", "partitions")
    FIELDS = (
        ("topic_id", "uuid", (0, 1), None, None, None),
        ("partitions", "[]PartitionResult", (0, 1), None, None, None),
    )

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[PartitionResult] = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = partitions


class ReadShareGroupStateSummaryResponse(Message):
    __slots__ = ("results",)
    API_KEY = 87
    VERSIONS = (0, 1)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("results", "[]ReadStateSummaryResult", (0, 1), None, None, None),
    )

    def __init__(
        self,
        results: Sequence[ReadStateSummaryResult] = (),
    ) -> None:
        self.results = results
