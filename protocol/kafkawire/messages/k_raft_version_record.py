"""KRaftVersionRecord, version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class KRaftVersionRecord(Message):
    __slots__ = ("version", "k_raft_version")
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("version", "int16", (0, 0), None, None, None),
        ("k_raft_version", "int16", (0, 0), None, None, None),
    )

    def __init__(
        self,
        version: int = 0,
        k_raft_version: int = 0,
    ) -> None:
        self.version = version
        self.k_raft_version = k_raft_version
