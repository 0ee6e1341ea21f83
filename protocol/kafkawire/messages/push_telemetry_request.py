"""PushTelemetryRequest (key 72), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import ZERO_UUID, Message


class PushTelemetryRequest(Message):
    __slots__ = ("client_instance_id", "subscription_id", "terminating", "compression_type", "metrics")
    API_KEY = 72
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("client_instance_id", "uuid", (0, 0), None, None, None),
        ("subscription_id", "int32", (0, 0), None, None, None),
        ("terminating", "bool", (0, 0), None, None, None),
        ("compression_type", "int8", (0, 0), None, None, None),
        ("metrics", "bytes", (0, 0), None, None, None),
    )

    def __init__(
        self,
        client_instance_id: bytes = ZERO_UUID,
        subscription_id: int = 0,
        terminating: bool = False,
        compression_type: int = 0,
        metrics: bytes = b"",
    ) -> None:
        self.client_instance_id = client_instance_id
        self.subscription_id = subscription_id
        self.terminating = terminating
        self.compression_type = compression_type
        self.metrics = metrics
