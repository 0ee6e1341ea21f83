"""SyncGroupResponse (key 14), versions 0-5. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class SyncGroupResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "protocol_type", "protocol_name", "assignment")
    API_KEY = 14
    VERSIONS = (0, 5)
    FLEXIBLE = (4, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (1, 5), None, None, None),
        ("error_code", "int16", (0, 5), None, None, None),
        ("protocol_type", "string", (5, 5), (5, 5), None, None),
        ("protocol_name", "string", (5, 5), (5, 5), None, None),
        ("assignment", "bytes", (0, 5), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        protocol_type: str | None = None,
        protocol_name: str | None = None,
        assignment: bytes = b"",
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.protocol_type = protocol_type
        self.protocol_name = protocol_name
        self.assignment = assignment
