"""EnvelopeRequest (key 58), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class EnvelopeRequest(Message):
    __slots__ = ("request_data", "request_principal", "client_host_address")
    API_KEY = 58
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("request_data", "bytes", (0, 0), None, None, None),
        ("request_principal", "bytes", (0, 0), (0, 0), None, None),
        ("client_host_address", "bytes", (0, 0), None, None, None),
    )

    def __init__(
        self,
        request_data: bytes = b"",
        request_principal: bytes | None = b"",
        client_host_address: bytes = b"",
    ) -> None:
        self.request_data = request_data
        self.request_principal = request_principal
        self.client_host_address = client_host_address
