"""A share partition: what a share group has done with the records of one partition. No clock, no I/O.

Kafka: SharePartition. What is read of the log is brought to it, what it wants written is handed out: a `Transition` is
begun (`acknowledge`, `release`, `expire_locks`, `dead_letter_done`), its `writes` are written by the caller, and then
it is committed, or rolled back where they could not be.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import Final, NamedTuple

from kafkastub.share_coordinator.state_batches import UNINITIALIZED_START_OFFSET, ReadState
from kafkastub.share_partitions import acknowledging, acquiring
from kafkastub.share_partitions.acknowledging import AcknowledgementBatch
from kafkastub.share_partitions.dead_letters import CLIENT_REJECT, DELIVERY_COUNT_EXCEEDED, DeadLetter
from kafkastub.share_partitions.in_flight import InFlightBatch, Run
from kafkastub.share_partitions.log_batches import AbortedTransaction, Acquired, LogBatch
from kafkastub.share_partitions.partition_state import PartitionState
from kafkastub.share_partitions.settings import ShareSettings
from kafkastub.share_partitions.states import RecordState
from kafkastub.share_partitions.transition import Transition
from kafkawire.errors import ErrorCode, KafkaError

_STATES: Final = {int(state): state for state in RecordState}


class View(NamedTuple):
    """Neighbouring offsets of one state, for those who look.

    Attributes:
        member_id: who has acquired them, or "".
        locked_until_ms: timer time (ms) to which they belong to it; None where nobody has a lock.
        delivery_count: how often they were delivered.
        in_transition: whether what became of them is being written.
    """

    first_offset: int
    last_offset: int
    state: RecordState
    member_id: str
    locked_until_ms: int | None
    delivery_count: int
    in_transition: bool


class SharePartition(PartitionState):
    """One partition of one group, on the node that leads it.

    Not active until it is loaded, and no more once it is fenced: then nothing is acquired. Times are timer
    milliseconds. What it has that can be read: see PartitionState.
    """

    __slots__ = ()

    def load(self, read: ReadState, start_offset_if_uninitialised: int) -> Sequence[DeadLetter]:
        """Begin with what was kept, and be active.

        Returns what is ARCHIVING: its dead letters were not known to be written. Raises UNKNOWN_SERVER_ERROR where
        what was kept makes no sense.
        """
        start = read.start_offset
        if start == UNINITIALIZED_START_OFFSET:
            start = start_offset_if_uninitialised
        self.start_offset = start
        self.state_epoch = read.state_epoch
        letters = []
        limit = self.settings().delivery_count_limit
        last = start - 1
        for first, batch_last, number, delivery_count in read.batches:
            state = _STATES.get(number)
            if first < start or batch_last < first or state is None:
                raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, "Failed to initialize the share partition")
            if self.gap_start is None and first > last + 1:
                self.gap_start = last + 1
            last = batch_last
            self.in_flight.put(InFlightBatch(Run(first, batch_last, state, delivery_count, "", None)))
            if state.is_terminal:
                self.delivery_complete_count += batch_last - first + 1
            elif state is RecordState.ARCHIVING:
                cause = DELIVERY_COUNT_EXCEEDED if delivery_count >= limit else CLIENT_REJECT
                letters.append(DeadLetter(first, batch_last, delivery_count, cause))
        if read.batches:
            self.may_have_available = True
            self.end_offset = self.gap_end = self.in_flight.batches[-1].last
            self.move_start()
        else:
            self.end_offset = start
        self.is_active = True
        return letters

    def fence(self) -> None:
        """Nothing is acquired any more: another one may be at work. SharePartition.markFenced."""
        self.is_active = False

    def can_acquire(self) -> bool:
        """Whether there may be more in flight, or something in flight is available."""
        return (
            self.span() < self.settings().partition_max_record_locks or self.next_fetch_offset() != self.end_offset + 1
        )

    def acquire(
        self,
        member_id: str,
        mode: int,
        batch_size: int,
        max_records: int,
        fetch_offset: int,
        batches: Sequence[LogBatch],
        timer_ms: int,
        aborted: Sequence[AbortedTransaction] = (),
        settings: ShareSettings | None = None,
    ) -> list[Acquired]:
        """Give a member what is available of the batches that were read from `fetch_offset` on.

        `mode` is BATCH_OPTIMIZED or RECORD_LIMIT; `batch_size` is how many records the ranges of the answer are to
        have about; `aborted` only where the group reads committed records: those of aborted transactions are archived.
        `settings`: what the group goes by now, if that was asked already.
        """
        if settings is None:
            settings = self.settings()
        return acquiring.acquire(
            self, member_id, mode, batch_size, max_records, fetch_offset, batches, timer_ms, aborted, settings
        )

    acquire_one = acquiring.acquire_one

    def acknowledge(self, member_id: str, batches: Sequence[AcknowledgementBatch], timer_ms: int) -> Transition:
        """Begin what a member says of what it has acquired.

        Raises INVALID_RECORD_STATE, INVALID_REQUEST: then nothing has changed, but for locks that were renewed.
        """
        return acknowledging.acknowledge(self, member_id, batches, timer_ms)

    def acknowledge_in_parts(
        self, member_id: str, batches: Sequence[AcknowledgementBatch], timer_ms: int
    ) -> Generator[int, None, Transition]:
        """The same of what may be much: gives how much was done, from time to time. What is done in between finds it
        begun.
        """
        return acknowledging.acknowledge_in_parts(self, member_id, batches, timer_ms)

    def release(self, member_id: str) -> Transition:
        """Begin to give back whatever a member has acquired, as its session ends."""
        return acknowledging.release(self, member_id)

    def expire_locks(self, timer_ms: int) -> Transition:
        """Give back whatever has been locked up to now. It is so whether or not it can be written."""
        return acknowledging.expire_locks(self, timer_ms)

    def next_lock_deadline(self) -> int | None:
        """When `expire_locks` is to be called: no lock ends before it, and perhaps none at it."""
        return self.lock_deadline

    def dead_letter_done(self, letter: DeadLetter) -> Transition:
        """Archive what was ARCHIVING: its dead letter is written, or given up. It is so even if it can't be written."""
        return acknowledging.dead_letter_done(self, letter.first_offset, letter.last_offset)

    def log_start_moved(self, log_start_offset: int) -> None:
        """The log begins later: what is available before it is archived. SharePartition.updateCacheAndOffsets."""
        start = self.start_offset
        if log_start_offset <= start:
            return
        batches = self.in_flight.batches
        if not batches:
            self.start_offset = self.end_offset = log_start_offset
            self.delivery_complete_count = 0
            return
        done = 0
        for batch in batches:
            for run in batch.runs:
                if run.first < log_start_offset and run.state.is_terminal:
                    done += self.count_from_start(run.first, min(run.last, log_start_offset - 1))
        if self.archive(start, log_start_offset - 1, batches, RecordState.AVAILABLE, False):
            self.may_have_available = True
        self.start_offset = log_start_offset
        self.delivery_complete_count -= done
        self.end_offset = max(self.end_offset, log_start_offset)

    def in_flight_counts(self) -> tuple[int, int]:
        """Offsets from the start offset to the end offset, and batches that are kept of them: Kafka's gauges."""
        return self.span(), len(self.in_flight.batches)

    def view(self) -> Iterator[View]:
        """What is in flight, in order of offsets."""
        for batch in self.in_flight.batches:
            for run in batch.runs:
                yield View(
                    run.first, run.last, run.state, run.member_id, run.locked_until, run.delivery_count,
                    run.pieces is not None,
                )  # fmt: skip
