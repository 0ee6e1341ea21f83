"""ConsumerGroupRegularExpressionKey (key 16), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class ConsumerGroupRegularExpressionKey(Message):
    __slots__ = ("group_id", "regular_expression")
    API_KEY = 16
    VERSIONS = (0, 0)
    FIELDS = (
        ("group_id", "string", (0, 0), None, None, None),
        ("regular_expression", "string", (0, 0), None, None, None),
    )

    def __init__(
        self,
        group_id: str = "",
        regular_expression: str = "",
    ) -> None:
        self.group_id = group_id
        self.regular_expression = regular_expression
