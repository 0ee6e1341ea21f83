"""GetTelemetrySubscriptionsResponse (key 71), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message


class GetTelemetrySubscriptionsResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "client_instance_id", "subscription_id", "accepted_compression_types", "push_interval_ms", "telemetry_max_bytes", "delta_temporality", "requested_metrics")
    API_KEY = 71
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (0, 0), None, None, None),
        ("error_code", "int16", (0, 0), None, None, None),
        ("client_instance_id", "uuid", (0, 0), None, None, None),
        ("subscription_id", "int32", (0, 0), None, None, None),
        ("accepted_compression_types", "[]int8", (0, 0), None, None, None),
        ("push_interval_ms", "int32", (0, 0), None, None, None),
        ("telemetry_max_bytes", "int32", (0, 0), None, None, None),
        ("delta_temporality", "bool", (0, 0), None, None, None),
        ("requested_metrics", "[]string", (0, 0), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        client_instance_id: bytes = ZERO_UUID,
        subscription_id: int = 0,
        accepted_compression_types: Sequence[int] = (),
        push_interval_ms: int = 0,
        telemetry_max_bytes: int = 0,
        delta_temporality: bool = False,
        requested_metrics: Sequence[str] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.client_instance_id = client_instance_id
        self.subscription_id = subscription_id
        self.accepted_compression_types = accepted_compression_types
        self.push_interval_ms = push_interval_ms
        self.telemetry_max_bytes = telemetry_max_bytes
        self.delta_temporality = delta_temporality
        self.requested_metrics = requested_metrics
