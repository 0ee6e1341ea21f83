"""JoinGroupRequest (key 11), versions 0-9. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class JoinGroupRequestProtocol(Struct):
    __slots__ = ("name", "metadata")
    FIELDS = (
        ("name", "string", (0, 9), None, None, None),
        ("metadata", "bytes", (0, 9), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        metadata: bytes = b"",
    ) -> None:
        self.name = name
        self.metadata = metadata


class JoinGroupRequest(Message):
    __slots__ = ("group_id", "session_timeout_ms", "rebalance_timeout_ms", "member_id", "group_instance_id", "protocol_type", "protocols", "reason")
    API_KEY = 11
    VERSIONS = (0, 9)
    FLEXIBLE = (6, 32767)
    FIELDS = (
        ("group_id", "string", (0, 9), None, None, None),
        ("session_timeout_ms", "int32", (0, 9), None, None, None),
        ("rebalance_timeout_ms", "int32", (1, 9), None, None, None),
        ("member_id", "string", (0, 9), None, None, None),
        ("group_instance_id", "string", (5, 9), (5, 9), None, None),
        ("protocol_type", "string", (0, 9), None, None, None),
        ("protocols", "[]JoinGroupRequestProtocol", (0, 9), None, None, None),
        ("reason", "string", (8, 9), (8, 9), None, None),
    )

    def __init__(
        self,
        group_id: str = "",
        session_timeout_ms: int = 0,
        rebalance_timeout_ms: int = -1,
        member_id: str = "",
        group_instance_id: str | None = None,
        protocol_type: str = "",
        protocols: Sequence[JoinGroupRequestProtocol] = (),
        reason: str | None = None,
    ) -> None:
        self.group_id = group_id
        self.session_timeout_ms = session_timeout_ms
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.protocol_type = protocol_type
        self.protocols = protocols
        self.reason = reason
