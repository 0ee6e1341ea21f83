"""AlterUserScramCredentialsRequest (key 51), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class ScramCredentialDeletion(Struct):
    __slots__ = ("name", "mechanism")
    FIELDS = (
        ("name", "string", (0, 0), None, None, None),
        ("mechanism", "int8", (0, 0), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        mechanism: int = 0,
    ) -> None:
        self.name = name
        self.mechanism = mechanism


class ScramCredentialUpsertion(Struct):
    __slots__ = ("name", "mechanism", "iterations", "salt", "salted_password")
    FIELDS = (
        ("name", "string", (0, 0), None, None, None),
        ("mechanism", "int8", (0, 0), None, None, None),
        ("iterations", "int32", (0, 0), None, None, None),
        ("salt", "bytes", (0, 0), None, None, None),
        ("salted_password", "bytes", (0, 0), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        mechanism: int = 0,
        iterations: int = 0,
        salt: bytes = b"",
        salted_password: bytes = b"",
    ) -> None:
        self.name = name
        self.mechanism = mechanism
        self.iterations = iterations
        self.salt = salt
        self.salted_password = salted_password


class AlterUserScramCredentialsRequest(Message):
    __slots__ = ("deletions", "upsertions")
    API_KEY = 51
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("deletions", "[]ScramCredentialDeletion", (0, 0), None, None, None),
        ("upsertions", "[]ScramCredentialUpsertion", (0, 0), None, None, None),
    )

    def __init__(
        self,
        deletions: Sequence[ScramCredentialDeletion] = (),
        upsertions: Sequence[ScramCredentialUpsertion] = (),
    ) -> None:
        self.deletions = deletions
        self.upsertions = upsertions
