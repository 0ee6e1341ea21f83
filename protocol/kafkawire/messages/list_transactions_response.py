"""ListTransactionsResponse (key 66), versions 0-2. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class TransactionState(Struct):
    __slots__ = ("transactional_id", "producer_id", "transaction_state")
    FIELDS = (
        ("transactional_id", "string", (0, 2), None, None, None),
        ("producer_id", "int64", (0, 2), None, None, None),
        ("transaction_state", "string", (0, 2), None, None, None),
    )

    def __init__(
        self,
        transactional_id: str = "",
        producer_id: int = 0,
        transaction_state: str = "",
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.transaction_state = transaction_state


class ListTransactionsResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "unknown_state_filters", "transaction_states")
    API_KEY = 66
    VERSIONS = (0, 2)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (0, 2), None, None, None),
        ("error_code", "int16", (0, 2), None, None, None),
        ("unknown_state_filters", "[]string", (0, 2), None, None, None),
        ("transaction_states", "[]TransactionState", (0, 2), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        unknown_state_filters: Sequence[str] = (),
        transaction_states: Sequence[TransactionState] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.unknown_state_filters = unknown_state_filters
        self.transaction_states = transaction_states
