"""What a share partition is at one moment: what is in flight, between which offsets, and where it goes on.

Kafka: SharePartition's fields; nextFetchOffset, maybeUpdateCachedStateAndOffsets, rollbackOrProcessStateUpdates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from kafkastub.share_partitions.dead_letters import DeadLetter
from kafkastub.share_partitions.in_flight import InFlight, InFlightBatch, Run
from kafkastub.share_partitions.settings import ShareSettings
from kafkastub.share_partitions.states import RecordState
from kafkastub.share_partitions.transition import Transition

_AVAILABLE: Final = RecordState.AVAILABLE
_ACQUIRED: Final = RecordState.ACQUIRED
_ACKNOWLEDGED: Final = RecordState.ACKNOWLEDGED
_ARCHIVED: Final = RecordState.ARCHIVED
_FEW: Final = 10
"""Runs that are joined with their neighbours one by one, and not all of their batches at once."""
_STATES: Final = tuple(RecordState)


class PartitionState:
    """One partition of one group, on the node that leads it; times are timer milliseconds.

    Attributes:
        settings: what it goes by, asked each time.
        leader_epoch: of the partition's leader.
        is_active: it is loaded, and not fenced.
        state_epoch: how often the share partition was initialised.
        start_offset: before it everything is done with.
        end_offset: the last offset that was ever in flight; while nothing is, the next one to be read.
        delivery_complete_count: so many offsets from the start offset on are acknowledged or archived.
        in_flight: what is known of offsets from the start offset to the end offset.
        may_have_available: something in flight may be available, and is to be looked for.
        gap_start, gap_end: what was kept had gaps: nothing is known of offsets between batches from `gap_start` on. It
            counts as long as `gap_end` is the end offset; None: there is no gap.
        lock_deadline: no lock ends before it; None where none was given.
    """

    __slots__ = (
        "delivery_complete_count", "end_offset", "gap_end", "gap_start", "group_id", "in_flight", "is_active",
        "leader_epoch", "lock_deadline", "may_have_available", "partition", "settings", "start_offset", "state_epoch",
        "topic_id",
    )  # fmt: skip

    def __init__(
        self, group_id: str, topic_id: bytes, partition: int, settings: Callable[[], ShareSettings], leader_epoch: int
    ) -> None:
        self.group_id = group_id
        self.topic_id = topic_id
        self.partition = partition
        self.settings = settings
        self.leader_epoch = leader_epoch
        self.is_active = False
        self.state_epoch = 0
        self.start_offset = 0
        self.end_offset = 0
        self.delivery_complete_count = 0
        self.in_flight = InFlight()
        self.may_have_available = False
        self.gap_start: int | None = None
        self.gap_end = -1
        self.lock_deadline: int | None = None

    # -- what is where -------------------------------------------------------------------------------------------------

    def gap_from(self) -> int | None:
        """From where on nothing may be known between batches; None where all is known."""
        return self.gap_start if self.gap_end == self.end_offset else None

    def gap_known_to(self, offset: int) -> None:
        """Up to `offset` all is known now. SharePartition.maybeUpdatePersisterGapWindowStartOffset."""
        if self.gap_start is not None:
            if self.gap_end == self.end_offset and offset <= self.gap_end:
                self.gap_start = offset
            else:
                self.gap_start = None

    def span(self) -> int:
        """How many offsets are in flight, those that are done with and those that have no record included."""
        return self.end_offset - self.start_offset + 1 if self.in_flight.batches else 0

    def count_from_start(self, first: int, last: int) -> int:
        """How many of some offsets are not before the start offset."""
        return max(last - max(self.start_offset, first) + 1, 0)

    def has_start_within(self, batch: InFlightBatch) -> bool:
        """Whether the start offset is in a batch, and not its first offset."""
        return batch.first < self.start_offset <= batch.last

    def next_fetch_offset(self) -> int:
        """Where the log is to be read next: the first offset that is available, else behind all."""
        batches = self.in_flight.batches
        if not batches or self.start_offset > batches[-1].last:
            self.may_have_available = False
            return self.end_offset
        if self.may_have_available:
            found = self._first_available(batches)
            if found is not None:
                return found
            self.may_have_available = False
        return self.end_offset + 1

    def _first_available(self, batches: Sequence[InFlightBatch]) -> int | None:
        gap = self.gap_from()
        for batch in batches:
            if gap is not None:
                if batch.first > gap:
                    return gap
                gap = max(batch.last + 1, gap)
            for run in batch.runs:
                if run.state is _AVAILABLE and run.pieces is None:
                    return run.first
        return None

    def lock(self, until: int) -> None:
        """A lock ends at `until`."""
        if self.lock_deadline is None or until < self.lock_deadline:
            self.lock_deadline = until

    # -- transitions ---------------------------------------------------------------------------------------------------

    def begun(self, transition: Transition) -> Transition:
        """As it is to be written now."""
        transition.start_offset = self.start_offset
        transition.delivery_complete_count = self.delivery_complete_count
        return transition

    def commit(self, transition: Transition) -> Sequence[DeadLetter]:
        """It is written: make it true. Returns whose dead letters are to be written now."""
        if not transition.changes:
            return ()
        batches, floor = self.in_flight.batches, self.in_flight.floor
        joined: dict[InFlightBatch, None] = {}
        has_many = len(transition.changes) > _FEW
        for pieces, _, _ in transition.changes:
            for run in pieces:
                run.complete(True)
                if run.state is _AVAILABLE:
                    self.may_have_available = True
                batch = batches[floor(run.first)]
                if not batch.by_offset:
                    continue
                if has_many:
                    joined[batch] = None
                else:
                    batch.join(batch.index(run.first))
        for batch in joined:
            batch.join_all()
        self.move_start()
        return transition.dead_letters()

    def roll_back(self, transition: Transition) -> Sequence[DeadLetter]:
        """It could not be written. Returns whose dead letters are to be written all the same: those of locks that
        have run out.
        """
        for pieces, write, _ in transition.changes:
            for run in pieces:
                run.complete(False)
                if run.state is _AVAILABLE:
                    self.may_have_available = True
                if _STATES[write.delivery_state].is_terminal and not run.state.is_terminal:
                    self.delivery_complete_count -= self.count_from_start(run.first, run.last)
        at_once = [change for change in transition.changes if not change.pieces]
        if not at_once:
            return ()
        self.move_start()
        return transition.dead_letters()

    def move_start(self) -> None:
        """Forget what is done with from the start offset on, and begin behind it."""
        in_flight = self.in_flight
        batches = in_flight.batches
        if not self._is_start_done():
            return
        last, done = self._done_up_to()
        if last is None:
            return
        if last == batches[-1].last:
            self._all_done(last)
            return
        at = in_flight.floor(last)
        if last == batches[at].last:
            at += 1
            self.start_offset = max(self.start_offset, in_flight.firsts[at])
            gap = self.gap_from()
            if gap is not None:
                self.start_offset = min(self.start_offset, gap)
        else:
            self.start_offset = max(self.start_offset, last + 1)
        self.delivery_complete_count -= done
        in_flight.remove_first(at)

    def _all_done(self, last: int) -> None:
        """Whatever was in flight is done with, up to `last`."""
        in_flight = self.in_flight
        self.start_offset = self.end_offset = last + 1
        in_flight.firsts.clear()
        in_flight.batches.clear()
        self.delivery_complete_count = 0

    def _is_start_done(self) -> bool:
        at = self.in_flight.floor(self.start_offset)
        if at < 0:  # nothing is known of the start offset: it can still be acquired
            return False
        batch = self.in_flight.batches[at]
        if batch.by_offset and self.start_offset > batch.last:  # the log has lost all that is known
            return False
        run = batch.runs[batch.index(self.start_offset)]
        return run.pieces is None and (run.state is _ACKNOWLEDGED or run.state is _ARCHIVED)

    def _done_up_to(self) -> tuple[int | None, int]:
        """The last offset of those that are done with from the first batch on, and how many from the start offset."""
        last, done = None, 0
        gap, start = self.gap_from(), self.start_offset
        for batch in self.in_flight.batches:
            if gap is not None and batch.last >= gap:
                break
            for run in batch.runs:
                if run.pieces is not None or not (run.state is _ACKNOWLEDGED or run.state is _ARCHIVED):
                    return last, done
                last = run.last
                if last >= start:
                    done += last - max(run.first, start) + 1
        return last, done

    # -- at once -------------------------------------------------------------------------------------------------------

    def whole(self, member_id: str, first: int, last: int) -> Run | None:
        """What a member has acquired and not said anything of, if these are all its offsets; None for anything else."""
        batches = self.in_flight.batches
        at = 0 if len(batches) == 1 else self.in_flight.floor(first)
        if at < 0:
            return None
        batch = batches[at]
        if batch.first != first or batch.last != last or batch.by_offset or first < self.start_offset:
            return None
        run = batch.runs[0]
        return run if run.state is _ACQUIRED and run.member_id == member_id else None

    def accepted(self, run: Run) -> None:
        """What `whole` has given is acknowledged, and that is written: `acknowledge` and `commit` in one."""
        run.state = _ACKNOWLEDGED
        run.member_id = ""
        run.locked_until = None
        if len(self.in_flight.batches) == 1 and run.first == self.start_offset and self.gap_start is None:
            self._all_done(run.last)
            return
        self.delivery_complete_count += run.last - run.first + 1
        self.move_start()

    # -- archiving -----------------------------------------------------------------------------------------------------

    def archive(
        self, first: int, last: int, batches: Sequence[InFlightBatch], state: RecordState, counts: bool
    ) -> bool:
        """Archive those offsets from `first` to `last` that have a state. SharePartition.archiveRecords.

        `counts`: the delivery complete count counts them. Returns whether there were any.
        """
        any_archived = False
        for batch in batches:
            if batch.first > last:
                break
            if not batch.by_offset:
                if batch.runs[0].state is not state:
                    continue
                batch.by_offset = batch.first < first or batch.last > last
            index = batch.index(first)
            while index < len(batch.runs) and (run := batch.runs[index]).first <= last:
                if run.state is state and run.last >= first:
                    index = batch.narrow(index, first, last)
                    run = batch.runs[index]
                    run.archive()
                    if counts:
                        self.delivery_complete_count += run.last - run.first + 1
                    any_archived = True
                index += 1
        return any_archived
