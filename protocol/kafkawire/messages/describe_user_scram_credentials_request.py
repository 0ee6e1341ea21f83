"""DescribeUserScramCredentialsRequest (key 50), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class UserName(Struct):
    __slots__ = ("name",)
    FIELDS = (
        ("name", "string", (0, 0), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
    ) -> None:
        self.name = name


class DescribeUserScramCredentialsRequest(Message):
    __slots__ = ("users",)
    API_KEY = 50
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("users", "[]UserName", (0, 0), (0, 0), None, None),
    )

    def __init__(
        self,
        users: Sequence[UserName] | None = (),
    ) -> None:
        self.users = users
