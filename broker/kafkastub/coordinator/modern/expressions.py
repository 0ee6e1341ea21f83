"""Regular expressions by which members subscribe to topics. Kafka: TopicRegexResolver, RE2/J."""

from __future__ import annotations

from collections.abc import Iterable


class Expression:
    """A regular expression of RE2, compiled.

    Raises: KafkaError INVALID_REGULAR_EXPRESSION with Kafka's message.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern

    def matches(self, names: Iterable[str]) -> list[str]:
        """Those of the names that match as a whole, in their order."""
        raise NotImplementedError
