"""OffsetCommitKey (key 1), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class OffsetCommitKey(Message):
    __slots__ = ("group", "topic", "partition")
    API_KEY = 1
    VERSIONS = (0, 0)
    FIELDS = (
        ("group", "string", (0, 0), None, None, None),
        ("topic", "string", (0, 0), None, None, None),
        ("partition", "int32", (0, 0), None, None, None),
    )

    def __init__(
        self,
        group: str = "",
        topic: str = "",
        partition: int = 0,
    ) -> None:
        self.group = group
        self.topic = topic
        self.partition = partition
