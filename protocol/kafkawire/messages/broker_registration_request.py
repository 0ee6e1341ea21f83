"""BrokerRegistrationRequest (key 62), versions 0-4. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class Listener(Struct):
    __slots__ = ("name", "host", "port", "security_protocol")
    FIELDS = (
        ("name", "string", (0, 4), None, None, None),
        ("host", "string", (0, 4), None, None, None),
        ("port", "uint16", (0, 4), None, None, None),
        ("security_protocol", "int16", (0, 4), None, None, None),
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
        ("name", "string", (0, 4), None, None, None),
        ("min_supported_version", "int16", (0, 4), None, None, None),
        ("max_supported_version", "int16", (0, 4), None, None, None),
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


class BrokerRegistrationRequest(Message):
    __slots__ = ("broker_id", "cluster_id", "incarnation_id", "listeners", "features", "rack", "is_migrating_zk_broker", "log_dirs", "previous_broker_epoch")
    API_KEY = 62
    VERSIONS = (0, 4)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("broker_id", "int32", (0, 4), None, None, None),
        ("cluster_id", "string", (0, 4), None, None, None),
        ("incarnation_id", "uuid", (0, 4), None, None, None),
        ("listeners", "[]Listener", (0, 4), None, None, None),
        ("features", "[]Feature", (0, 4), None, None, None),
        ("rack", "string", (0, 4), (0, 4), None, None),
        ("is_migrating_zk_broker", "bool", (1, 4), None, None, None),
        ("log_dirs", "[]uuid", (2, 4), None, None, None),
        ("previous_broker_epoch", "int64", (3, 4), None, None, None),
    )

    def __init__(
        self,
        broker_id: int = 0,
        cluster_id: str = "",
        incarnation_id: bytes = ZERO_UUID,
        listeners: Sequence[Listener] = (),
        features: Sequence[Feature] = (),
        rack: str | None = "",
        is_migrating_zk_broker: bool = False,
        log_dirs: Sequence[bytes] = (),
        previous_broker_epoch: int = -1,
    ) -> None:
        self.broker_id = broker_id
        self.cluster_id = cluster_id
        self.incarnation_id = incarnation_id
        self.listeners = listeners
        self.features = features
        self.rack = rack
        self.is_migrating_zk_broker = is_migrating_zk_broker
        self.log_dirs = log_dirs
        self.previous_broker_epoch = previous_broker_epoch
