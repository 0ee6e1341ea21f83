"""AllocateProducerIdsResponse (key 67), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class AllocateProducerIdsResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "producer_id_start", "producer_id_len")
    API_KEY = 67
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (0, 0), None, None, None),
        ("error_code", "int16", (0, 0), None, None, None),
        ("producer_id_start", "int64", (0, 0), None, None, None),
        ("producer_id_len", "int32", (0, 0), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        producer_id_start: int = 0,
        producer_id_len: int = 0,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.producer_id_start = producer_id_start
        self.producer_id_len = producer_id_len
