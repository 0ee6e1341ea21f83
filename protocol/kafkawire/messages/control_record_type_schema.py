"""ControlRecordTypeSchema, version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class ControlRecordTypeSchema(Message):
    __slots__ = ("type",)
    VERSIONS = (0, 0)
    FIELDS = (
        ("type", "int16", (0, 0), None, None, None),
    )

    def __init__(
        self,
        type: int = 0,
    ) -> None:
        self.type = type
