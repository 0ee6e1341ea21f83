"""ShareGroupHeartbeatRequest (key 76), version 1. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message


class ShareGroupHeartbeatRequest(Message):
    __slots__ = ("group_id", "member_id", "member_epoch", "rack_id", "subscribed_topic_names")
    API_KEY = 76
    VERSIONS = (1, 1)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("group_id", "string", (1, 1), None, None, None),
        ("member_id", "string", (1, 1), None, None, None),
        ("member_epoch", "int32", (1, 1), None, None, None),
        ("rack_id", "string", (1, 1), (1, 1), None, None),
        ("subscribed_topic_names", "[]string", (1, 1), (1, 1), None, None),
    )

    def __init__(
        self,
        group_id: str = "",
        member_id: str = "",
        member_epoch: int = 0,
        rack_id: str | None = None,
        subscribed_topic_names: Sequence[str] | None = None,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.rack_id = rack_id
        self.subscribed_topic_names = subscribed_topic_names
