"""JoinGroupResponse (key 11), versions 0-9. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class JoinGroupResponseMember(Struct):
    __slots__ = ("member_id", "group_instance_id", "metadata")
    FIELDS = (
        ("member_id", "string", (0, 9), None, None, None),
        ("group_instance_id", "string", (5, 9), (5, 9), None, None),
        ("metadata", "bytes", (0, 9), None, None, None),
    )

    def __init__(
        self,
        member_id: str = "",
        group_instance_id: str | None = None,
        metadata: bytes = b"",
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.metadata = metadata


class JoinGroupResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "generation_id", "protocol_type", "protocol_name", "leader", "skip_assignment", "member_id", "members")
    API_KEY = 11
    VERSIONS = (0, 9)
    FLEXIBLE = (6, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (2, 9), None, None, None),
        ("error_code", "int16", (0, 9), None, None, None),
        ("generation_id", "int32", (0, 9), None, None, None),
        ("protocol_type", "string", (7, 9), (7, 9), None, None),
        ("protocol_name", "string", (0, 9), (7, 9), None, None),
        ("leader", "string", (0, 9), None, None, None),
        ("skip_assignment", "bool", (9, 9), None, None, None),
        ("member_id", "string", (0, 9), None, None, None),
        ("members", "[]JoinGroupResponseMember", (0, 9), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        generation_id: int = -1,
        protocol_type: str | None = None,
        protocol_name: str | None = "",
        leader: str = "",
        skip_assignment: bool = False,
        member_id: str = "",
        members: Sequence[JoinGroupResponseMember] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.generation_id = generation_id
        self.protocol_type = protocol_type
        self.protocol_name = protocol_name
        self.leader = leader
        self.skip_assignment = skip_assignment
        self.member_id = member_id
        self.members = members
