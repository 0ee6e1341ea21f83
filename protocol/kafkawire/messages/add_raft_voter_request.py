"""AddRaftVoterRequest (key 80), versions 0-1. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class Listener(Struct):
    __slots__ = ("name", "host", "port")
    FIELDS = (
        ("name", "string", (0, 1), None, None, None),
        ("host", "string", (0, 1), None, None, None),
        ("port", "uint16", (0, 1), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        host: str = "",
        port: int = 0,
    ) -> None:
        self.name = name
        self.host = host
        self.port = port


class AddRaftVoterRequest(Message):
    __slots__ = ("cluster_id", "timeout_ms", "voter_id", "voter_directory_id", "listeners", "ack_when_committed")
    API_KEY = 80
    VERSIONS = (0, 1)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("cluster_id", "string", (0, 1), (0, 1), None, None),
        ("timeout_ms", "int32", (0, 1), None, None, None),
        ("voter_id", "int32", (0, 1), None, None, None),
        ("voter_directory_id", "uuid", (0, 1), None, None, None),
        ("listeners", "[]Listener", (0, 1), None, None, None),
        ("ack_when_committed", "bool", (1, 1), None, None, None),
    )

    def __init__(
        self,
        cluster_id: str | None = "",
        timeout_ms: int = 0,
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
        listeners: Sequence[Listener] = (),
        ack_when_committed: bool = True,
    ) -> None:
        self.cluster_id = cluster_id
        self.timeout_ms = timeout_ms
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id
        self.listeners = listeners
        self.ack_when_committed = ack_when_committed
