"""ControllerRegistrationRequest (key 70), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class Listener(Struct):
    __slots__ = ("name", "host", "port", "security_protocol")
    FIELDS = (
        ("name", "string", (0, 0), None, None, None),
        ("host", "string", (0, 0), None, None, None),
        ("port", "uint16", (0, 0), None, None, None),
        ("security_protocol", "int16", (0, 0), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        host: str = "",
        port: int = 0,
        security_protocol: int = 0,
    ) -> None:
        self.name = name
        self.host = host
        self.port = port
        self.security_protocol = security_protocol


class Feature(Struct):
    __slots__ = ("name", "min_supported_version", "max_supported_version")
    FIELDS = (
        ("name", "string", (0, 0), None, None, None),
        ("min_supported_version", "int16", (0, 0), None, None, None),
        ("max_supported_version", "int16", (0, 0), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        min_supported_version: int = 0,
        max_supported_version: int = 0,
    ) -> None:
        self.name = name
        self.min_supported_version = min_supported_version
        self.max_supported_version = max_supported_version


class ControllerRegistrationRequest(Message):
    __slots__ = ("controller_id", "incarnation_id", "zk_migration_ready", "listeners", "features")
    API_KEY = 70
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("controller_id", "int32", (0, 0), None, None, None),
        ("incarnation_id", "uuid", (0, 0), None, None, None),
        ("zk_migration_ready", "bool", (0, 0), None, None, None),
        ("listeners", "[]Listener", (0, 0), None, None, None),
        ("features", "[]Feature", (0, 0), None, None, None),
    )

    def __init__(
        self,
        controller_id: int = 0,
        incarnation_id: bytes = ZERO_UUID,
        zk_migration_ready: bool = False,
        listeners: Sequence[Listener] = (),
        features: Sequence[Feature] = (),
    ) -> None:
        self.controller_id = controller_id
        self.incarnation_id = incarnation_id
        self.zk_migration_ready = zk_migration_ready
        self.listeners = listeners
        self.features = features
