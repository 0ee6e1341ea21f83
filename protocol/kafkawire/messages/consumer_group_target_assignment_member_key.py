"""ConsumerGroupTargetAssignmentMemberKey (key 7), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class ConsumerGroupTargetAssignmentMemberKey(Message):
    __slots__ = ("group_id", "member_id")
    API_KEY = 7
    VERSIONS = (0, 0)
    FIELDS = (
        ("group_id", "string", (0, 0), None, None, None),
        ("member_id", "string", (0, 0), None, None, None),
    )

    def __init__(
        self,
        group_id: str = "",
        member_id: str = "",
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
