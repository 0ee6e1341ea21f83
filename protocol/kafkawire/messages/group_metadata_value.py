"""GroupMetadataValue (key 2), versions 0-4. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class MemberMetadata(Struct):
    __slots__ = ("member_id", "group_instance_id", "client_id", "client_host", "rebalance_timeout", "session_timeout", "subscription", "assignment")
    FIELDS = (
        ("member_id", "string", (0, 4), None, None, None),
        ("group_instance_id", "string", (3, 4), (3, 4), None, None),
        ("client_id", "string", (0, 4), None, None, None),
        ("client_host", "string", (0, 4), None, None, None),
        ("rebalance_timeout", "int32", (1, 4), None, None, None),
        ("session_timeout", "int32", (0, 4), None, None, None),
        ("subscription", "bytes", (0, 4), None, None, None),
        ("assignment", "bytes", (0, 4), None, None, None),
    )

    def __init__(
        self,
        member_id: str = "",
        group_instance_id: str | None = None,
        client_id: str = "",
        client_host: str = "",
        rebalance_timeout: int = -1,
        session_timeout: int = 0,
        subscription: bytes = b"",
        assignment: bytes = b"",
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.client_id = client_id
        self.client_host = client_host
        self.rebalance_timeout = rebalance_timeout
        self.session_timeout = session_timeout
        self.subscription = subscription
        self.assignment = assignment


class GroupMetadataValue(Message):
    __slots__ = ("protocol_type", "generation", "protocol", "leader", "current_state_timestamp", "members")
    API_KEY = 2
    VERSIONS = (0, 4)
    FLEXIBLE = (4, 32767)
    FIELDS = (
        ("protocol_type", "string", (0, 4), None, None, None),
        ("generation", "int32", (0, 4), None, None, None),
        ("protocol", "string", (0, 4), (0, 4), None, None),
        ("leader", "string", (0, 4), (0, 4), None, None),
        ("current_state_timestamp", "int64", (2, 4), None, None, None),
        ("members", "[]MemberMetadata", (0, 4), None, None, None),
    )

    def __init__(
        self,
        protocol_type: str = "",
        generation: int = 0,
        protocol: str | None = "",
        leader: str | None = "",
        current_state_timestamp: int = -1,
        members: Sequence[MemberMetadata] = (),
    ) -> None:
        self.protocol_type = protocol_type
        self.generation = generation
        self.protocol = protocol
        self.leader = leader
        self.current_state_timestamp = current_state_timestamp
        self.members = members
