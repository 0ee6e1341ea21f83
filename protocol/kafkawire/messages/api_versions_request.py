"""ApiVersionsRequest (key 18), versions 0-5. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class ApiVersionsRequest(Message):
    __slots__ = ("client_software_name", "client_software_version", "cluster_id", "node_id")
    API_KEY = 18
    VERSIONS = (0, 5)
    FLEXIBLE = (3, 32767)
    FIELDS = (
        ("client_software_name", "string", (3, 5), None, None, None),
        ("client_software_version", "string", (3, 5), None, None, None),
        ("cluster_id", "string", (5, 5), (5, 5), None, None),
        ("node_id", "int32", (5, 5), None, None, None),
    )

    def __init__(
        self,
        client_software_name: str = "",
        client_software_version: str = "",
        cluster_id: str | None = None,
        node_id: int = -1,
    ) -> None:
        self.client_software_name = client_software_name
        self.client_software_version = client_software_version
        self.cluster_id = cluster_id
        self.node_id = node_id
