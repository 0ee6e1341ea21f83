"""InitProducerIdResponse (key 22), versions 0-6. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class InitProducerIdResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "producer_id", "producer_epoch", "ongoing_txn_producer_id", "ongoing_txn_producer_epoch")
    API_KEY = 22
    VERSIONS = (0, 6)
    FLEXIBLE = (2, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (0, 6), None, None, None),
        ("error_code", "int16", (0, 6), None, None, None),
        ("producer_id", "int64", (0, 6), None, None, None),
        ("producer_epoch", "int16", (0, 6), None, None, None),
        ("ongoing_txn_producer_id", "int64", (6, 6), None, None, None),
        ("ongoing_txn_producer_epoch", "int16", (6, 6), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        producer_id: int = -1,
        producer_epoch: int = 0,
        ongoing_txn_producer_id: int = -1,
        ongoing_txn_producer_epoch: int = -1,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.ongoing_txn_producer_id = ongoing_txn_producer_id
        self.ongoing_txn_producer_epoch = ongoing_txn_producer_epoch
