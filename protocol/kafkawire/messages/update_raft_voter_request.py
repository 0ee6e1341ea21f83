"""UpdateRaftVoterRequest (key 82), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class Listener(Struct):
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


class UpdateRaftVoterRequest(Message):
    __slots__ = ("cluster_id", "current_leader_epoch", "voter_id", "voter_directory_id", "listeners", "k_raft_version_feature")
    API_KEY = 82
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("cluster_id", "string", (0, 0), (0, 0), None, None),
        ("current_leader_epoch", "int32", (0, 0), None, None, None),
        ("voter_id", "int32", (0, 0), None, None, None),
        ("voter_directory_id", "uuid", (0, 0), None, None, None),
        ("listeners", "[]Listener", (0, 0), None, None, None),
        ("k_raft_version_feature", "KRaftVersionFeature", (0, 0), None, None, None),
    )

    def __init__(
        self,
        cluster_id: str | None = "",
        current_leader_epoch: int = 0,
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
        listeners: Sequence[Listener] = (),
        k_raft_version_feature: KRaftVersionFeature | None = None,
    ) -> None:
        self.cluster_id = cluster_id
        self.current_leader_epoch = current_leader_epoch
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id
        self.listeners = listeners
        self.k_raft_version_feature = KRaftVersionFeature() if k_raft_version_feature is None else k_raft_version_feature
