"""Which producer id and epoch each transactional id has: a small compacted log, a record for each change.

It is written as a partition's files are, so that a change costs the same however many there are, and a process that is
killed loses none that was answered. (Kafka keeps this in `__transaction_state`, with much more.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from struct import Struct, error
from typing import Final

from kafkastub.storage.errors import DataDirError
from kafkastub.storage.producer_ids import Kept
from kafkawire.errors import KafkaError
from kafkawire.records import HEADER_SIZE, NewRecord, build_batch, iterate_records

from .cleaning import last_of_each_key
from .journal import Disk
from .partition_files import OpenFiles, PartitionFiles
from .scan import batches_of

DIRECTORY: Final = ".transactional-ids"
_SEGMENT_BYTES: Final = 1024 * 1024
_CLEANED_FROM: Final = 2
"""Segments that may be cleaned before they are, beside as many bytes as cleaning left the last time."""
_VALUE: Final = Struct(">qhh")


class TransactionalIds:
    """One data directory's."""

    def __init__(self, disk: Disk, open_files: OpenFiles, segment_bytes: int = _SEGMENT_BYTES) -> None:
        self._segment_bytes = segment_bytes
        self._files = PartitionFiles(
            disk, open_files, lambda: disk.directory.root / DIRECTORY, lambda: segment_bytes, keeps_time=False
        )
        self._end = 0

    def read(self) -> dict[str, Kept]:
        """What each has, at the start. DataDirError, OSError."""
        found: dict[str, Kept] = {}
        for segment, data in self._files.read():
            try:
                for header, whole in batches_of(data):
                    for record in iterate_records(whole[HEADER_SIZE:], header):
                        found[_name(record.key)] = Kept(*_VALUE.unpack(record.value or b""))
            except (KafkaError, ValueError, error) as why:
                raise DataDirError(f"{segment.path} is damaged: no transactional ids ({why})") from None
            self._end = segment.end
        return found

    def append(self, changed: Mapping[str, Kept]) -> None:
        """These have something else now. KAFKA_STORAGE_ERROR; then none of it is there."""
        for records in _pieces(changed.items()):
            end = self._end + len(records)
            self._files.append((build_batch(records, base_offset=self._end),), self._end, end)
            self._end = end
        self._clean()

    def _clean(self) -> None:
        files = self._files
        if files.busy or files.segments < _CLEANED_FROM + 2:
            return
        closed = files.closed()
        dirty = closed[1:] if closed[0].size > self._segment_bytes else closed
        if len(dirty) >= _CLEANED_FROM and sum(one.size for one in dirty) >= closed[0].size:
            files.rewrite(last_of_each_key, [closed])


def _name(key: bytes | None) -> str:
    return (key or b"").decode(errors="surrogatepass")


def _pieces(changed: Iterable[tuple[str, Kept]]) -> Iterator[list[NewRecord]]:
    records: list[NewRecord] = []
    for name, kept in changed:
        records.append(NewRecord(name.encode(errors="surrogatepass"), _VALUE.pack(*kept), 0))
        if len(records) == _MOST_RECORDS:
            yield records
            records = []
    if records:
        yield records


_MOST_RECORDS: Final = 1000
