"""DescribeDelegationTokenResponse (key 41), versions 1-3. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class DescribedDelegationTokenRenewer(Struct):
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


class DescribedDelegationToken(Struct):
    __slots__ = ("principal_type", "principal_name", "token_requester_principal_type", "token_requester_principal_name", "issue_timestamp", "expiry_timestamp", "max_timestamp", "token_id", "hmac", "renewers")
    FIELDS = (
        ("principal_type", "string", (1, 3), None, None, None),
        ("principal_name", "string", (1, 3), None, None, None),
        ("token_requester_principal_type", "string", (3, 3), None, None, None),
        ("token_requester_principal_name", "string", (3, 3), None, None, None),
        ("issue_timestamp", "int64", (1, 3), None, None, None),
        ("expiry_timestamp", "int64", (1, 3), None, None, None),
        ("max_timestamp", "int64", (1, 3), None, None, None),
        ("token_id", "string", (1, 3), None, None, None),
        ("hmac", "bytes", (1, 3), None, None, None),
        ("renewers", "[]DescribedDelegationTokenRenewer", (1, 3), None, None, None),
    )

    def __init__(
        self,
        principal_type: str = "",
        principal_name: str = "",
        token_requester_principal_type: str = "",
        token_requester_principal_name: str = "",
        issue_timestamp: int = 0,
        expiry_timestamp: int = 0,
        max_timestamp: int = 0,
        token_id: str = "",
        hmac: bytes = b"",
        renewers: Sequence[DescribedDelegationTokenRenewer] = (),
    ) -> None:
        self.principal_type = principal_type
        self.principal_name = principal_name
        self.token_requester_principal_type = token_requester_principal_type
        self.token_requester_principal_name = token_requester_principal_name
        self.issue_timestamp = issue_timestamp
        self.expiry_timestamp = expiry_timestamp
        self.max_timestamp = max_timestamp
        self.token_id = token_id
        self.hmac = hmac
        self.renewers = renewers


class DescribeDelegationTokenResponse(Message):
    __slots__ = ("error_code", "tokens", "throttle_time_ms")
    API_KEY = 41
    VERSIONS = (1, 3)
    FLEXIBLE = (2, 32767)
    FIELDS = (
        ("error_code", "int16", (1, 3), None, None, None),
        ("tokens", "[]DescribedDelegationToken", (1, 3), None, None, None),
        ("throttle_time_ms", "int32", (1, 3), None, None, None),
    )

    def __init__(
        self,
        error_code: int = 0,
        tokens: Sequence[DescribedDelegationToken] = (),
        throttle_time_ms: int = 0,
    ) -> None:
        self.error_code = error_code
        self.tokens = tokens
        self.throttle_time_ms = throttle_time_ms
