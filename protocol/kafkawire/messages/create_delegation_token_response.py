"""CreateDelegationTokenResponse (key 38), versions 1-3. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class CreateDelegationTokenResponse(Message):
    __slots__ = ("error_code", "principal_type", "principal_name", "token_requester_principal_type", "token_requester_principal_name", "issue_timestamp_ms", "expiry_timestamp_ms", "max_timestamp_ms", "token_id", "hmac", "throttle_time_ms")
    API_KEY = 38
    VERSIONS = (1, 3)
    FLEXIBLE = (2, 32767)
    FIELDS = (
        ("error_code", "int16", (1, 3), None, None, None),
        ("principal_type", "string", (1, 3), None, None, None),
        ("principal_name", "string", (1, 3), None, None, None),
        ("token_requester_principal_type", "string", (3, 3), None, None, None),
        ("token_requester_principal_name", "string", (3, 3), None, None, None),
        ("issue_timestamp_ms", "int64", (1, 3), None, None, None),
        ("expiry_timestamp_ms", "int64", (1, 3), None, None, None),
        ("max_timestamp_ms", "int64", (1, 3), None, None, None),
        ("token_id", "string", (1, 3), None, None, None),
        ("hmac", "bytes", (1, 3), None, None, None),
        ("throttle_time_ms", "int32", (1, 3), None, None, None),
    )

    def __init__(
        self,
        error_code: int = 0,
        principal_type: str = "",
        principal_name: str = "",
        token_requester_principal_type: str = "",
        token_requester_principal_name: str = "",
        issue_timestamp_ms: int = 0,
        expiry_timestamp_ms: int = 0,
        max_timestamp_ms: int = 0,
        token_id: str = "",
        hmac: bytes = b"",
        throttle_time_ms: int = 0,
    ) -> None:
        self.error_code = error_code
        self.principal_type = principal_type
        self.principal_name = principal_name
        self.token_requester_principal_type = token_requester_principal_type
        self.token_requester_principal_name = token_requester_principal_name
        self.issue_timestamp_ms = issue_timestamp_ms
        self.expiry_timestamp_ms = expiry_timestamp_ms
        self.max_timestamp_ms = max_timestamp_ms
        self.token_id = token_id
        self.hmac = hmac
        self.throttle_time_ms = throttle_time_ms
