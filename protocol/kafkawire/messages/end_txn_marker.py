"""EndTxnMarker, version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class EndTxnMarker(Message):
    __slots__ = ("coordinator_epoch",)
    VERSIONS = (0, 0)
    FIELDS = (
        ("coordinator_epoch", "int32", (0, 0), None, None, None),
    )

    def __init__(
        self,
        coordinator_epoch: int = 0,
    ) -> None:
        self.coordinator_epoch = coordinator_epoch
