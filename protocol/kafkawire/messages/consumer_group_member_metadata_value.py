"""ConsumerGroupMemberMetadataValue (key 5), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class ClassicProtocol(Struct):
    __slots__ = ("name", "metadata")
    FIELDS = (
        ("name", "string", (0, 0), None, None, None),
        ("metadata", "bytes", (0, 0), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        metadata: bytes = b"",
    ) -> None:
        self.name = name
        self.metadata = metadata


class ClassicMemberMetadata(Struct):
    __slots__ = ("session_timeout_ms", "supported_protocols")
    FIELDS = (
        ("session_timeout_ms", "int32", (0, 0), None, None, None),
        ("supported_protocols", "[]ClassicProtocol", (0, 0), None, None, None),
    )

    def __init__(
        self,
        session_timeout_ms: int = 0,
        supported_protocols: Sequence[ClassicProtocol] = (),
    ) -> None:
        self.session_timeout_ms = session_timeout_ms
        self.supported_protocols = supported_protocols


_CLASSIC_MEMBER_METADATA = ClassicMemberMetadata()
"""Stands for the default of ConsumerGroupMemberMetadataValue.classic_member_metadata."""

class ConsumerGroupMemberMetadataValue(Message):
    __slots__ = ("instance_id", "rack_id", "client_id", "client_host", "subscribed_topic_names", "subscribed_topic_regex", "rebalance_timeout_ms", "server_assignor", "classic_member_metadata")
    API_KEY = 5
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("instance_id", "string", (0, 0), (0, 0), None, None),
        ("rack_id", "string", (0, 0), (0, 0), None, None),
        ("client_id", "string", (0, 0), None, None, None),
        ("client_host", "string", (0, 0), None, None, None),
        ("subscribed_topic_names", "[]string", (0, 0), None, None, None),
        ("subscribed_topic_regex", "string", (0, 0), (0, 0), None, None),
        ("rebalance_timeout_ms", "int32", (0, 0), None, None, None),
        ("server_assignor", "string", (0, 0), (0, 0), None, None),
        ("classic_member_metadata", "ClassicMemberMetadata", (0, 0), (0, 0), 0, (0, 0)),
    )

    def __init__(
        self,
        instance_id: str | None = "",
        rack_id: str | None = "",
        client_id: str = "",
        client_host: str = "",
        subscribed_topic_names: Sequence[str] = (),
        subscribed_topic_regex: str | None = "",
        rebalance_timeout_ms: int = -1,
        server_assignor: str | None = "",
        classic_member_metadata: ClassicMemberMetadata | None = _CLASSIC_MEMBER_METADATA,
    ) -> None:
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.client_id = client_id
        self.client_host = client_host
        self.subscribed_topic_names = subscribed_topic_names
        self.subscribed_topic_regex = subscribed_topic_regex
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.server_assignor = server_assignor
        self.classic_member_metadata = ClassicMemberMetadata() if classic_member_metadata is _CLASSIC_MEMBER_METADATA else classic_member_metadata
