"""InitProducerIdRequest (key 22), versions 0-6. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class InitProducerIdRequest(Message):
    __slots__ = ("transactional_id", "transaction_timeout_ms", "producer_id", "producer_epoch", "enable2_pc", "keep_prepared_txn")
    API_KEY = 22
    VERSIONS = (0, 6)
    FLEXIBLE = (2, 32767)
    FIELDS = (
        ("transactional_id", "string", (0, 6), (0, 6), None, None),
        ("transaction_timeout_ms", "int32", (0, 6), None, None, None),
        ("producer_id", "int64", (3, 6), None, None, None),
        ("producer_epoch", "int16", (3, 6), None, None, None),
        ("enable2_pc", "bool", (6, 6), None, None, None),
        ("keep_prepared_txn", "bool", (6, 6), None, None, None),
    )

    def __init__(
        self,
        transactional_id: str | None = "",
        transaction_timeout_ms: int = 0,
        producer_id: int = -1,
        producer_epoch: int = -1,
        enable2_pc: bool = False,
        keep_prepared_txn: bool = False,
    ) -> None:
        self.transactional_id = transactional_id
        self.transaction_timeout_ms = transaction_timeout_ms
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.enable2_pc = enable2_pc
        self.keep_prepared_txn = keep_prepared_txn
