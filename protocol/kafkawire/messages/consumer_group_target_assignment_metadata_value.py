"""ConsumerGroupTargetAssignmentMetadataValue (key 6), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class ConsumerGroupTargetAssignmentMetadataValue(Message):
    __slots__ = ("assignment_epoch", "assignment_timestamp")
    API_KEY = 6
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("assignment_epoch", "int32", (0, 0), None, None, None),
        ("assignment_timestamp", "int64", (0, 0), None, 0, (0, 0)),
    )

    def __init__(
        self,
        assignment_epoch: int = 0,
        assignment_timestamp: int = 0,
    ) -> None:
        self.assignment_epoch = assignment_epoch
        self.assignment_timestamp = assignment_timestamp
