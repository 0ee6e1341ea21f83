"""SyncGroupRequest (key 14), versions 0-5. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class SyncGroupRequestAssignment(Struct):
    __slots__ = ("member_id", "assignment")
    FIELDS = (
        ("member_id", "string", (0, 5), None, None, None),
        ("assignment", "bytes", (0, 5), None, None, None),
    )

    def __init__(
        self,
        member_id: str = "",
        assignment: bytes = b"",
    ) -> None:
        self.member_id = member_id
        self.assignment = assignment


class SyncGroupRequest(Message):
    __slots__ = ("group_id", "generation_id", "member_id", "group_instance_id", "protocol_type", "protocol_name", "assignments")
    API_KEY = 14
    VERSIONS = (0, 5)
    FLEXIBLE = (4, 32767)
    FIELDS = (
        ("group_id", "string", (0, 5), None, None, None),
        ("generation_id", "int32", (0, 5), None, None, None),
        ("member_id", "string", (0, 5), None, None, None),
        ("group_instance_id", "string", (3, 5), (3, 5), None, None),
        ("protocol_type", "string", (5, 5), (5, 5), None, None),
        ("protocol_name", "string", (5, 5), (5, 5), None, None),
        ("assignments", "[]SyncGroupRequestAssignment", (0, 5), None, None, None),
    )

    def __init__(
        self,
        group_id: str = "",
        generation_id: int = 0,
        member_id: str = "",
        group_instance_id: str | None = None,
        protocol_type: str | None = None,
        protocol_name: str | None = None,
        assignments: Sequence[SyncGroupRequestAssignment] = (),
    ) -> None:
        self.group_id = group_id
        self.generation_id = generation_id
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.protocol_type = protocol_type
        self.protocol_name = protocol_name
        self.assignments = assignments
