"""HeartbeatRequest (key 12), versions 0-4. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class HeartbeatRequest(Message):
    __slots__ = ("group_id", "generation_id", "member_id", "group_instance_id")
    API_KEY = 12
    VERSIONS = (0, 4)
    FLEXIBLE = (4, 32767)
    FIELDS = (
        ("group_id", "string", (0, 4), None, None, None),
        ("generation_id", "int32", (0, 4), None, None, None),
        ("member_id", "string", (0, 4), None, None, None),
        ("group_instance_id", "string", (3, 4), (3, 4), None, None),
    )

    def __init__(
        self,
        group_id: str = "",
        generation_id: int = 0,
        member_id: str = "",
        group_instance_id: str | None = None,
    ) -> None:
        self.group_id = group_id
        self.generation_id = generation_id
        self.member_id = member_id
        self.group_instance_id = group_instance_id
