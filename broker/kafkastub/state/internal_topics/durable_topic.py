"""An internal topic in a data directory: what a turn appends is in the files before anybody hears of the turn.

The files hold the batches that a client reads, byte for byte, and more than those: what the log in memory has compacted
is still there until the files are cleaned, segment by segment. Kafka's segments of such a topic may have 100 MB; these
are cut much earlier, so that a busy partition does not grow that far.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from kafkastub.state.internal_topics.contract import Coordinator, Kept, R, RecordCodec, Turn
from kafkastub.state.internal_topics.internal_topic import InternalTopic
from kafkastub.storage import LogSettings
from kafkastub.storage.disk import DiskLogs, PartitionFiles
from kafkastub.storage.disk.cleaning import last_committed_of_each_key
from kafkastub.storage.producers import ProducerStates
from kafkastub.storage.state_log import Item, StateLog
from kafkawire.errors import KafkaError

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
        kept: Kept | None = None,
    ) -> None:
        self._write_to(logs, fall_back)
        super().__init__(
            codec, coordinator, history=history, compression=compression, log=log, partitions=partitions, key_of=key_of,
            weigh=weigh, heaviest=heaviest, kept=kept,
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
        super().appended(log)
        if self._loading:
            return
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
        yield from self.load_batches({log: [data for _, data in self._files[log].read()] for log in self.logs})

    def load_batches(self, read: dict[StateLog, list[memoryview]]) -> Iterator[None]:
        self._loading = True
        yield from super().load_batches(read)

    def _batches_loaded(self) -> None:
        self._loading = False

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
