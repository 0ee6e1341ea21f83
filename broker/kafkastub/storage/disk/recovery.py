"""Producers and transactions of one partition, made of its files at the start (ProducerStateManager,
UnifiedLog.rebuildProducerState).

All batches are read anyway. What they do not tell, because retention or compaction took records, is in the snapshots
and the indexes of aborted transactions; what these do not tell, because a process was killed, is in the batches. No
entry of an index has a checksum: where it says other than the batches, these are right, and the log says so. (Kafka
looks whether markers are in the segment, and else believes it: TransactionIndex.sanityCheck.)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from pathlib import Path
from typing import Any

from kafkastub.storage.log_transactions import AbortedTransaction, Marker
from kafkastub.storage.producers import ProducerStates
from kafkawire.errors import KafkaError
from kafkawire.records import HEADER_SIZE, BatchHeader, iterate_records, read_marker

from .producer_files import ABORTED_SUFFIX, SNAPSHOT_SUFFIX, encode_aborted, read_aborted, read_snapshot
from .scan import Segment


class ProducerRecovery:
    """One partition's; it is shown its segments and their batches in order, at last where the log ends."""

    def __init__(self, states: ProducerStates, directory: Path, log: Any) -> None:
        """OSError."""
        self._states = states
        self._log = log
        found = [path for path in directory.iterdir() if path.suffix == SNAPSHOT_SUFFIX and path.stem.isdigit()]
        self._snapshots = deque(sorted((int(path.stem), path) for path in found))
        """Those of offsets that were not reached yet."""
        self._left: list[tuple[int, Path]] = []
        """Those that hold, of offsets before."""
        self._decided: dict[int, int] = {}
        """By producer, the offset of the last batch that is in no transaction that may yet be aborted."""
        self._index: Path | None = None
        self._indexed: list[AbortedTransaction] = []
        """What the index of this segment has."""
        self._by_marker: dict[int, AbortedTransaction] = {}
        self._there: list[AbortedTransaction] = []
        """Those whose markers are in the segment."""
        self._wrong = False
        """Whether an entry of the index says what cannot be."""

    def segment(self, segment: Segment) -> None:
        """The batches that follow are in this one. OSError."""
        self._write_index()
        self._index = segment.path.with_suffix(ABORTED_SUFFIX)
        self._indexed, self._wrong = read_aborted(self._index)
        self._by_marker = {aborted.last_offset: aborted for aborted in self._indexed}
        self._there = []

    def batch(self, header: BatchHeader, whole: memoryview, appended_ms: int) -> None:
        """A batch of a producer; it was appended at that broker time."""
        self._take_snapshots(header.base_offset)
        if not header.control:
            self._states.update(header, header.base_offset, header.max_timestamp, appended_ms)
            if not header.transactional:
                self._decided[header.producer_id] = header.last_offset
            return
        marker = _marker(header, whole)
        if marker is None:
            return
        offset = header.last_offset
        aborted = self._states.finish(marker, offset, header.max_timestamp, appended_ms)
        if not marker.commit:
            aborted = self._as_indexed(marker.producer_id, offset, aborted)
        if aborted is not None:
            self._states.add_aborted(aborted)
            self._there.append(aborted)
        self._decided[marker.producer_id] = offset

    def _as_indexed(self, producer_id: int, offset: int, found: AbortedTransaction | None) -> AbortedTransaction | None:
        """The transaction whose marker is there as the index has it, which knows of records that are gone; as the
        batches have it where the index has none, or what is not so.
        """
        indexed = self._by_marker.get(offset)
        if indexed is None:
            return found
        stable = self._states.first_unstable
        latest_first = offset if found is None else found.first_offset
        latest_stable = offset + 1 if stable is None else stable
        if (
            indexed.producer_id == producer_id
            and self._decided.get(producer_id, -1) < indexed.first_offset <= latest_first
            # readers stop looking at the first one that says that what ended later began behind what they read
            and indexed.last_stable_offset <= latest_stable
        ):
            return indexed
        self._wrong = True
        return found

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
                self._log.warning(f"{path} is damaged, and removed: what producers have done is taken from the batches")
                path.unlink()
            else:
                self._states.restore(entries)
                self._left.append((at, path))

    def _write_index(self) -> None:
        """Have the index as the records say, unless it is so."""
        if self._index is None or (self._indexed == self._there and not self._wrong):
            return
        if self._wrong or self._is_damaged():
            self._log.warning(
                f"{self._index} does not say of aborted transactions what the batches say: it is written anew, and "
                "readers of committed records are told what the batches say"
            )
        if self._there:
            self._index.write_bytes(b"".join(map(encode_aborted, self._there)))
        else:
            self._index.unlink()

    def _is_damaged(self) -> bool:
        """Whether it lacks other entries than its last ones, which a process that was killed had no time for.

        What it has too many is of no harm: a cleaning or a crash has taken the marker.
        """
        there = {one.last_offset for one in self._there}
        kept = [one for one in self._indexed if one.last_offset in there]
        return len(kept) < len(there) and (len(kept) < len(self._indexed) or kept != self._there[: len(kept)])


def _marker(header: BatchHeader, whole: memoryview) -> Marker | None:
    """What a control batch says; None where it is empty or of another kind."""
    try:
        end = next((read_marker(record) for record in iterate_records(whole[HEADER_SIZE:], header)), None)
    except KafkaError:
        return None
    return None if end is None else Marker(header.producer_id, header.producer_epoch, *end)
