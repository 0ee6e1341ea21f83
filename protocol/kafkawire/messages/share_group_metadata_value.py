"""ShareGroupMetadataValue (key 11), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class ShareGroupMetadataValue(Message):
    __slots__ = ("epoch", "metadata_hash")
    API_KEY = 11
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("epoch", "int32", (0, 0), None, None, None),
        ("metadata_hash", "int64", (0, 0), None, None, None),
    )

    def __init__(
        self,
        epoch: int = 0,
        metadata_hash: int = 0,
    ) -> None:
        self.epoch = epoch
        self.metadata_hash = metadata_hash
