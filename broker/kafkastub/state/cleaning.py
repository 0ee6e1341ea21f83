"""Retention and compaction of all logs, between requests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from kafkastub.state.turns import Turns
from kafkastub.storage import LogManager
from kafkawire.errors import KafkaError


class Cleaning:
    """One round at a time."""

    __slots__ = ("_logs", "_turns", "_under_way")

    def __init__(self, logs: LogManager, turns: Turns) -> None:
        self._logs = logs
        self._turns = turns
        self._under_way = False

    def begin(self, broker_ms: int) -> None:
        """The first part of a round now, the others in their turns; nothing where one is under way."""
        if not self._under_way:
            self._turns.begin(self._round(broker_ms))

    def _round(self, broker_ms: int) -> Iterator[None]:
        self._under_way = True
        try:
            with suppress(KafkaError):  # a disk that takes no more: nothing has happened
                yield from self._logs.cleaning(broker_ms)
        finally:
            self._under_way = False
