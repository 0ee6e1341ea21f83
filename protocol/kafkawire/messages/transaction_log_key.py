"""TransactionLogKey (key 0), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class TransactionLogKey(Message):
    __slots__ = ("transactional_id",)
    API_KEY = 0
    VERSIONS = (0, 0)
    FIELDS = (
        ("transactional_id", "string", (0, 0), None, None, None),
    )

    def __init__(
        self,
        transactional_id: str = "",
    ) -> None:
        self.transactional_id = transactional_id
