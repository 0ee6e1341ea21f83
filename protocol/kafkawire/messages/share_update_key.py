"""ShareUpdateKey (key 1), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import ZERO_UUID, Message


class ShareUpdateKey(Message):
    __slots__ = ("group_id", "topic_id", "partition")
    API_KEY = 1
    VERSIONS = (0, 0)
    FIELDS = (
        ("group_id", "string", (0, 0), None, None, None),
        ("topic_id", "uuid", (0, 0), None, None, None),
        ("partition", "int32", (0, 0), None, None, None),
    )

    def __init__(
        self,
        group_id: str = "",
        topic_id: bytes = ZERO_UUID,
        partition: int = 0,
    ) -> None:
        self.group_id = group_id
        self.topic_id = topic_id
        self.partition = partition
