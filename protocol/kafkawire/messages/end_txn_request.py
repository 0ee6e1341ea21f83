"""EndTxnRequest (key 26), versions 0-5. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class EndTxnRequest(Message):
    __slots__ = ("transactional_id", "producer_id", "producer_epoch", "committed")
    API_KEY = 26
    VERSIONS = (0, 5)
    FLEXIBLE = (3, 32767)
    FIELDS = (
        ("transactional_id", "string", (0, 5), None, None, None),
        ("producer_id", "int64", (0, 5), None, None, None),
        ("producer_epoch", "int16", (0, 5), None, None, None),
        ("committed", "bool", (0, 5), None, None, None),
    )

    def __init__(
        self,
        transactional_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        committed: bool = False,
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.committed = committed
