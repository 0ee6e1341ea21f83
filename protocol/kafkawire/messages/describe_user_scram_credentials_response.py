"""DescribeUserScramCredentialsResponse (key 50), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class CredentialInfo(Struct):
    __slots__ = ("mechanism", "iterations")
    FIELDS = (
        ("mechanism", "int8", (0, 0), None, None, None),
        ("iterations", "int32", (0, 0), None, None, None),
    )

    def __init__(
        self,
        mechanism: int = 0,
        iterations: int = 0,
    ) -> None:
        self.mechanism = mechanism
        self.iterations = iterations


class DescribeUserScramCredentialsResult(Struct):
    __slots__ = ("user", "error_code", "error_message", "credential_infos")
    FIELDS = (
        ("user", "string", (0, 0), None, None, None),
        ("error_code", "int16", (0, 0), None, None, None),
        ("error_message", "string", (0, 0), (0, 0), None, None),
        ("credential_infos", "[]CredentialInfo", (0, 0), None, None, None),
    )

    def __init__(
        self,
        user: str = "",
        error_code: int = 0,
        error_message: str | None = "",
        credential_infos: Sequence[CredentialInfo] = (),
    ) -> None:
        self.user = user
        self.error_code = error_code
        self.error_message = error_message
        self.credential_infos = credential_infos


class DescribeUserScramCredentialsResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "error_message", "results")
    API_KEY = 50
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (0, 0), None, None, None),
        ("error_code", "int16", (0, 0), None, None, None),
        ("error_message", "string", (0, 0), (0, 0), None, None),
        ("results", "[]DescribeUserScramCredentialsResult", (0, 0), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        results: Sequence[DescribeUserScramCredentialsResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.results = results
