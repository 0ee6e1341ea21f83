"""LegacyOffsetCommitValue (key 0), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class LegacyOffsetCommitValue(Message):
    __slots__ = ("offset", "metadata", "commit_timestamp")
    API_KEY = 0
    VERSIONS = (0, 0)
    FIELDS = (
        ("offset", "int64", (0, 0), None, None, None),
        ("metadata", "string", (0, 0), None, None, None),
        ("commit_timestamp", "int64", (0, 0), None, None, None),
    )

    def __init__(
        self,
        offset: int = 0,
        metadata: str = "",
        commit_timestamp: int = 0,
    ) -> None:
        self.offset = offset
        self.metadata = metadata
        self.commit_timestamp = commit_timestamp
