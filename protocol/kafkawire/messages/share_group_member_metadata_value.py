"""ShareGroupMemberMetadataValue (key 10), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message


class ShareGroupMemberMetadataValue(Message):
    __slots__ = ("rack_id", "client_id", "client_host", "subscribed_topic_names")
    API_KEY = 10
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("rack_id", "string", (0, 0), (0, 0), None, None),
        ("client_id", "string", (0, 0), None, None, None),
        ("client_host", "string", (0, 0), None, None, None),
        ("subscribed_topic_names", "[]string", (0, 0), None, None, None),
    )

    def __init__(
        self,
        rack_id: str | None = "",
        client_id: str = "",
        client_host: str = "",
        subscribed_topic_names: Sequence[str] = (),
    ) -> None:
        self.rack_id = rack_id
        self.client_id = client_id
        self.client_host = client_host
        self.subscribed_topic_names = subscribed_topic_names
