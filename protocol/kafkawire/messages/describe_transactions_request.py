"""DescribeTransactionsRequest (key 65), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message


class DescribeTransactionsRequest(Message):
    __slots__ = ("transactional_ids",)
    API_KEY = 65
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("transactional_ids", "[]string", (0, 0), None, None, None),
    )

    def __init__(
        self,
        transactional_ids: Sequence[str] = (),
    ) -> None:
        self.transactional_ids = transactional_ids
