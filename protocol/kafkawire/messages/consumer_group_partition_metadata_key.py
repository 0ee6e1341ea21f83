"""ConsumerGroupPartitionMetadataKey (key 4), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class ConsumerGroupPartitionMetadataKey(Message):
    __slots__ = ("group_id",)
    API_KEY = 4
    VERSIONS = (0, 0)
    FIELDS = (
        ("group_id", "string", (0, 0), None, None, None),
    )

    def __init__(
        self,
        group_id: str = "",
    ) -> None:
        self.group_id = group_id
