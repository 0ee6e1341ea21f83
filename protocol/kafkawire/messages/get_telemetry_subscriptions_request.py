"""GetTelemetrySubscriptionsRequest (key 71), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import ZERO_UUID, Message


class GetTelemetrySubscriptionsRequest(Message):
    __slots__ = ("client_instance_id",)
    API_KEY = 71
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("client_instance_id", "uuid", (0, 0), None, None, None),
    )

    def __init__(
        self,
        client_instance_id: bytes = ZERO_UUID,
    ) -> None:
        self.client_instance_id = client_instance_id
