"""ListTransactionsRequest (key 66), versions 0-2. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message


class ListTransactionsRequest(Message):
    __slots__ = ("state_filters", "producer_id_filters", "duration_filter", "transactional_id_pattern")
    API_KEY = 66
    VERSIONS = (0, 2)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("state_filters", "[]string", (0, 2), None, None, None),
        ("producer_id_filters", "[]int64", (0, 2), None, None, None),
        ("duration_filter", "int64", (1, 2), None, None, None),
        ("transactional_id_pattern", "string", (2, 2), (2, 2), None, None),
    )

    def __init__(
        self,
        state_filters: Sequence[str] = (),
        producer_id_filters: Sequence[int] = (),
        duration_filter: int = -1,
        transactional_id_pattern: str | None = None,
    ) -> None:
        self.state_filters = state_filters
        self.producer_id_filters = producer_id_filters
        self.duration_filter = duration_filter
        self.transactional_id_pattern = transactional_id_pattern
