"""An internal topic in a data directory: what a turn appends is in the files before anybody hears of the turn.

The files hold the batches that a client reads, byte for byte, and more than those: what the log in memory has compacted
is still there until the files are cleaned, segment by segment. Kafka's segments of such a topic may have 100 MB; these
are cut much earlier, so that a busy partition does not grow that far.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple

from kafkastub.state.internal_topics.contract import Coordinator, Loaded, R, RecordCodec, Skipped, Turn, decoded
from kafkastub.state.internal_topics.internal_topic import InternalTopic
from kafkastub.storage import LogSettings
from kafkastub.storage.disk import DiskLogs, PartitionFiles
from kafkastub.storage.disk.cleaning import last_committed_of_each_key
from kafkastub.storage.disk.scan import FoundBatch, batches_of
from kafkastub.storage.producers import ProducerStates
from kafkastub.storage.state_log import Item, StateLog
from kafkawire.errors import KafkaError
from kafkawire.records import HEADER_SIZE, iterate_records

_SEGMENT_BYTES: Final = 8 * 1024 * 1024
_CLEANED_FROM: Final = 2
"""Segments that may be cleaned before they are, beside as many bytes as cleaning left the last time."""


class _Unwritten(NamedTuple):
    log: StateLog
    item: Item


class DurableTopic(InternalTopic[R]):
    """See the module. In front of a topic with forms of its own it makes that durable (`durable_offsets`)."""

    _files: dict[StateLog, PartitionFiles]
    _unwritten: list[_Unwritten]
    _loading: bool
    _timestamps: list[tuple[int, StateLog]]
    """While loading: of each item in a tail."""

    def __init__(
        self,
        codec: RecordCodec[R],
        coordinator: Coordinator[R],
        *,
        history: int,
        compression: int,
        log: Any,
        partitions: Callable[[], int],
        logs: DiskLogs,
        fall_back: Callable[[], None],
        key_of: Callable[[R], tuple[Any, bool]] | None = None,
        weigh: Callable[[R], int] | None = None,
        heaviest: int = 0,
    ) -> None:
        self._write_to(logs, fall_back)
        super().__init__(
            codec, coordinator, history=history, compression=compression, log=log, partitions=partitions, key_of=key_of,
            weigh=weigh, heaviest=heaviest,
        )  # fmt: skip

    def _write_to(self, logs: DiskLogs, fall_back: Callable[[], None]) -> None:
        """`fall_back` makes the coordinator what the files say, where these have refused its records."""
        self._fall_back = fall_back
        self._disk_logs = logs
        self._disk = logs.disk

    def clear(self) -> None:
        super().clear()
        self._files = {}
        self._unwritten = []
        self._loading = False
        self._timestamps = []
        self._cleaned_to: dict[StateLog, int] = {}

    def create_log(self, name: str, settings: LogSettings, leader_epoch: int = 0) -> StateLog:
        log = super().create_log(name, settings, leader_epoch)
        self._files[log] = self._disk_logs.files_for(
            log, segment_bytes=lambda: min(log.settings.segment_bytes, _SEGMENT_BYTES), keeps_time=False
        )
        return log

    # -- writing -------------------------------------------------------------------------------------------------

    def write(self, turn: Turn[R], batch_per_owner: bool = False) -> None:
        """As for memory, but that KAFKA_STORAGE_ERROR is raised where the files take no more.

        The coordinator is then what the files say, and whose answer this turn has is told the error.
        """
        try:
            super().write(turn, batch_per_owner)
            self._write_out()
        except KafkaError as error:
            completions, turn.completions = turn.completions, []
            for token, response in completions:
                token.complete(type(response)(error_code=error.code))
            raise

    def appended(self, log: StateLog) -> None:
        if self._loading:
            self._timestamps.append((log.items[-1].timestamp, log))
            return
        super().appended(log)
        item = log.items[-1]
        self._unwritten.append(_Unwritten(log, item))
        if type(item.content) is bytes:  # a client's own batch, which comes in another way
            self._write_out()

    def _trim(self) -> None:
        self._write_out()
        super()._trim()

    def _write_out(self) -> None:
        self.catch_up()
        unwritten, self._unwritten = self._unwritten, []
        batches: dict[tuple[StateLog, int], list[Item]] = {}
        for log, item in unwritten:
            batches.setdefault((log, item.batch), []).append(item)
        written: list[tuple[PartitionFiles, int]] = []
        try:
            for (log, base_offset), items in batches.items():
                data = log.encoded(items)
                files = self._files[log]
                files.append((data,), base_offset, items[-1].offset + items[-1].records)
                written.append((files, len(data)))
        except KafkaError:
            try:
                for files, size in reversed(written):
                    files.take_back(size)
            except OSError as error:
                self._disk.log.error("what was refused cannot be taken out of the files", why=error.strerror)
            self._fall_back()
            raise
        for log, _ in batches:
            self._clean(log)

    def _clean(self, log: StateLog) -> None:
        """Clean the files where it is worth while: what is in the tail stays, as history."""
        files = self._files[log]
        if files.busy or files.segments < _CLEANED_FROM + 2:
            return
        start = min(log.tail_start, log.last_stable_offset)
        closed = [one for one in files.closed() if one.end <= start]
        dirty = closed[1:] if closed and closed[0].size > _SEGMENT_BYTES else closed
        if len(dirty) >= _CLEANED_FROM and sum(one.size for one in dirty) >= closed[0].size:
            end = self._cleaned_to[log] = closed[-1].end
            files.rewrite(last_committed_of_each_key(log.aborted_transactions(0, end)), [closed])

    def cleaned_end(self, log: StateLog) -> int:
        """What is before this in the files was cleaned, as far as is known; not where that has failed."""
        end, closed = self._cleaned_to.get(log, 0), self._files[log].closed()
        return end if closed and closed[0].end >= end else 0

    # -- loading -------------------------------------------------------------------------------------------------

    def load_files(self) -> Iterator[None]:
        """Fill the logs and the coordinator, both empty, from the files; batch by batch. DataDirError, OSError."""
        self._loading = True
        read = {log: [data for _, data in self._files[log].read()] for log in self.logs}
        tails = self._tails({log: [b for d in data for b in batches_of(d)] for log, data in read.items()})
        yield
        for log in self.logs:
            for data in read.pop(log):
                for batch in batches_of(data):
                    self._load(log, batch, batch.header.base_offset >= tails[log])
                    yield
        self._order = deque(log for _, log in sorted(self._timestamps, key=lambda one: one[0]))
        self._timestamps = []
        self._count = sum(item.records for log in self.logs for item in log.items)
        if self._weigh is not None:
            contents = (item.content for log in self.logs for item in log.items)
            self._weight = sum(self._weigh(one) for one in contents if type(one) is not bytes)
        self._loading = False
        self._forget_dead_owners()
        if self._count > self._trigger or self._weight > self._heaviest:
            self._trim()

    def empty(self) -> None:
        """Forget what the logs have, to load it anew."""
        for log in self.logs:
            log.items, log.head, log.passed, log.end = [], 0, None, 0
            log.producer_states = ProducerStates()
            log.forget_snapshot()
        self._fresh.clear()
        self._unwritten.clear()
        self._owners.clear()
        for places in self._places.values():
            places.clear()

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
