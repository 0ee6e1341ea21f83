"""LeaveGroupRequest (key 13), versions 0-5. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class MemberIdentity(Struct):
    __slots__ = ("member_id", "group_instance_id", "reason")
    FIELDS = (
        ("member_id", "string", (3, 5), None, None, None),
        ("group_instance_id", "string", (3, 5), (3, 5), None, None),
        ("reason", "string", (5, 5), (5, 5), None, None),
    )

    def __init__(
        self,
        member_id: str = "",
        group_instance_id: str | None = None,
        reason: str | None = None,
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.reason = reason


class LeaveGroupRequest(Message):
    __slots__ = ("group_id", "member_id", "members")
    API_KEY = 13
    VERSIONS = (0, 5)
    FLEXIBLE = (4, 32767)
    FIELDS = (
        ("group_id", "string", (0, 5), None, None, None),
        ("member_id", "string", (0, 2), None, None, None),
        ("members", "[]MemberIdentity", (3, 5), None, None, None),
    )

    def __init__(
        self,
        group_id: str = "",
        member_id: str = "",
        members: Sequence[MemberIdentity] = (),
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.members = members
