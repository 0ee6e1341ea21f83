"""VotersRecord, version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class Endpoint(Struct):
    __slots__ = ("name", "host", "port")
    FIELDS = (
        ("name", "string", (0, 0), None, None, None),
        ("host", "string", (0, 0), None, None, None),
        ("port", "uint16", (0, 0), None, None, None),
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


class KRaftVersionFeature(Struct):
    __slots__ = ("min_supported_version", "max_supported_version")
    FIELDS = (
        ("min_supported_version", "int16", (0, 0), None, None, None),
        ("max_supported_version", "int16", (0, 0), None, None, None),
    )

    def __init__(
        self,
        min_supported_version: int = 0,
        max_supported_version: int = 0,
    ) -> None:
        self.min_supported_version = min_supported_version
        self.max_supported_version = max_supported_version


class Voter(Struct):
    __slots__ = ("voter_id", "voter_directory_id", "endpoints", "k_raft_version_feature")
    FIELDS = (
        ("voter_id", "int32", (0, 0), None, None, None),
        ("voter_directory_id", "uuid", (0, 0), None, None, None),
        ("endpoints", "[]Endpoint", (0, 0), None, None, None),
        ("k_raft_version_feature", "KRaftVersionFeature", (0, 0), None, None, None),
    )

    def __init__(
        self,
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
        endpoints: Sequence[Endpoint] = (),
        k_raft_version_feature: KRaftVersionFeature | None = None,
    ) -> None:
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id
        self.endpoints = endpoints
        self.k_raft_version_feature = KRaftVersionFeature() if k_raft_version_feature is None else k_raft_version_feature


class VotersRecord(Message):
    __slots__ = ("version", "voters")
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("version", "int16", (0, 0), None, None, None),
        ("voters", "[]Voter", (0, 0), None, None, None),
    )

    def __init__(
        self,
        version: int = 0,
        voters: Sequence[Voter] = (),
    ) -> None:
        self.version = version
        self.voters = voters
