"""CreateDelegationTokenRequest (key 38), versions 1-3. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class CreatableRenewers(Struct):
    __slots__ = ("principal_type", "principal_name")
    FIELDS = (
        ("principal_type", "string", (1, 3), None, None, None),
        ("principal_name", "string", (1, 3), None, None, None),
    )

    def __init__(
        self,
        principal_type: str = "",
        principal_name: str = "",
    ) -> None:
        self.principal_type = principal_type
        self.principal_name = principal_name


class CreateDelegationTokenRequest(Message):
    __slots__ = ("owner_principal_type", "owner_principal_name", "renewers", "max_lifetime_ms")
    API_KEY = 38
    VERSIONS = (1, 3)
    FLEXIBLE = (2, 32767)
    FIELDS = (
        ("owner_principal_type", "string", (3, 3), (3, 3), None, None),
        ("owner_principal_name", "string", (3, 3), (3, 3), None, None),
        ("renewers", "[]CreatableRenewers", (1, 3), None, None, None),
        ("max_lifetime_ms", "int64", (1, 3), None, None, None),
    )

    def __init__(
        self,
        owner_principal_type: str | None = "",
        owner_principal_name: str | None = "",
        renewers: Sequence[CreatableRenewers] = (),
        max_lifetime_ms: int = 0,
    ) -> None:
        self.owner_principal_type = owner_principal_type
        self.owner_principal_name = owner_principal_name
        self.renewers = renewers
        self.max_lifetime_ms = max_lifetime_ms
