"""UnregisterBrokerRequest (key 64), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class UnregisterBrokerRequest(Message):
    __slots__ = ("broker_id",)
    API_KEY = 64
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("broker_id", "int32", (0, 0), None, None, None),
    )

    def __init__(
        self,
        broker_id: int = 0,
    ) -> None:
        self.broker_id = broker_id
