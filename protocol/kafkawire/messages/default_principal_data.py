"""DefaultPrincipalData, version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class DefaultPrincipalData(Message):
    __slots__ = ("type", "name", "token_authenticated")
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("type", "string", (0, 0), None, None, None),
        ("name", "string", (0, 0), None, None, None),
        ("token_authenticated", "bool", (0, 0), None, None, None),
    )

    def __init__(
        self,
        type: str = "",
        name: str = "",
        token_authenticated: bool = False,
    ) -> None:
        self.type = type
        self.name = name
        self.token_authenticated = token_authenticated
