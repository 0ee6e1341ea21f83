"""GroupMetadataKey (key 2), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class GroupMetadataKey(Message):
    __slots__ = ("group",)
    API_KEY = 2
    VERSIONS = (0, 0)
    FIELDS = (
        ("group", "string", (0, 0), None, None, None),
    )

    def __init__(
        self,
        group: str = "",
    ) -> None:
        self.group = group
