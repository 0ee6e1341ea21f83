"""The logs of one topic, each made when it is first asked for: of a hundred thousand partitions most stay empty."""

from __future__ import annotations

from collections.abc import Callable

from .log import PartitionLog
from .settings import LogSettings

MakeLog = Callable[[str, LogSettings], PartitionLog]


class LogsOfTopic(dict[int, PartitionLog | None]):
    """By partition; asked with `[]` it makes the log of one that exists, and gives None for any other.

    Attributes:
        count: that many partitions from 0 on exist, whether they have a log yet or not.
        settings: of logs that are made.
        epochs: leader epochs that have begun in partitions without a log, in order.
    """

    __slots__ = ("_make", "_name", "count", "epochs", "settings")

    def __init__(self, make: MakeLog) -> None:
        """`make` is given a name and settings."""
        super().__init__()
        self._make = make
        self._name = ""
        self.count = 0
        self.settings = LogSettings()
        self.epochs: dict[int, list[int]] = {}

    def extend(self, count: int, settings: LogSettings, name: str) -> None:
        """There are so many partitions; `name` is the topic's."""
        self.count, self.settings, self._name = count, settings, name

    def __missing__(self, partition: int) -> PartitionLog | None:
        if not 0 <= partition < self.count:
            return None
        log = self[partition] = self._make(f"{self._name}-{partition}", self.settings)
        for epoch in self.epochs.pop(partition, ()):
            log.become_leader(epoch)
        return log
