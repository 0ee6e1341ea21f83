"""SnapshotFooterRecord, version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class SnapshotFooterRecord(Message):
    __slots__ = ("version",)
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("version", "int16", (0, 0), None, None, None),
    )

    def __init__(
        self,
        version: int = 0,
    ) -> None:
        self.version = version
