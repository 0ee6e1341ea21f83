"""FindCoordinatorResponse (key 10), versions 0-6. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class Coordinator(Struct):
    __slots__ = ("key", "node_id", "host", "port", "error_code", "error_message")
    FIELDS = (
        ("key", "string", (4, 6), None, None, None),
        ("node_id", "int32", (4, 6), None, None, None),
        ("host", "string", (4, 6), None, None, None),
        ("port", "int32", (4, 6), None, None, None),
        ("error_code", "int16", (4, 6), None, None, None),
        ("error_message", "string", (4, 6), (4, 6), None, None),
    )

    def __init__(
        self,
        key: str = "",
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.key = key
        self.node_id = node_id
        self.host = host
        self.port = port
        self.error_code = error_code
        self.error_message = error_message


class FindCoordinatorResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "error_message", "node_id", "host", "port", "coordinators")
    API_KEY = 10
    VERSIONS = (0, 6)
    FLEXIBLE = (3, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (1, 6), None, None, None),
        ("error_code", "int16", (0, 3), None, None, None),
        ("error_message", "string", (1, 3), (1, 3), None, None),
        ("node_id", "int32", (0, 3), None, None, None),
        ("host", "string", (0, 3), None, None, None),
        ("port", "int32", (0, 3), None, None, None),
        ("coordinators", "[]Coordinator", (4, 6), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        coordinators: Sequence[Coordinator] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.node_id = node_id
        self.host = host
        self.port = port
        self.coordinators = coordinators
