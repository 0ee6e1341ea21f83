"""BrokerHeartbeatResponse (key 63), versions 0-2. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class BrokerHeartbeatResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "is_caught_up", "is_fenced", "should_shut_down")
    API_KEY = 63
    VERSIONS = (0, 2)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (0, 2), None, None, None),
        ("error_code", "int16", (0, 2), None, None, None),
        ("is_caught_up", "bool", (0, 2), None, None, None),
        ("is_fenced", "bool", (0, 2), None, None, None),
        ("should_shut_down", "bool", (0, 2), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        is_caught_up: bool = False,
        is_fenced: bool = True,
        should_shut_down: bool = False,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.is_caught_up = is_caught_up
        self.is_fenced = is_fenced
        self.should_shut_down = should_shut_down
