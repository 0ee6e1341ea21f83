"""DeleteAclsResponse (key 31), versions 1-3. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class DeleteAclsMatchingAcl(Struct):
    __slots__ = ("error_code", "error_message", "resource_type", "resource_name", "pattern_type", "principal", "host", "operation", "permission_type")
    FIELDS = (
        ("error_code", "int16", (1, 3), None, None, None),
        ("error_message", "string", (1, 3), (1, 3), None, None),
        ("resource_type", "int8", (1, 3), None, None, None),
        ("resource_name", "string", (1, 3), None, None, None),
        ("pattern_type", "int8", (1, 3), None, None, None),
        ("principal", "string", (1, 3), None, None, None),
        ("host", "string", (1, 3), None, None, None),
        ("operation", "int8", (1, 3), None, None, None),
        ("permission_type", "int8", (1, 3), None, None, None),
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        resource_type: int = 0,
        resource_name: str = "",
        pattern_type: int = 3,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.pattern_type = pattern_type
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type


class DeleteAclsFilterResult(Struct):
    __slots__ = ("error_code", "error_message", "matching_acls")
    FIELDS = (
        ("error_code", "int16", (1, 3), None, None, None),
        ("error_message", "string", (1, 3), (1, 3), None, None),
        ("matching_acls", "[]DeleteAclsMatchingAcl", (1, 3), None, None, None),
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        matching_acls: Sequence[DeleteAclsMatchingAcl] = (),
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.matching_acls = matching_acls


class DeleteAclsResponse(Message):
    __slots__ = ("throttle_time_ms", "filter_results")
    API_KEY = 31
    VERSIONS = (1, 3)
    FLEXIBLE = (2, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (1, 3), None, None, None),
        ("filter_results", "[]DeleteAclsFilterResult", (1, 3), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        filter_results: Sequence[DeleteAclsFilterResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.filter_results = filter_results
