"""DescribeAclsRequest (key 29), versions 1-3. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class DescribeAclsRequest(Message):
    __slots__ = ("resource_type_filter", "resource_name_filter", "pattern_type_filter", "principal_filter", "host_filter", "operation", "permission_type")
    API_KEY = 29
    VERSIONS = (1, 3)
    FLEXIBLE = (2, 32767)
    FIELDS = (
        ("resource_type_filter", "int8", (1, 3), None, None, None),
        ("resource_name_filter", "string", (1, 3), (1, 3), None, None),
        ("pattern_type_filter", "int8", (1, 3), None, None, None),
        ("principal_filter", "string", (1, 3), (1, 3), None, None),
        ("host_filter", "string", (1, 3), (1, 3), None, None),
        ("operation", "int8", (1, 3), None, None, None),
        ("permission_type", "int8", (1, 3), None, None, None),
    )

    def __init__(
        self,
        resource_type_filter: int = 0,
        resource_name_filter: str | None = "",
        pattern_type_filter: int = 3,
        principal_filter: str | None = "",
        host_filter: str | None = "",
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.resource_type_filter = resource_type_filter
        self.resource_name_filter = resource_name_filter
        self.pattern_type_filter = pattern_type_filter
        self.principal_filter = principal_filter
        self.host_filter = host_filter
        self.operation = operation
        self.permission_type = permission_type
