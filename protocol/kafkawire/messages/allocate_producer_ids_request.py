"""AllocateProducerIdsRequest (key 67), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class AllocateProducerIdsRequest(Message):
    __slots__ = ("broker_id", "broker_epoch")
    API_KEY = 67
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("broker_id", "int32", (0, 0), None, None, None),
        ("broker_epoch", "int64", (0, 0), None, None, None),
    )

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = -1,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
