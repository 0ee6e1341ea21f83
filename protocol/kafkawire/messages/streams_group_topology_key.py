"""StreamsGroupTopologyKey (key 23), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class StreamsGroupTopologyKey(Message):
    __slots__ = ("group_id",)
    API_KEY = 23
    VERSIONS = (0, 0)
    FIELDS = (
        ("group_id", "string", (0, 0), None, None, None),
    )

    def __init__(
        self,
        group_id: str = "",
    ) -> None:
        self.group_id = group_id
