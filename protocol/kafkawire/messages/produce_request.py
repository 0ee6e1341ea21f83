"""ProduceRequest (key 0), versions 3-13. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class PartitionProduceData(Struct):
    __slots__ = ("index", "records")
    FIELDS = (
        ("index", "int32", (3, 13), None, None, None),
        ("records", "records", (3, 13), (3, 13), None, None),
    )

    def __init__(
        self,
        index: int = 0,
        records: bytes | None = None,
    ) -> None:
        self.index = index
        self.records = records


class TopicProduceData(Struct):
    __slots__ = ("name", "topic_id", "partition_data")
    FIELDS = (
        ("name", "string", (3, 12), None, None, None),
        ("topic_id", "uuid", (13, 13), None, None, None),
        ("partition_data", "[]PartitionProduceData", (3, 13), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partition_data: Sequence[PartitionProduceData] = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partition_data = partition_data


class ProduceRequest(Message):
    __slots__ = ("transactional_id", "acks", "timeout_ms", "topic_data")
    API_KEY = 0
    VERSIONS = (3, 13)
    FLEXIBLE = (9, 32767)
    FIELDS = (
        ("transactional_id", "string", (3, 13), (3, 13), None, None),
        ("acks", "int16", (3, 13), None, None, None),
        ("timeout_ms", "int32", (3, 13), None, None, None),
        ("topic_data", "[]TopicProduceData", (3, 13), None, None, None),
    )

    def __init__(
        self,
        transactional_id: str | None = None,
        acks: int = 0,
        timeout_ms: int = 0,
        topic_data: Sequence[TopicProduceData] = (),
    ) -> None:
        self.transactional_id = transactional_id
        self.acks = acks
        self.timeout_ms = timeout_ms
        self.topic_data = topic_data
