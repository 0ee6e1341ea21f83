"""AddOffsetsToTxnRequest (key 25), versions 0-4. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class AddOffsetsToTxnRequest(Message):
    __slots__ = ("transactional_id", "producer_id", "producer_epoch", "group_id")
    API_KEY = 25
    VERSIONS = (0, 4)
    FLEXIBLE = (3, 32767)
    FIELDS = (
        ("transactional_id", "string", (0, 4), None, None, None),
        ("producer_id", "int64", (0, 4), None, None, None),
        ("producer_epoch", "int16", (0, 4), None, None, None),
        ("group_id", "string", (0, 4), None, None, None),
    )

    def __init__(
        self,
        transactional_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        group_id: str = "",
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.group_id = group_id
