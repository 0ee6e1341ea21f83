"""Logs in memory whose batches are written to files first."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kafkastub.storage.batches import batches_of
from kafkastub.storage.log import PartitionLog
from kafkastub.storage.log_transactions import AbortedTransaction
from kafkastub.storage.manager import LogManager
from kafkastub.storage.segment import Chunk, StoredBatch
from kafkastub.storage.segment import Segment as MemorySegment
from kafkastub.storage.settings import LogSettings
from kafkawire.records import HEADER_SIZE

from .cleaning import with_changes
from .errors import storage_error
from .journal import Disk
from .partition_files import OpenFiles, PartitionFiles
from .producer_files import encode_snapshot
from .recovery import ProducerRecovery


class DiskLog(PartitionLog):
    """A partition's log with its files. What cannot be written is refused with KAFKA_STORAGE_ERROR."""

    files: PartitionFiles

    def __init__(self, name: str, settings: LogSettings, leader_epoch: int, disk: Disk) -> None:
        super().__init__(name, settings, leader_epoch)
        self._disk = disk
        self._unwritten: dict[int, bytes | None] = {}
        """What of rewritten batches is not in the files, by base offset."""

    def attach(self, files: PartitionFiles) -> None:
        """These are its files."""
        self.files = files
        files.snapshot = lambda: encode_snapshot(self.producer_states.entries())

    def _store(self, batch: StoredBatch) -> None:
        self.files.append(_chunks(batch), batch.base_offset, batch.last_offset + 1, batch.appended_ms)
        super()._store(batch)

    def delete_records_before(self, offset: int) -> int:
        before = self.log_start_offset
        if offset > before and self._disk.failed is not None:
            raise storage_error(self._disk.failed)
        start = super().delete_records_before(offset)
        if start > before:
            self._disk.state_changed()
            self.files.remove_before(start, self.log_end_offset)
        return start

    def rewrite(self, changes: Mapping[int, StoredBatch | None]) -> None:
        super().rewrite(changes)
        self.files.roll(self.log_end_offset)
        for base, batch in changes.items():
            self._unwritten[base] = None if batch is None else b"".join(_chunks(batch))
        self._write_changes()

    def _write_changes(self) -> None:
        """Once those under way are written. Not one is left out: an aborted record whose marker goes later would be one
        that everybody reads.
        """
        if self.files.busy or not self._unwritten:
            return
        wanted = self._unwritten
        first, end = min(wanted), max(wanted)
        concerned = [one for one in self.files.closed() if one.end > first and one.base_offset <= end]

        def done(well: bool) -> None:
            if well:
                self._write_changes()
            else:  # with the next that come
                self._unwritten = wanted | self._unwritten

        if self.files.rewrite(with_changes(wanted), [[one] for one in concerned], done):
            self._unwritten = {}

    def _aborted(self, aborted: AbortedTransaction) -> None:
        self.files.note_aborted(aborted)

    def leave(self) -> None:
        """Nothing more is written; what the records do not tell of producers is."""
        if self.producer_states.entries():
            self.files.leave(self.log_end_offset)

    def restore(self, log_start_offset: int) -> None:
        """Read what the files have; the log starts at that offset. DataDirError, OSError.

        Batches before it are kept as long as their segment: the largest timestamp may be theirs.
        """
        recovery: ProducerRecovery | None = None
        for number, (segment, data) in enumerate(self.files.read()):
            if not number:  # a process may be killed between the removal of a segment and the note that it may go
                log_start_offset = max(log_start_offset, segment.base_offset)
                recovery = ProducerRecovery(self.producer_states, segment.path.parent, self._disk.log)
            assert recovery is not None
            appended_ms = self.files.append_times(segment)
            recovery.segment(segment)
            for header, whole in batches_of(data):
                stored = appended_ms(header.base_offset, header.max_timestamp)
                if header.has_producer:
                    recovery.batch(header, whole, stored)
                super()._store(StoredBatch(header, whole[HEADER_SIZE:], stored))
            self._end_at(segment.end)
        if recovery is not None:
            recovery.end(self.log_end_offset, self.files.offsets)
        self.log_start_offset = min(log_start_offset, self.log_end_offset)
        self.epochs.truncate_from_start(self.log_start_offset)
        self.producer_states.deleted_before(self.log_start_offset)

    def _end_at(self, offset: int) -> None:
        """The log goes to there, though its last batches are gone."""
        self.log_end_offset = offset
        if not self._segments[-1].batches:
            self._segments[-1] = MemorySegment(offset)


class DiskLogs(LogManager):
    """All logs, in a data directory."""

    def __init__(self, wall_ms: Callable[[], int] | None, disk: Disk) -> None:
        super().__init__(wall_ms)
        self.disk = disk
        self._open_files = OpenFiles()
        self._files: dict[PartitionLog, PartitionFiles] = {}

    def files_for(self, log: PartitionLog, *, segment_bytes: Callable[[], int], keeps_time: bool) -> PartitionFiles:
        """The files of a new log. It must have its name when it is first written to."""
        directory = self.disk.directory
        files = self._files[log] = PartitionFiles(
            self.disk, self._open_files, lambda: directory.partition(log.name), segment_bytes, keeps_time=keeps_time
        )
        return files

    def _new_log(self, name: str, settings: LogSettings, leader_epoch: int) -> PartitionLog:
        log = DiskLog(name, settings, leader_epoch, self.disk)
        log.attach(self.files_for(log, segment_bytes=lambda: log.settings.segment_bytes, keeps_time=True))
        return log

    def delete(self, topic_id: bytes) -> None:
        for partition, log in list(self._logs.get(topic_id, {}).items()):
            if log is not None:
                self._files.pop(log).delete(self.disk.directory.deleted(topic_id, partition))
        super().delete(topic_id)

    def forget(self, topic_id: bytes, partition: int) -> None:
        """Its files stay as they are."""
        log = self.look(topic_id, partition)
        if log is not None:
            self._files.pop(log).close()
        super().forget(topic_id, partition)

    def let_go(self) -> None:
        super().let_go()
        self._files.clear()

    def leave(self) -> None:
        """An orderly end: write down what the records do not tell of producers."""
        for log in self._files:
            if isinstance(log, DiskLog):
                log.leave()

    def close(self) -> None:
        """Close every file."""
        self._open_files.close_all()


def _chunks(batch: StoredBatch) -> tuple[Chunk, ...]:
    return (batch.head,) if batch.payload is None else (batch.head, batch.payload)
