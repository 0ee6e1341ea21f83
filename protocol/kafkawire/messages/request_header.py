"""RequestHeader, versions 1-2. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class RequestHeader(Message):
    __slots__ = ("request_api_key", "request_api_version", "correlation_id", "client_id")
    VERSIONS = (1, 2)
    FLEXIBLE = (2, 32767)
    FIELDS = (
        ("request_api_key", "int16", (1, 2), None, None, None),
        ("request_api_version", "int16", (1, 2), None, None, None),
        ("correlation_id", "int32", (1, 2), None, None, None),
        ("client_id", "string", (1, 2), (1, 2), None, None, True),
    )

    def __init__(
        self,
        request_api_key: int = 0,
        request_api_version: int = 0,
        correlation_id: int = 0,
        client_id: str | None = "",
    ) -> None:
        self.request_api_key = request_api_key
        self.request_api_version = request_api_version
        self.correlation_id = correlation_id
        self.client_id = client_id
