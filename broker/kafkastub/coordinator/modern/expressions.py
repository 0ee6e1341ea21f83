"""Regular expressions by which members subscribe to topics.

Kafka: TopicRegexResolver, Utils.throwIfRegularExpressionIsInvalid, and RE2/J. RE2 itself takes seconds and gigabytes to
compile some expressions of a few kilobytes, so this room has its own (`regex/`), for the characters of topic names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from kafkastub.coordinator.modern.regex.automaton import Automaton
from kafkastub.coordinator.modern.regex.parser import Parser, SyntaxFault
from kafkawire.errors import ErrorCode, KafkaError

LONGEST: Final = 4096
"""Characters of an expression. Kafka has no limit of its own, but then compiles for long."""


class Expression:
    """A regular expression with RE2's syntax, compiled.

    Attributes:
        pattern: as the member wrote it.

    Raises: KafkaError INVALID_REGULAR_EXPRESSION with Kafka's message.
    """

    __slots__ = ("_automaton", "pattern")

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        if len(pattern) > LONGEST:
            raise KafkaError(
                ErrorCode.INVALID_REGULAR_EXPRESSION,
                f"SubscribedTopicRegex has {len(pattern)} characters; this broker takes {LONGEST}.",
            )
        try:
            self._automaton = Automaton(Parser(pattern).parse())
        except SyntaxFault as fault:
            raise KafkaError(
                ErrorCode.INVALID_REGULAR_EXPRESSION,
                f"SubscribedTopicRegex `{pattern}` is not a valid regular expression: {fault}.",
            ) from None

    def matches(self, names: Iterable[str]) -> list[str]:
        """Those of the names that match as a whole, in their order."""
        return [name for name in self._automaton.matching(names) if name is not None]

    def matching(self, names: Iterable[str]) -> Iterator[str | None]:
        """The same, one after the other, with a None between them after some milliseconds of work.

        Who serves others takes what comes up to a None, lets them have their turn, and goes on.
        """
        return self._automaton.matching(names)
