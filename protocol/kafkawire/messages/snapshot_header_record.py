"""SnapshotHeaderRecord, version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class SnapshotHeaderRecord(Message):
    __slots__ = ("version", "last_contained_log_timestamp")
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("version", "int16", (0, 0), None, None, None),
        ("last_contained_log_timestamp", "int64", (0, 0), None, None, None),
    )

    def __init__(
        self,
        version: int = 0,
        last_contained_log_timestamp: int = 0,
    ) -> None:
        self.version = version
        self.last_contained_log_timestamp = last_contained_log_timestamp
