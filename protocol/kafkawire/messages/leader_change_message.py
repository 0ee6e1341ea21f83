"""LeaderChangeMessage, versions 0-1. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class Voter(Struct):
    __slots__ = ("voter_id", "voter_directory_id")
    FIELDS = (
        ("voter_id", "int32", (0, 1), None, None, None),
        ("voter_directory_id", "uuid", (1, 1), None, None, None),
    )

    def __init__(
        self,
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
    ) -> None:
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id


class LeaderChangeMessage(Message):
    __slots__ = ("version", "leader_id", "voters", "granting_voters")
    VERSIONS = (0, 1)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("version", "int16", (0, 1), None, None, None),
        ("leader_id", "int32", (0, 1), None, None, None),
        ("voters", "[]Voter", (0, 1), None, None, None),
        ("granting_voters", "[]Voter", (0, 1), None, None, None),
    )

    def __init__(
        self,
        version: int = 0,
        leader_id: int = 0,
        voters: Sequence[Voter] = (),
        granting_voters: Sequence[Voter] = (),
    ) -> None:
        self.version = version
        self.leader_id = leader_id
        self.voters = voters
        self.granting_voters = granting_voters
