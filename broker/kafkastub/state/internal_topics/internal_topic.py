"""A topic that a coordinator writes its records to, and is loaded from.

At load, what the logs hold is applied to the coordinator, in memory or as batches that come from elsewhere.

A new internal topic is a `RecordCodec`, a `Coordinator` and an entry in `catalog`; `durable_topic` keeps it in a data
directory. `offsets_topic` is the one that has forms of its own, for millions of keys.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from kafkastub.state.internal_topics.contract import Loaded, R, Skipped, Turn, decoded
from kafkastub.state.internal_topics.topic_logs import Places, TopicLogs
from kafkastub.storage.batches import FoundBatch, batches_of
from kafkastub.storage.state_log import StateLog
from kafkastub.storage.state_log_items import SavedStateLog
from kafkawire.errors import MalformedMessage
from kafkawire.records import HEADER_SIZE, iterate_records
from kafkawire.records import Record as LogRecord


class SavedTopic(NamedTuple):
    """What an internal topic and its coordinator were at some time. Records are shared; nothing in it ever changes.

    Attributes:
        logs, places: by partition.
        order: partitions, as in the topic; `owners` names them, too.
        hard: what the coordinator has saved; None where its records lead to it.
    """

    logs: list[SavedStateLog]
    places: list[Places[Any]]
    remembered: int
    weight: int
    order: deque[int]
    fresh: deque[Any]
    owners: dict[str, int]
    partitions: int
    hard: object


class InternalTopic(TopicLogs[R]):
    """See `TopicLogs`, and the module."""

    # -- kept as a whole -----------------------------------------------------------------------------------------

    def saved(self) -> SavedTopic:
        """What topic and coordinator are now. Not while loading."""
        return SavedTopic(
            [log.saved_state() for log in self.logs],
            [self._places[log].copy() for log in self.logs],
            self._count,
            self._weight,
            self._order.copy(),
            self._fresh.copy(),
            {owner: log.partition for owner, log in self._owners.items()},
            self._partitions,
            None if self._kept is None else self._kept.saved(),
        )

    def take_up(self, saved: SavedTopic) -> None:
        """Be what was saved, of this topic or another one; the coordinator's `loaded` follows.

        The logs are there, and empty.
        """
        for log, of_log, places in zip(self.logs, saved.logs, saved.places, strict=True):
            log.take_up_state(of_log)
            self._places[log] = places.copy()
        self._count, self._weight, self._partitions = saved.remembered, saved.weight, saved.partitions
        self._order, self._fresh = saved.order.copy(), saved.fresh.copy()
        self._owners = {owner: self.logs[partition] for owner, partition in saved.owners.items()}
        if self._kept is not None:
            self._kept.take_up(saved.hard)
            return
        self.catch_up()
        for log in self.logs:
            for place in sorted(self._places[log].values(), key=lambda one: one.offset):
                self._coordinator.apply(place.record)
            for item in log.items[log.head :]:
                if type(item.content) is not bytes:
                    self._coordinator.apply(item.content)

    # -- loading -------------------------------------------------------------------------------------------------

    def reload(self, broker_ms: int, timer_ms: int) -> tuple[Turn[R], Turn[R]]:
        """Let the coordinator forget everything and load it from the logs, as when it moves away and back.

        The turns of both; what is parked is answered with NOT_COORDINATOR by the first.
        """
        unloaded = self.unload(broker_ms, timer_ms)
        for _ in self.load():
            pass
        return unloaded, self._coordinator.loaded(broker_ms, timer_ms)

    def unload(self, broker_ms: int, timer_ms: int) -> Turn[R]:
        """Let the coordinator forget everything; what the logs hold stays."""
        self.catch_up()
        return self._coordinator.unload(broker_ms, timer_ms)

    def load(self) -> Iterator[None]:
        """Apply what the logs hold, record by record, to a coordinator that was unloaded."""
        coordinator = self._coordinator
        places: dict[StateLog, Places[R]] = {log: {} for log in self.logs}
        for log in self.logs:
            for at, _, timestamp, record in self._loaded_from(log):
                if record is None:
                    continue
                yield
                coordinator.apply(record)
                if at < log.compacted_end:
                    self._place(places[log], record, at, timestamp)
        self._places = places
        for log in self.logs:
            log.forget_snapshot()

    def _loaded_from(self, log: StateLog) -> Iterable[Loaded[R]]:
        """What a log has to be applied, in order."""
        return decoded(self._codec, log.records(), self._skipped(log))

    def _owner_of(self, content: Any) -> str | None:
        """Whose an item is; None of what is nobody's."""
        return None if type(content) is bytes else self._codec.owner(content)

    def _skipped(self, log: StateLog) -> Skipped:
        def skipped(record: LogRecord, error: MalformedMessage) -> None:
            self._log.warning("record skipped", partition=log.name, offset=record.offset, why=str(error))

        return skipped

    # -- from batches --------------------------------------------------------------------------------------------

    def take_up_batches(self, batches: Sequence[bytes]) -> None:
        """The same all at once, of each partition's batches; the coordinator's `loaded` follows. KafkaError."""
        for _ in self.load_batches({log: [memoryview(data)] for log, data in zip(self.logs, batches, strict=True)}):
            pass

    def load_batches(self, read: dict[StateLog, list[memoryview]]) -> Iterator[None]:
        """Fill the logs and the coordinator, both empty, with whole batches of each log; batch by batch.

        They are taken out of `read`. KafkaError for a broken one.
        """
        tails = self._tails({log: [b for d in data for b in batches_of(d)] for log, data in read.items()})
        yield
        for log in self.logs:
            for data in read.pop(log):
                for batch in batches_of(data):
                    self._load(log, batch, batch.header.base_offset >= tails[log])
                    yield
        items = sorted((item.timestamp, log.partition) for log in self.logs for item in log.items)
        self._order = deque(partition for _, partition in items)
        self._count = sum(item.records for log in self.logs for item in log.items)
        if self._weigh is not None:
            contents = (item.content for log in self.logs for item in log.items)
            self._weight = sum(self._weigh(one) for one in contents if type(one) is not bytes)
        self._batches_loaded()
        self._forget_dead_owners()
        if self._count > self._trigger or self._weight > self._heaviest:
            self._trim()

    def _batches_loaded(self) -> None:
        """All of them are there; nothing was let go yet."""

    def _tails(self, found: dict[StateLog, list[FoundBatch]]) -> dict[StateLog, int]:
        """Where each log's tail begins: together they have the newest records, as many as are kept.

        Before a hole, which a cleaning has left, there is no tail.
        """
        tails: dict[StateLog, int] = {}
        newest: list[tuple[int, int, StateLog, int]] = []
        for log, batches in found.items():
            tails[log] = due = batches[-1].header.last_offset + 1 if batches else 0
            count = 0
            for header, _ in reversed(batches):
                if header.last_offset + 1 != due or header.record_count != header.last_offset_delta + 1:
                    break
                due = header.base_offset
                count += header.record_count
                if due < tails[log] and count == header.record_count:
                    tails[log] = due  # a log's newest batch is never compacted
                newest.append((header.max_timestamp, due, log, header.record_count))
                if count > self._limit:
                    break
        newest.sort(key=lambda one: one[:2], reverse=True)
        count = 0
        for _, base_offset, log, records in newest:
            count += records
            if count > self._limit:
                break
            tails[log] = min(tails[log], base_offset)
        return tails

    def _load(self, log: StateLog, batch: FoundBatch, in_tail: bool) -> None:
        """Apply a batch's records, and keep them: as history, or as the places where they stood."""
        header, coordinator = batch.header, self._coordinator
        found = list(self._records_in(batch, self._skipped(log)))
        known = not any(one.record is None for one in found)
        log.end = header.base_offset
        for at, count, timestamp, record in found:
            if record is not None:
                coordinator.apply(record)
                self._owners[self._codec.owner(record)] = log
                if not in_tail:
                    self._place(self._places[log], record, at, timestamp)
                elif known:
                    log.append_item(header.base_offset, count, timestamp, record)
        if in_tail and not known:
            log.append_item(header.base_offset, header.record_count, header.max_timestamp, bytes(batch.data))
        log.end = header.last_offset + 1

    def _records_in(self, batch: FoundBatch, skipped: Skipped) -> Iterable[Loaded[R]]:
        """All of a batch, in order. KafkaError for a broken one."""
        return decoded(self._codec, iterate_records(batch.data[HEADER_SIZE:], batch.header), skipped)

    def _forget_dead_owners(self) -> None:
        knows = self._coordinator.knows
        in_tails = {self._owner_of(item.content) for log in self.logs for item in log.items}
        for owner in list(self._owners):
            if owner not in in_tails and not knows(owner):
                del self._owners[owner]
