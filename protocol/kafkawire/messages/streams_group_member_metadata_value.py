"""StreamsGroupMemberMetadataValue (key 19), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class Endpoint(Struct):
    __slots__ = ("host", "port")
    FIELDS = (
        ("host", "string", (0, 0), None, None, None),
        ("port", "uint16", (0, 0), None, None, None),
    )

    def __init__(
        self,
        host: str = "",
        port: int = 0,
    ) -> None:
        self.host = host
        self.port = port


class KeyValue(Struct):
    __slots__ = ("key", "value")
    FIELDS = (
        ("key", "string", (0, 0), None, None, None),
        ("value", "string", (0, 0), None, None, None),
    )

    def __init__(
        self,
        key: str = "",
        value: str = "",
    ) -> None:
        self.key = key
        self.value = value


class StreamsGroupMemberMetadataValue(Message):
    __slots__ = ("instance_id", "rack_id", "client_id", "client_host", "rebalance_timeout_ms", "topology_epoch", "process_id", "user_endpoint", "client_tags")
    API_KEY = 19
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("instance_id", "string", (0, 0), (0, 0), None, None),
        ("rack_id", "string", (0, 0), (0, 0), None, None),
        ("client_id", "string", (0, 0), None, None, None),
        ("client_host", "string", (0, 0), None, None, None),
        ("rebalance_timeout_ms", "int32", (0, 0), None, None, None),
        ("topology_epoch", "int32", (0, 0), None, None, None),
        ("process_id", "string", (0, 0), None, None, None),
        ("user_endpoint", "Endpoint", (0, 0), (0, 0), None, None),
        ("client_tags", "[]KeyValue", (0, 0), None, None, None),
    )

    def __init__(
        self,
        instance_id: str | None = "",
        rack_id: str | None = "",
        client_id: str = "",
        client_host: str = "",
        rebalance_timeout_ms: int = -1,
        topology_epoch: int = 0,
        process_id: str = "",
        user_endpoint: Endpoint | None = None,
        client_tags: Sequence[KeyValue] = (),
    ) -> None:
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.client_id = client_id
        self.client_host = client_host
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.topology_epoch = topology_epoch
        self.process_id = process_id
        self.user_endpoint = user_endpoint
        self.client_tags = client_tags
