"""Producers' sequences: what is a duplicate, what is out of order (KIP-98; ProducerStateManager,
ProducerAppendInfo).

A producer that the log does not know may begin with any sequence: its older records may have been deleted
(KIP-360).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from kafkawire.errors import ErrorCode
from kafkawire.records import NO_PRODUCER_EPOCH, NO_SEQUENCE, BatchHeader

from .errors import AppendError

BATCHES_TO_RETAIN = 5
"""As many batches a producer may have in flight; a duplicate of one of them is recognised."""
_INT32_MAX = 0x7FFFFFFF


class AppendedBatch(NamedTuple):
    """One of a producer's last batches. `timestamp` is the batch's max timestamp as stored."""

    first_sequence: int
    last_sequence: int
    first_offset: int
    last_offset: int
    timestamp: int


class ProducerEntry:
    """What one partition remembers of one producer id."""

    __slots__ = ("appended_ms", "batches", "epoch", "last_timestamp", "producer_id")

    def __init__(self, producer_id: int) -> None:
        self.producer_id = producer_id
        self.epoch = NO_PRODUCER_EPOCH
        self.batches: deque[AppendedBatch] = deque(maxlen=BATCHES_TO_RETAIN)
        self.last_timestamp = -1
        self.appended_ms = -1
        """Broker time of its last append."""

    @property
    def last_sequence(self) -> int:
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE

    def duplicate(self, header: BatchHeader) -> AppendedBatch | None:
        """The retained batch with this very range of sequences, in the same epoch."""
        if header.producer_epoch != self.epoch:
            return None
        wanted = (header.base_sequence, header.last_sequence)
        return next((batch for batch in self.batches if batch[:2] == wanted), None)


class ProducerStates:
    """The producers of one partition, by id, in the order of their last appends."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: dict[int, ProducerEntry] = {}

    def entries(self) -> Iterable[ProducerEntry]:
        return self._entries.values()

    def forget(self, until_ms: int) -> None:
        """Forget the producers whose last append was at or before that broker time.

        producer.id.expiration.ms; Kafka counts from the timestamp of the producer's last batch, and looks now and then.
        """
        while self._entries:
            oldest = next(iter(self._entries.values()))
            if oldest.appended_ms > until_ms:
                return
            del self._entries[oldest.producer_id]

    def follows(self, header: BatchHeader) -> bool:
        """Whether the batch goes on in its producer's epoch just where the last one ended, and repeats none; nothing
        is said of a batch that does not: `check` knows.
        """
        entry = self._entries.get(header.producer_id)
        if entry is None or entry.epoch != header.producer_epoch or not entry.batches:
            return False
        first = header.base_sequence
        if first != entry.batches[-1].last_sequence + 1:
            return False
        # Around the end of the numbers there could be one that began so.
        return first not in [batch.first_sequence for batch in entry.batches]

    def check(self, header: BatchHeader, offset: int, partition: str) -> AppendedBatch | None:
        """The batch that this one repeats, or None when it may be appended at `offset`.

        AppendError with INVALID_PRODUCER_EPOCH or OUT_OF_ORDER_SEQUENCE_NUMBER otherwise.
        """
        entry = self._entries.get(header.producer_id)
        known_epoch = NO_PRODUCER_EPOCH if entry is None else entry.epoch
        where = f"producer {header.producer_id} at offset {offset} in partition {partition}"
        if entry is not None:
            duplicate = entry.duplicate(header)
            if duplicate is not None:
                return duplicate
        if header.producer_epoch < known_epoch:
            raise AppendError(
                ErrorCode.INVALID_PRODUCER_EPOCH,
                f"epoch of {where} is {header.producer_epoch}, the last seen was {known_epoch}",
            )
        if entry is None or known_epoch == NO_PRODUCER_EPOCH:
            return None
        first, last = header.base_sequence, entry.last_sequence
        follows = first == last + 1 or (first == 0 and last == _INT32_MAX)
        if first != 0 if header.producer_epoch != known_epoch else not follows:
            raise AppendError(
                ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                f"out of order sequence number for {where}: {first} came after {last}",
            )
        return None

    def update(self, header: BatchHeader, first_offset: int, timestamp: int, now_ms: int) -> None:
        """The batch was appended at `first_offset`, with that max timestamp, at that broker time."""
        entry = self._entries.pop(header.producer_id, None)
        if entry is None:
            entry = ProducerEntry(header.producer_id)
        self._entries[header.producer_id] = entry
        if entry.epoch != header.producer_epoch:
            entry.batches.clear()
            entry.epoch = header.producer_epoch
        last_offset = first_offset + header.last_offset_delta
        entry.batches.append(
            AppendedBatch(header.base_sequence, header.last_sequence, first_offset, last_offset, timestamp)
        )
        entry.last_timestamp = timestamp
        entry.appended_ms = now_ms
