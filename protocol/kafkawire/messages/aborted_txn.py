"""AbortedTxn, version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class AbortedTxn(Message):
    __slots__ = ("producer_id", "first_offset", "last_offset", "last_stable_offset")
    VERSIONS = (0, 0)
    FIELDS = (
        ("producer_id", "int64", (0, 0), None, None, None),
        ("first_offset", "int64", (0, 0), None, None, None),
        ("last_offset", "int64", (0, 0), None, None, None),
        ("last_stable_offset", "int64", (0, 0), None, None, None),
    )

    def __init__(
        self,
        producer_id: int = 0,
        first_offset: int = 0,
        last_offset: int = 0,
        last_stable_offset: int = 0,
    ) -> None:
        self.producer_id = producer_id
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.last_stable_offset = last_stable_offset
