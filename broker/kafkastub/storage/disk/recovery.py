"""Producers and transactions of one partition, made of its files at the start (ProducerStateManager,
UnifiedLog.rebuildProducerState).

All batches are read anyway. What they do not tell, because retention or compaction took records, is in the snapshots
and the indexes of aborted transactions; what these do not tell, because a process was killed, is in the batches.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from pathlib import Path

from kafkastub.storage.producers import ProducerStates
from kafkastub.storage.transactions import AbortedTransaction, Marker
from kafkawire.errors import KafkaError
from kafkawire.records import HEADER_SIZE, BatchHeader, iterate_records, read_marker

from .producer_files import ABORTED_SUFFIX, SNAPSHOT_SUFFIX, encode_aborted, read_aborted, read_snapshot
from .scan import Segment


class ProducerRecovery:
    """One partition's; it is shown its segments and their batches in order, at last where the log ends."""

    def __init__(self, states: ProducerStates, directory: Path) -> None:
        """OSError."""
        self._states = states
        found = [path for path in directory.iterdir() if path.suffix == SNAPSHOT_SUFFIX and path.stem.isdigit()]
        self._snapshots = deque(sorted((int(path.stem), path) for path in found))
        """Those of offsets that were not reached yet."""
        self._left: list[tuple[int, Path]] = []
        """Those that hold, of offsets before."""
        self._index: Path | None = None
        self._indexed: dict[int, AbortedTransaction] = {}
        """What the index of this segment has, by the offsets of markers."""
        self._there: list[AbortedTransaction] = []
        """Those whose markers are in the segment."""

    def segment(self, segment: Segment) -> None:
        """The batches that follow are in this one. OSError."""
        self._write_index()
        self._index = segment.path.with_suffix(ABORTED_SUFFIX)
        self._indexed = {aborted.last_offset: aborted for aborted in read_aborted(self._index)}
        self._there = []

    def batch(self, header: BatchHeader, whole: memoryview, appended_ms: int) -> None:
        """A batch of a producer; it was appended at that broker time."""
        self._take_snapshots(header.base_offset)
        if not header.control:
            self._states.update(header, header.base_offset, header.max_timestamp, appended_ms)
            return
        marker = _marker(header, whole)
        if marker is None:
            return
        offset = header.last_offset
        aborted = self._states.finish(marker, offset, header.max_timestamp, appended_ms)
        if not marker.commit:
            aborted = self._indexed.get(offset, aborted)
        if aborted is not None:
            self._states.add_aborted(aborted)
            self._there.append(aborted)

    def end(self, log_end_offset: int, segments: Collection[int]) -> None:
        """That was all; segments begin at these offsets. Removes the snapshots of no use. OSError."""
        self._take_snapshots(log_end_offset)
        self._write_index()
        for offset, path in self._left[:-1]:
            if offset not in segments:
                path.unlink()
        for _, path in self._snapshots:  # of records that a crash has taken
            path.unlink()

    def _take_snapshots(self, offset: int) -> None:
        while self._snapshots and self._snapshots[0][0] <= offset:
            at, path = self._snapshots.popleft()
            entries = read_snapshot(path)
            if entries is None:
                path.unlink()
            else:
                self._states.restore(entries)
                self._left.append((at, path))

    def _write_index(self) -> None:
        """Have the index as the records say, unless it is so."""
        if self._index is None or list(self._indexed.values()) == self._there:
            return
        if self._there:
            self._index.write_bytes(b"".join(map(encode_aborted, self._there)))
        else:
            self._index.unlink()


def _marker(header: BatchHeader, whole: memoryview) -> Marker | None:
    """What a control batch says; None where it is empty or of another kind."""
    try:
        end = next((read_marker(record) for record in iterate_records(whole[HEADER_SIZE:], header)), None)
    except KafkaError:
        return None
    return None if end is None else Marker(header.producer_id, header.producer_epoch, *end)
