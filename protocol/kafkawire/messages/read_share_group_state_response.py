"""ReadShareGroupStateResponse (key 84), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class StateBatch(Struct):
    __slots__ = ("first_offset", "last_offset", "delivery_state", "delivery_count")
    FIELDS = (
        ("first_offset", "int64", (0, 0), None, None, None),
        ("last_offset", "int64", (0, 0), None, None, None),
        ("delivery_state", "int8", (0, 0), None, None, None),
        ("delivery_count", "int16", (0, 0), None, None, None),
    )

    def __init__(
        self,
        first_offset: int = 0,
        last_offset: int = 0,
        delivery_state: int = 0,
        delivery_count: int = 0,
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.delivery_state = delivery_state
        self.delivery_count = delivery_count


class PartitionResult(Struct):
    __slots__ = ("partition", "error_code", "error_message", "state_epoch", "start_offset", "state_batches")
    FIELDS = (
        ("partition", "int32", (0, 0), None, None, None),
        ("error_code", "int16", (0, 0), None, None, None),
        ("error_message", "string", (0, 0), (0, 0), None, None),
        ("state_epoch", "int32", (0, 0), None, None, None),
        ("start_offset", "int64", (0, 0), None, None, None),
        ("state_batches", "[]StateBatch", (0, 0), None, None, None),
    )

    def __init__(
        self,
        partition: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        state_epoch: int = 0,
        start_offset: int = 0,
        state_batches: Sequence[StateBatch] = (),
    ) -> None:
        self.partition = partition
        self.error_code = error_code
        self.error_message = error_message
        self.state_epoch = state_epoch
        self.start_offset = start_offset
        self.state_batches = state_batches


class ReadStateResult(Struct):
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


class ReadShareGroupStateResponse(Message):
    __slots__ = ("results",)
    API_KEY = 84
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("results", "[]ReadStateResult", (0, 0), None, None, None),
    )

    def __init__(
        self,
        results: Sequence[ReadStateResult] = (),
    ) -> None:
        self.results = results
