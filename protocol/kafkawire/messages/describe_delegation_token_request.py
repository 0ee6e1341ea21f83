"""DescribeDelegationTokenRequest (key 41), versions 1-3. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class DescribeDelegationTokenOwner(Struct):
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


class DescribeDelegationTokenRequest(Message):
    __slots__ = ("owners",)
    API_KEY = 41
    VERSIONS = (1, 3)
    FLEXIBLE = (2, 32767)
    FIELDS = (
        ("owners", "[]DescribeDelegationTokenOwner", (1, 3), (1, 3), None, None),
    )

    def __init__(
        self,
        owners: Sequence[DescribeDelegationTokenOwner] | None = (),
    ) -> None:
        self.owners = owners
