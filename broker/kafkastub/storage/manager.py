"""All logs of the broker."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from kafkawire.errors import ErrorCode

from .errors import AppendError
from .log import Appended, PartitionLog, SavedLog
from .producer_ids import ProducerIds
from .settings import LogSettings
from .topic_logs import LogsOfTopic
from .unpacker import Unpacker
from .upkeep import Upkeep
from .validation import Unpacking

_MOVED_MS: Final = 1000
"""Clocks that differ by less are one: the broker's was read before. What is refused may take long to look at again."""

_AT_ONCE: Final = 1000
"""Records that compaction looks at before others have their turn; three milliseconds."""


class SavedLogs(NamedTuple):
    """What the logs of a topic were at some time; nothing in it ever changes.

    Attributes:
        made: the logs that somebody had asked for, by partition.
        epochs: leader epochs that had begun in the others, in order.
    """

    made: Mapping[int, SavedLog]
    epochs: Mapping[int, Sequence[int]]


class LogManager:
    """Logs by topic id and partition.

    Attributes:
        producer_ids: where producers get their ids.
        unpacker: unpacks batches that are looked into after they were stored.
        wall_ms: the wall clock in unix milliseconds, which bounds on record timestamps are measured from; None takes
            the broker's time (which a test may have moved far from any client's clock).
        mark_dirty: called where `perishable` may have become true.
        say: called with what the broker's log is to have.
    """

    def __init__(self, wall_ms: Callable[[], int] | None = None) -> None:
        self.producer_ids = ProducerIds()
        self.unpacker = Unpacker()
        self.wall_ms = wall_ms
        self.mark_dirty: Callable[[], None] = lambda: None
        self.say: Callable[[str], object] = lambda why: None
        self._logs: dict[bytes, LogsOfTopic] = {}
        self._kept: dict[PartitionLog, Upkeep] = {}
        self._perishable: dict[PartitionLog, Upkeep] = {}

    @property
    def is_empty(self) -> bool:
        """Whether no log has ever had a record."""
        return all(log.log_end_offset == 0 for topic_id in self._logs for log in self.made(topic_id))

    @property
    def extent(self) -> tuple[int, int]:
        """All logs' start offsets together, and their end offsets: another one where anything came or went."""
        logs = [log for topic_id in self._logs for log in self.made(topic_id)]
        return sum(log.log_start_offset for log in logs), sum(log.log_end_offset for log in logs)

    def append(
        self,
        log: PartitionLog,
        records: bytes | memoryview,
        *,
        leader_epoch: int,
        now_ms: int,
        unpacking: Unpacking | None = None,
    ) -> Appended:
        """As `PartitionLog.append`, with the bounds on timestamps measured from the wall clock; what they refuse, from
        broker time too, where somebody has moved that.

        Clients stamp with the wall clock. But who passes on what was stamped with broker time is as right:
        `KafkaStub.produce` stamps so, and Kafka Streams takes its input's timestamps.
        """
        wall_ms = None if self.wall_ms is None else self.wall_ms()
        append = partial(
            log.append, records, leader_epoch=leader_epoch, now_ms=now_ms, bounds_ms=wall_ms, unpacking=unpacking
        )
        try:
            return append()
        except AppendError as error:
            ahead_ms = 0 if wall_ms is None else now_ms - wall_ms
            if error.code != ErrorCode.INVALID_TIMESTAMP or abs(ahead_ms) < _MOVED_MS:
                raise
            refused = error
        try:
            return append(settings=log.settings.with_wider_bounds(ahead_ms))
        except AppendError:
            raise refused from None

    def log(self, topic_id: bytes, partition: int) -> PartitionLog | None:
        """A partition's log, which is made if need be; None where there is no such partition."""
        of_topic = self._logs.get(topic_id)
        return None if of_topic is None else of_topic[partition]

    def look(self, topic_id: bytes, partition: int) -> PartitionLog | None:
        """A partition's log; None also where nobody has asked for it yet, so that it is empty."""
        of_topic = self._logs.get(topic_id)
        return None if of_topic is None else of_topic.get(partition)

    def is_touched(self, topic_id: bytes, partition: int) -> bool:
        """Whether somebody has asked for a partition's log, or it has another leader epoch than a new one."""
        of_topic = self._logs.get(topic_id)
        return of_topic is not None and (partition in of_topic or partition in of_topic.epochs)

    def made(self, topic_id: bytes) -> Iterator[PartitionLog]:
        """The logs of one topic that were ever asked for, in any order; all others are empty."""
        return (log for log in list(self._logs.get(topic_id, {}).values()) if log is not None)

    def extend(self, topic_id: bytes, count: int, settings: LogSettings, name: str) -> None:
        """A topic has so many partitions now; those that are new have empty logs, and all that are made go by these
        settings. `name` is the topic's.
        """
        self._of(topic_id).extend(count, settings, name)

    def become_leader(self, topic_id: bytes, partition: int, leader_epoch: int) -> None:
        """A leader epoch begins in a partition, at the end of its log."""
        of_topic = self._of(topic_id)
        log = of_topic.get(partition)
        if log is not None:
            log.become_leader(leader_epoch)
        elif partition < of_topic.count:
            of_topic.epochs.setdefault(partition, []).append(leader_epoch)

    def saved(self, topic_id: bytes) -> SavedLogs:
        """What a topic's logs are now. Costs what those have that somebody has asked for."""
        of_topic = self._of(topic_id)
        epochs = {partition: tuple(one) for partition, one in of_topic.epochs.items()}
        return SavedLogs({p: log.saved() for p, log in sorted(of_topic.items()) if log is not None}, epochs)

    def take_up(self, topic_id: bytes, saved: SavedLogs) -> None:
        """Let a topic's logs, of which none was asked for, be what was saved."""
        of_topic = self._of(topic_id)
        of_topic.epochs = {partition: list(epochs) for partition, epochs in saved.epochs.items()}
        for partition, one in saved.made.items():
            log = of_topic[partition]
            if log is not None:
                log.take_up(one)

    def _of(self, topic_id: bytes) -> LogsOfTopic:
        found = self._logs.get(topic_id)
        return self._logs.setdefault(topic_id, LogsOfTopic(self._made)) if found is None else found

    def _made(self, name: str, settings: LogSettings, leader_epoch: int = 0) -> PartitionLog:
        log = self._new_log(name, settings, leader_epoch)
        self._kept[log] = Upkeep(log, lambda why: self.say(why))
        self._configured(log)
        return log

    def create(
        self,
        topic_id: bytes,
        partition: int,
        settings: LogSettings | Mapping[str, Any] | None = None,
        *,
        name: str = "",
        leader_epoch: int = 0,
    ) -> PartitionLog:
        """A new, empty log. `settings`: those, or a topic's typed values by Kafka's names, or Kafka's
        defaults.

        `name` is how messages call it (it may be set later). ValueError where there is a log already.
        """
        of_topic = self._of(topic_id)
        if partition in of_topic:
            raise ValueError(f"a log for partition {partition} of this topic exists")
        log = of_topic[partition] = self._made(name, _settings(settings), leader_epoch)
        return log

    def add(self, topic_id: bytes, partition: int, log: PartitionLog) -> None:
        """A log that was made elsewhere, and is kept in order there. ValueError where there is one already."""
        of_topic = self._of(topic_id)
        if partition in of_topic:
            raise ValueError(f"a log for partition {partition} of this topic exists")
        of_topic[partition] = log

    def configure(self, topic_id: bytes, settings: LogSettings | Mapping[str, Any]) -> None:
        """A topic's configuration has changed."""
        typed = _settings(settings)
        if topic_id in self._logs:
            self._logs[topic_id].settings = typed
        for log in self.made(topic_id):
            log.settings = typed
            self._configured(log)

    def of_topic(self, topic_id: bytes) -> Iterator[PartitionLog]:
        """The logs of one topic, by partition; each is made if need be."""
        of_topic = self._logs.get(topic_id)
        if of_topic is not None:
            for partition in sorted({*range(of_topic.count), *of_topic}):
                log = of_topic[partition]
                if log is not None:
                    yield log

    def delete(self, topic_id: bytes) -> None:
        """Forget a topic's logs; nothing happens where there are none."""
        logs = self.made(topic_id)
        self._logs.pop(topic_id, None)
        for log in logs:
            self._let_go(log)

    def let_go(self) -> None:
        """Nobody asks for any of them any more; what has their batches as well keeps them."""
        self._logs.clear()
        for log in list(self._kept):
            self._let_go(log)

    def forget(self, topic_id: bytes, partition: int) -> None:
        """Forget the log of one partition, as if it had never been there; its topic stays."""
        of_topic = self._logs[topic_id]
        of_topic.epochs.pop(partition, None)
        log = of_topic.pop(partition, None)
        if log is not None:
            self._let_go(log)

    def _let_go(self, log: PartitionLog) -> None:
        self._perishable.pop(log, None)
        upkeep = self._kept.pop(log, None)
        if upkeep is not None:
            upkeep.end()

    @property
    def perishable(self) -> bool:
        """Whether there is any log from which time or size may take something."""
        return bool(self._perishable)

    def clean(self, now_ms: int) -> None:
        """Retention and compaction: take away what is due at `now_ms` (broker time)."""
        for upkeep in self._perishable.values():
            upkeep.run(now_ms)

    def cleaning(self, now_ms: int) -> Iterator[None]:
        """The same part by part."""
        left = _AT_ONCE
        for upkeep in list(self._perishable.values()):
            for count in upkeep.steps(now_ms, self.unpacker):
                left -= count
                if left <= 0:
                    yield
                    left = _AT_ONCE

    def _new_log(self, name: str, settings: LogSettings, leader_epoch: int) -> PartitionLog:
        return PartitionLog(name, settings, leader_epoch)

    def _configured(self, log: PartitionLog) -> None:
        upkeep = self._kept.get(log)
        if upkeep is not None and log.settings.perishable:
            self._perishable[log] = upkeep
            self.mark_dirty()
        else:
            self._perishable.pop(log, None)


def _settings(settings: LogSettings | Mapping[str, Any] | None) -> LogSettings:
    if settings is None:
        return LogSettings()
    return settings if isinstance(settings, LogSettings) else LogSettings.from_topic(settings)
