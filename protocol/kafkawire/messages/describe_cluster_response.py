"""DescribeClusterResponse (key 60), versions 0-2. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class DescribeClusterBroker(Struct):
    __slots__ = ("broker_id", "host", "port", "rack", "is_fenced")
    FIELDS = (
        ("broker_id", "int32", (0, 2), None, None, None),
        ("host", "string", (0, 2), None, None, None),
        ("port", "int32", (0, 2), None, None, None),
        ("rack", "string", (0, 2), (0, 2), None, None),
        ("is_fenced", "bool", (2, 2), None, None, None),
    )

    def __init__(
        self,
        broker_id: int = 0,
        host: str = "",
        port: int = 0,
        rack: str | None = None,
        is_fenced: bool = False,
    ) -> None:
        self.broker_id = broker_id
        self.host = host
        self.port = port
        self.rack = rack
        self.is_fenced = is_fenced


class DescribeClusterResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "error_message", "endpoint_type", "cluster_id", "controller_id", "brokers", "cluster_authorized_operations")
    API_KEY = 60
    VERSIONS = (0, 2)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (0, 2), None, None, None),
        ("error_code", "int16", (0, 2), None, None, None),
        ("error_message", "string", (0, 2), (0, 2), None, None),
        ("endpoint_type", "int8", (1, 2), None, None, None),
        ("cluster_id", "string", (0, 2), None, None, None),
        ("controller_id", "int32", (0, 2), None, None, None),
        ("brokers", "[]DescribeClusterBroker", (0, 2), None, None, None),
        ("cluster_authorized_operations", "int32", (0, 2), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        endpoint_type: int = 1,
        cluster_id: str = "",
        controller_id: int = -1,
        brokers: Sequence[DescribeClusterBroker] = (),
        cluster_authorized_operations: int = -2147483648,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.endpoint_type = endpoint_type
        self.cluster_id = cluster_id
        self.controller_id = controller_id
        self.brokers = brokers
        self.cluster_authorized_operations = cluster_authorized_operations
