"""Producers' sequences and transactions: what is a duplicate, what is out of order, what may end (KIP-98, KIP-890;
ProducerStateManager, ProducerAppendInfo).

A producer that the log does not know may begin with any sequence: its older records may have been deleted
(KIP-360). But one whose transactions are of version 2 begins with 0 (KIP-890).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.records import NO_PRODUCER_EPOCH, NO_SEQUENCE, BatchHeader

from .errors import AppendError
from .log_transactions import AbortedTransaction, AbortedTransactions, Marker, OpenTransactions
from .verification import Verifications

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

    __slots__ = (
        "appended_ms",
        "batches",
        "coordinator_epoch",
        "epoch",
        "last_timestamp",
        "producer_id",
        "transaction_start",
    )

    def __init__(self, producer_id: int) -> None:
        self.producer_id = producer_id
        self.epoch = NO_PRODUCER_EPOCH
        self.batches: list[AppendedBatch] = []
        """The last ones, for `appended` to add to. A list: a deque takes 700 bytes, and producers come in thousands."""
        self.last_timestamp = -1
        self.appended_ms = -1
        """Broker time of its last append."""
        self.coordinator_epoch = -1
        """That of its last marker."""
        self.transaction_start: int | None = None
        """The first offset of its open transaction; None while there is none."""

    def copy(self) -> ProducerEntry:
        """Another one that remembers the same."""
        copied = ProducerEntry(self.producer_id)
        for name in self.__slots__:
            setattr(copied, name, getattr(self, name))
        copied.batches = self.batches.copy()
        return copied

    @property
    def last_sequence(self) -> int:
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE

    @property
    def last_offset(self) -> int:
        """Of its last batch that is remembered; -1 where none is."""
        return self.batches[-1].last_offset if self.batches else -1

    def duplicate(self, header: BatchHeader) -> AppendedBatch | None:
        """The retained batch with this very range of sequences, in the same epoch."""
        if header.producer_epoch != self.epoch:
            return None
        wanted = (header.base_sequence, header.last_sequence)
        return next((batch for batch in self.batches if batch[:2] == wanted), None)

    def appended(self, batch: AppendedBatch) -> None:
        """This is its last batch now."""
        batches = self.batches
        batches.append(batch)
        if len(batches) > BATCHES_TO_RETAIN:
            del batches[0]

    def agrees_with(self, other: ProducerEntry) -> bool:
        """Whether both are where the producer ended."""
        return (self.epoch, self.last_offset, self.coordinator_epoch, self.transaction_start) == (
            other.epoch,
            other.last_offset,
            other.coordinator_epoch,
            other.transaction_start,
        )

    def in_epoch(self, epoch: int) -> None:
        """It writes in that epoch from now on: in another one its sequences begin anew."""
        if self.epoch != epoch:
            self.batches.clear()
            self.epoch = epoch


class ProducerStates:
    """The producers of one partition, by id, and their transactions.

    Attributes:
        aborted: their transactions that were aborted.
        first_unstable: where the oldest transaction begins that is open; None while none is.
    """

    __slots__ = ("_entries", "_open", "_open_entries", "_verifications", "aborted", "first_unstable")

    def __init__(self) -> None:
        self._entries: dict[int, ProducerEntry] = {}
        """Those without an open transaction, in the order of their last appends."""
        self._open_entries: dict[int, ProducerEntry] = {}
        """Those with one: they do not expire."""
        self._open: OpenTransactions | None = None
        self._verifications: Verifications | None = None
        self.aborted: AbortedTransactions | None = None
        self.first_unstable: int | None = None

    def copy(self) -> ProducerStates:
        """Others that remember the same."""
        copied = ProducerStates()
        copied._entries = {producer_id: entry.copy() for producer_id, entry in self._entries.items()}
        copied._open_entries = {producer_id: entry.copy() for producer_id, entry in self._open_entries.items()}
        copied._open = None if self._open is None else self._open.copy()
        copied._verifications = None if self._verifications is None else self._verifications.copy()
        copied.aborted = None if self.aborted is None else self.aborted.copy()
        copied.first_unstable = self.first_unstable
        return copied

    def entries(self) -> Iterable[ProducerEntry]:
        return [*self._entries.values(), *self._open_entries.values()]

    def entry(self, producer_id: int) -> ProducerEntry | None:
        return self._entries.get(producer_id) or self._open_entries.get(producer_id)

    def has_ongoing(self, producer_id: int, producer_epoch: int) -> bool:
        """Whether the producer has an open transaction here, in that epoch."""
        entry = self._open_entries.get(producer_id)
        return entry is not None and entry.epoch == producer_epoch

    def forget(self, until_ms: int) -> None:
        """Forget the producers whose last append was at or before that broker time, but for open transactions.

        producer.id.expiration.ms; Kafka counts from the timestamp of the producer's last batch, and looks now and then.
        """
        while self._entries:
            oldest = next(iter(self._entries.values()))
            if oldest.appended_ms > until_ms:
                break
            del self._entries[oldest.producer_id]
        if self._verifications is not None:
            self._verifications.forget(until_ms)

    # -- what may be appended ------------------------------------------------------------------------------------

    def follows(self, header: BatchHeader) -> bool:
        """Whether the batch goes on in its producer's epoch just where the last one ended, and repeats none: in its
        open transaction, or outside of any. Nothing is said of a batch that does not: `check` knows.
        """
        entry = (self._open_entries if header.transactional else self._entries).get(header.producer_id)
        if entry is None or entry.epoch != header.producer_epoch or not entry.batches:
            return False
        first = header.base_sequence
        if first != entry.batches[-1].last_sequence + 1:
            return False
        if self._verifications is not None and header.producer_id in self._verifications:
            return False
        return entry.batches[0].first_sequence < first  # else the numbers have begun anew: `check` knows

    def start_verification(
        self, producer_id: int, producer_epoch: int, base_sequence: int, *, epochs_are_raised: bool, now_ms: int
    ) -> None:
        """The coordinator is about to be asked whether this batch may begin a transaction here
        (UnifiedLog.maybeStartTransactionVerification).

        Should that fail, a batch with a higher sequence must not come before this one. `epochs_are_raised`: by
        transaction version 2.
        """
        if self._verifications is None:
            self._verifications = Verifications()
        self._verifications.start(producer_id, producer_epoch, base_sequence, epochs_are_raised, now_ms)

    def check(self, header: BatchHeader, offset: int, partition: str) -> AppendedBatch | None:
        """The batch that this one repeats, or None when it may be appended at `offset`.

        AppendError with INVALID_PRODUCER_EPOCH, OUT_OF_ORDER_SEQUENCE_NUMBER or INVALID_TXN_STATE otherwise.
        """
        entry = self.entry(header.producer_id)
        where = f"producer {header.producer_id} at offset {offset} in partition {partition}"
        if entry is not None:
            duplicate = entry.duplicate(header)
            if duplicate is not None:
                return duplicate
        self.check_epoch(header.producer_id, header.producer_epoch, where)
        if self._verifications is not None:
            self._verifications.check(header, no_state=entry is None or not entry.batches, where=where)
        known_epoch = NO_PRODUCER_EPOCH if entry is None else entry.epoch
        if entry is None or known_epoch == NO_PRODUCER_EPOCH:
            return None
        first, last = header.base_sequence, entry.last_sequence
        follows = first == last + 1 or (first == 0 and last == _INT32_MAX)
        if first != 0 if header.producer_epoch != known_epoch else not follows:
            raise AppendError(
                ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                f"out of order sequence number for {where}: {first} came after {last}",
            )
        if entry.transaction_start is not None and not header.transactional:
            raise AppendError(ErrorCode.INVALID_TXN_STATE, f"expected a transactional write of {where}")
        return None

    def check_epoch(self, producer_id: int, producer_epoch: int, where: str) -> None:
        """AppendError INVALID_PRODUCER_EPOCH for a producer that has written in a later epoch."""
        entry = self.entry(producer_id)
        if entry is not None and producer_epoch < entry.epoch:
            raise AppendError(
                ErrorCode.INVALID_PRODUCER_EPOCH,
                f"epoch of {where} is {producer_epoch}, the last seen was {entry.epoch}",
            )

    def check_marker(self, marker: Marker, partition: str) -> None:
        """KafkaError where a marker must not be written: INVALID_PRODUCER_EPOCH, TRANSACTION_COORDINATOR_FENCED.

        With transaction version 2 the marker's epoch is above that of the records; one that was written already may
        come again, as the coordinator may not know (KAFKA-19999).
        """
        entry = self.entry(marker.producer_id)
        if entry is None:
            return
        epoch, where = marker.producer_epoch, f"producer {marker.producer_id} in partition {partition}"
        self.check_epoch(marker.producer_id, epoch, where)
        if marker.transaction_version >= 2 and epoch == entry.epoch and entry.transaction_start is not None:
            raise KafkaError(
                ErrorCode.INVALID_PRODUCER_EPOCH,
                f"epoch {epoch} of a marker for {where} is not above that of its records",
            )
        if marker.coordinator_epoch < entry.coordinator_epoch:
            raise KafkaError(
                ErrorCode.TRANSACTION_COORDINATOR_FENCED,
                f"coordinator epoch {marker.coordinator_epoch} of a marker for {where} is below"
                f" {entry.coordinator_epoch}",
            )

    def takes(self, marker: Marker) -> bool:
        """Whether `check_marker` has nothing against it, at a glance."""
        entry = self._open_entries.get(marker.producer_id)
        if entry is None:
            return False
        raised = marker.producer_epoch > entry.epoch
        may = raised or (marker.producer_epoch == entry.epoch and marker.transaction_version < 2)
        return may and marker.coordinator_epoch >= entry.coordinator_epoch

    def may_begin(self, fields: tuple[int, ...]) -> bool:
        """Whether the batch with this header may be the first of a transaction here; at a glance, as `follows`."""
        producer_id, epoch, first, _ = fields[9:]
        verified = self._verifications
        if producer_id in self._open_entries or (verified is not None and producer_id in verified):
            return False
        entry = self._entries.get(producer_id)
        if entry is None or epoch > entry.epoch:
            return first == 0
        if epoch != entry.epoch:
            return False
        batches = entry.batches
        if not batches:
            return first == 0
        return first == batches[-1].last_sequence + 1 and batches[0].first_sequence < first

    # -- what was appended ---------------------------------------------------------------------------------------

    def update(self, header: BatchHeader, first_offset: int, timestamp: int, now_ms: int) -> None:
        """The batch was appended at `first_offset`, with that max timestamp, at that broker time."""
        producer_id = header.producer_id
        entry = self._entries.pop(producer_id, None)
        if entry is None:
            entry = self._open_entries.get(producer_id) or ProducerEntry(producer_id)
        if header.transactional:
            self._begin(entry, first_offset)
        elif entry.transaction_start is None:
            self._entries[producer_id] = entry
        entry.in_epoch(header.producer_epoch)
        last_offset = first_offset + header.last_offset_delta
        entry.appended(AppendedBatch(header.base_sequence, header.last_sequence, first_offset, last_offset, timestamp))
        entry.last_timestamp = timestamp
        entry.appended_ms = now_ms

    def begin(self, fields: tuple[int, ...], first_offset: int, last_offset: int, now_ms: int) -> None:
        """As `update`, of a batch with this header that `may_begin` a transaction."""
        producer_id, epoch, first, count = fields[9:]
        timestamp = fields[8]
        entry = self._entries.pop(producer_id, None)
        if entry is None:
            entry = ProducerEntry(producer_id)
        if self._open is None:
            self._open = OpenTransactions()
        self._open.begin(first_offset, producer_id)
        self._open_entries[producer_id] = entry
        self.first_unstable = self._open.first_offset
        if entry.epoch != epoch:
            entry.batches.clear()
            entry.epoch = epoch
        entry.transaction_start = first_offset
        last = (first + count - 1) & _INT32_MAX
        # its own constructor takes three times as long
        entry.appended(tuple.__new__(AppendedBatch, (first, last, first_offset, last_offset, timestamp)))
        entry.last_timestamp = timestamp
        entry.appended_ms = now_ms

    def _begin(self, entry: ProducerEntry, first_offset: int) -> None:
        """The entry is one with an open transaction, if it was not so before."""
        if self._verifications is not None:
            self._verifications.over(entry.producer_id)
        if entry.transaction_start is not None:
            return
        if self._open is None:
            self._open = OpenTransactions()
        entry.transaction_start = first_offset
        self._open.begin(first_offset, entry.producer_id)
        self._open_entries[entry.producer_id] = entry
        self.first_unstable = self._open.first_offset

    def end(self, marker: Marker, offset: int, timestamp: int, now_ms: int) -> AbortedTransaction | None:
        """A marker was appended at `offset`: the producer's transaction is over, if it has one. Gives it if aborted."""
        aborted = self.finish(marker, offset, timestamp, now_ms)
        if aborted is not None:
            self.add_aborted(aborted)
        return aborted

    def finish(self, marker: Marker, offset: int, timestamp: int, now_ms: int) -> AbortedTransaction | None:
        """As `end`, but that readers are told of nothing."""
        producer_id = marker.producer_id
        entry = self._entries.pop(producer_id, None) or self._open_entries.pop(producer_id, None)
        if entry is None:
            entry = ProducerEntry(producer_id)
        self._entries[producer_id] = entry
        if entry.epoch != marker.producer_epoch:
            entry.in_epoch(marker.producer_epoch)
        entry.coordinator_epoch = marker.coordinator_epoch
        entry.last_timestamp = timestamp
        entry.appended_ms = now_ms
        if self._verifications is not None:
            self._verifications.ended(producer_id, marker.producer_epoch)
        start = entry.transaction_start
        if start is None:
            return None
        assert self._open is not None
        self._open.end(start)
        entry.transaction_start = None
        self.first_unstable = self._open.first_offset
        if marker.commit:
            return None
        stable = offset + 1 if self.first_unstable is None else self.first_unstable
        return AbortedTransaction(producer_id, start, offset, stable)

    def add_aborted(self, aborted: AbortedTransaction) -> None:
        """One whose marker is behind those of all others."""
        if self.aborted is None:
            self.aborted = AbortedTransactions()
        self.aborted.add(aborted)

    def deleted_before(self, offset: int) -> None:
        """The log starts there now. Producers stay, and so do their open transactions
        (ProducerStateManager.onLogStartOffsetIncremented).
        """
        if self.aborted is not None:
            self.aborted.remove_before(offset)

    def restore(self, entries: Iterable[ProducerEntry]) -> None:
        """These were all producers at some offset (ProducerStateManager.loadFromSnapshot).

        Others that are known had expired by then. Their markers may be gone since: an earlier snapshot would leave
        their transactions open for ever.
        """
        before = {entry.producer_id: entry for entry in self.entries()}
        self._entries, self._open_entries = {}, {}
        for entry in entries:
            known = before.get(entry.producer_id, entry)
            of_kind = self._entries if entry.transaction_start is None else self._open_entries
            # one that agrees remembers more batches
            of_kind[entry.producer_id] = known if known.agrees_with(entry) else entry
        self._entries = dict(sorted(self._entries.items(), key=lambda item: item[1].appended_ms))
        self._open = OpenTransactions() if self._open_entries else None
        self.first_unstable = None
        for entry in sorted(self._open_entries.values(), key=lambda one: one.transaction_start or 0):
            assert self._open is not None
            assert entry.transaction_start is not None
            self._open.begin(entry.transaction_start, entry.producer_id)
            self.first_unstable = self._open.first_offset
