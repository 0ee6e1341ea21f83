"""BrokerRegistrationResponse (key 62), versions 0-4. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class BrokerRegistrationResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "broker_epoch")
    API_KEY = 62
    VERSIONS = (0, 4)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (0, 4), None, None, None),
        ("error_code", "int16", (0, 4), None, None, None),
        ("broker_epoch", "int64", (0, 4), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        broker_epoch: int = -1,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.broker_epoch = broker_epoch
