"""ApiVersionsRequest (key 18), versions 0-4. Generated from Apache Kafka 4.3.1 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class ApiVersionsRequest(Message):
    __slots__ = ("client_software_name", "client_software_version")
    API_KEY = 18
    VERSIONS = (0, 4)
    FLEXIBLE = (3, 32767)
    FIELDS = (
        ("client_software_name", "string", (3, 4), None, None, None),
        ("client_software_version", "string", (3, 4), None, None, None),
    )

    def __init__(
        self,
        client_software_name: str = "",
        client_software_version: str = "",
    ) -> None:
        self.client_software_name = client_software_name
        self.client_software_version = client_software_version
