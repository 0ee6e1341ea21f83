"""What is left of a partition of a compacted internal topic: its batches without those that later ones supersede.

A coordinator's topic may have gigabytes that no cleaner has come by yet, and a snapshot is of the state that they lead
to. Batches stay whole and at their offsets, as compaction leaves them. A transaction's batches count once its marker
has come, in the order of their own offsets (Kafka: `Cleaner`, `CleanedTransactionMetadata`).
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkawire.records import HEADER_SIZE, BatchHeader, decompress, iterate_records, read_marker
from kafkawire.records.heads import keyed_records


class _Held:
    """A batch. `keys`: whose last record it has, or would have if its transaction were committed."""

    __slots__ = ("content", "header", "keys")

    def __init__(self, header: BatchHeader, content: bytes, keys: set[bytes]) -> None:
        self.header = header
        self.content = content
        self.keys = keys


class Remains:
    """Shown the batches of one partition in order. It holds those that are left, and their keys."""

    def __init__(self) -> None:
        self._held: dict[int, _Held] = {}
        """By base offset."""
        self._last: dict[bytes, int] = {}
        """Key to the base offset of the batch with its last record."""
        self._open: dict[int, list[int]] = {}
        """Producer to its batches in an open transaction."""
        self._decides: dict[int, list[int]] = {}
        """Marker to the batches that it committed."""
        self._markers: dict[int, int] = {}
        """Producer to its last marker, which says in which epoch it is."""
        self.end = 0
        """The offset behind the last batch."""

    def add(self, header: BatchHeader, batch: memoryview) -> None:
        """The next batch. Raises KafkaError where it cannot be read."""
        base = header.base_offset
        self.end = header.last_offset + 1
        if header.control:
            self._held[base] = _Held(header, bytes(batch), set())
            self._decide(header, batch)
            return
        keys = {
            one.key
            for window in keyed_records(decompress(header.compression, batch[HEADER_SIZE:]), header)
            for one in window
            if one.key is not None
        }
        self._held[base] = _Held(header, bytes(batch), keys)
        if header.transactional:
            self._open.setdefault(header.producer_id, []).append(base)
        else:
            self._supersede(base)

    def _supersede(self, base: int) -> None:
        """A batch counts."""
        held = self._held[base]
        for key in list(held.keys):
            before = self._last.get(key, -1)
            if before > base:
                held.keys.discard(key)
                continue
            self._last[key] = base
            if before >= 0:
                self._lose(before, key)
        if not held.keys:
            del self._held[base]

    def _lose(self, base: int, key: bytes) -> None:
        held = self._held[base]
        held.keys.discard(key)
        if not held.keys:
            del self._held[base]

    def _decide(self, header: BatchHeader, batch: memoryview) -> None:
        """A marker: what is in the transaction counts, or is gone."""
        base = header.base_offset
        end = next((read_marker(one) for one in iterate_records(batch[HEADER_SIZE:], header)), None)
        if end is None:
            return
        of_transaction = self._open.pop(header.producer_id, [])
        if end.commit:
            for one in of_transaction:
                self._supersede(one)
        else:
            for one in of_transaction:
                del self._held[one]
        self._decides[base] = of_transaction if end.commit else []
        self._markers[header.producer_id] = base

    def batches(self) -> Iterator[bytes]:
        """Those that are left; the log's newest always is, so that its end is where it was."""
        last_markers = set(self._markers.values())
        for base, held in self._held.items():
            of_marker = self._decides.get(base)
            if of_marker is not None and base not in last_markers and not any(one in self._held for one in of_marker):
                continue
            yield held.content
