"""LeaveGroupResponse (key 13), versions 0-5. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class MemberResponse(Struct):
    __slots__ = ("member_id", "group_instance_id", "error_code")
    FIELDS = (
        ("member_id", "string", (3, 5), None, None, None),
        ("group_instance_id", "string", (3, 5), (3, 5), None, None),
        ("error_code", "int16", (3, 5), None, None, None),
    )

    def __init__(
        self,
        member_id: str = "",
        group_instance_id: str | None = "",
        error_code: int = 0,
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.error_code = error_code


class LeaveGroupResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "members")
    API_KEY = 13
    VERSIONS = (0, 5)
    FLEXIBLE = (4, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (1, 5), None, None, None),
        ("error_code", "int16", (0, 5), None, None, None),
        ("members", "[]MemberResponse", (3, 5), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        members: Sequence[MemberResponse] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.members = members
