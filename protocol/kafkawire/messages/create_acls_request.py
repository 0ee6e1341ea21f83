"""CreateAclsRequest (key 30), versions 1-3. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class AclCreation(Struct):
    __slots__ = ("resource_type", "resource_name", "resource_pattern_type", "principal", "host", "operation", "permission_type")
    FIELDS = (
        ("resource_type", "int8", (1, 3), None, None, None),
        ("resource_name", "string", (1, 3), None, None, None),
        ("resource_pattern_type", "int8", (1, 3), None, None, None),
        ("principal", "string", (1, 3), None, None, None),
        ("host", "string", (1, 3), None, None, None),
        ("operation", "int8", (1, 3), None, None, None),
        ("permission_type", "int8", (1, 3), None, None, None),
    )

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = "",
        resource_pattern_type: int = 3,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.resource_pattern_type = resource_pattern_type
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type


class CreateAclsRequest(Message):
    __slots__ = ("creations",)
    API_KEY = 30
    VERSIONS = (1, 3)
    FLEXIBLE = (2, 32767)
    FIELDS = (
        ("creations", "[]AclCreation", (1, 3), None, None, None),
    )

    def __init__(
        self,
        creations: Sequence[AclCreation] = (),
    ) -> None:
        self.creations = creations
