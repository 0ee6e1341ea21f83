"""DescribeAclsResponse (key 29), versions 1-3. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class AclDescription(Struct):
    __slots__ = ("principal", "host", "operation", "permission_type")
    FIELDS = (
        ("principal", "string", (1, 3), None, None, None),
        ("host", "string", (1, 3), None, None, None),
        ("operation", "int8", (1, 3), None, None, None),
        ("permission_type", "int8", (1, 3), None, None, None),
    )

    def __init__(
        self,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type


class DescribeAclsResource(Struct):
    __slots__ = ("resource_type", "resource_name", "pattern_type", "acls")
    FIELDS = (
        ("resource_type", "int8", (1, 3), None, None, None),
        ("resource_name", "string", (1, 3), None, None, None),
        ("pattern_type", "int8", (1, 3), None, None, None),
        ("acls", "[]AclDescription", (1, 3), None, None, None),
    )

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = "",
        pattern_type: int = 3,
        acls: Sequence[AclDescription] = (),
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.pattern_type = pattern_type
        self.acls = acls


class DescribeAclsResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "error_message", "resources")
    API_KEY = 29
    VERSIONS = (1, 3)
    FLEXIBLE = (2, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (1, 3), None, None, None),
        ("error_code", "int16", (1, 3), None, None, None),
        ("error_message", "string", (1, 3), (1, 3), None, None),
        ("resources", "[]DescribeAclsResource", (1, 3), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        resources: Sequence[DescribeAclsResource] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.resources = resources
