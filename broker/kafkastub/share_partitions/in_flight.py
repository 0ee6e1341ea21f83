"""What is in flight in a share partition, in order of offsets. Kafka: InFlightBatch, InFlightState, `cachedState`.

Kafka keeps an object for each offset of a batch once something was said of a part of it. Here neighbouring offsets that
have one state are one `Run`: a batch is cut where a member cuts it, so what is kept follows what was said, and not how
many offsets there are.
"""

from __future__ import annotations

from bisect import bisect_right
from operator import attrgetter
from typing import Final

from kafkastub.share_partitions.states import RecordState

_FIRST: Final = attrgetter("first")

_ACQUIRED: Final = RecordState.ACQUIRED
_AVAILABLE: Final = RecordState.AVAILABLE
_ARCHIVED: Final = RecordState.ARCHIVED


class Run:
    """Neighbouring offsets that have one state.

    Attributes:
        member_id: who has acquired them, or "".
        locked_until: timer time (ms) at which that ends; None without a lock.
        lock_ran_out: it has ended while something was being written of them.
        pieces: where something is being written of them, all runs of it: a run that is cut stays in its transition.
        before: state and member before that; meaningless without `pieces`.
        limit: deliveries that were allowed as that was begun.
        stays_archived: what is being written no longer counts: the log has lost them meanwhile.
    """

    __slots__ = (
        "before", "delivery_count", "first", "last", "limit", "lock_ran_out", "locked_until", "member_id", "pieces",
        "state", "stays_archived",
    )  # fmt: skip

    def __init__(
        self, first: int, last: int, state: RecordState, delivery_count: int, member_id: str, locked_until: int | None
    ) -> None:
        self.first = first
        self.last = last
        self.state = state
        self.delivery_count = delivery_count
        self.member_id = member_id
        self.locked_until = locked_until
        self.lock_ran_out = False
        self.pieces: list[Run] | None = None
        self.before = (state, member_id)
        self.limit = 0
        self.stays_archived = False

    def give_back(self, to: RecordState, limit: int, dead_letters: bool) -> None:
        """Its member has it no more. What was delivered `limit` times is not made available again."""
        if to is _AVAILABLE and self.delivery_count >= limit:
            to = RecordState.ARCHIVING if dead_letters else _ARCHIVED
        self.state = to
        self.member_id = ""

    def begin(self, to: RecordState, limit: int, dead_letters: bool) -> list[Run]:
        """Give it back, if that can be written. Returns the pieces that are to be completed."""
        self.before = (self.state, self.member_id)
        self.limit = limit
        self.give_back(to, limit, dead_letters)
        self.pieces = pieces = [self]
        return pieces

    def complete(self, is_written: bool) -> None:
        """End what was begun. InFlightState.completeStateTransition."""
        self.pieces = None
        if is_written or self.stays_archived:
            self.locked_until = None
        elif self.lock_ran_out:
            self.state = _ARCHIVED if self.delivery_count >= self.limit else _AVAILABLE
            self.member_id = ""
            self.locked_until = None
        else:
            self.state, self.member_id = self.before
        self.lock_ran_out = False

    def archive(self) -> None:
        """Nothing becomes of it any more, whatever is being written of it."""
        self.stays_archived = True
        self.state = _ARCHIVED
        self.member_id = ""
        self.locked_until = None

    def cut(self, at: int) -> Run:
        """End before offset `at`, and return the rest."""
        rest = Run(at, self.last, self.state, self.delivery_count, self.member_id, self.locked_until)
        rest.lock_ran_out = self.lock_ran_out
        rest.before = self.before
        rest.limit = self.limit
        rest.stays_archived = self.stays_archived
        if self.pieces is not None:
            rest.pieces = self.pieces
            self.pieces.append(rest)
        self.last = at - 1
        return rest

    def is_like(self, other: Run) -> bool:
        """Whether the two need not be told apart: they belong to nobody, and nothing is being written of them."""
        return (
            self.state is other.state
            and self.delivery_count == other.delivery_count
            and self.state is not _ACQUIRED
            and self.pieces is None
            and other.pieces is None
        )


class InFlightBatch:
    """Offsets that were acquired together, or read together from what was kept.

    Attributes:
        runs: without gaps from the first offset to the last.
        by_offset: whether its offsets are judged one by one, for ever after something was said of a part of them. What
            is no such batch has one run, and is acquired and acknowledged as a whole.
    """

    __slots__ = ("by_offset", "first", "last", "runs")

    def __init__(self, run: Run) -> None:
        self.first = run.first
        self.last = run.last
        self.runs = [run]
        self.by_offset = False

    def index(self, offset: int) -> int:
        """Which run has an offset; the first one for those before it, the last one for those behind."""
        runs = self.runs
        if len(runs) == 1:
            return 0
        return max(bisect_right(runs, offset, key=_FIRST) - 1, 0)

    def narrow(self, index: int, first: int, last: int) -> int:
        """Cut a run so that no offset of it is outside `first` to `last`, which it must overlap. Returns its index."""
        runs = self.runs
        run = runs[index]
        if run.first < first:
            index += 1
            run = run.cut(first)
            runs.insert(index, run)
        if run.last > last:
            runs.insert(index + 1, run.cut(last + 1))
        return index

    def join(self, index: int) -> None:
        """Make one of a run and its neighbours, where they are like it."""
        runs = self.runs
        run = runs[index]
        if index + 1 < len(runs) and run.is_like(runs[index + 1]):
            run.last = runs.pop(index + 1).last
        if index and run.is_like(runs[index - 1]):
            runs[index - 1].last = run.last
            del runs[index]

    def join_all(self) -> None:
        """Make one of all neighbours that are alike."""
        runs = self.runs
        kept = [runs[0]]
        for run in runs[1:]:
            before = kept[-1]
            if run.is_like(before):
                before.last = run.last
            else:
                kept.append(run)
        self.runs = kept


class InFlight:
    """All batches of a share partition by their first offset.

    Attributes:
        firsts: their first offsets, in order.
        batches: in the same order; no two overlap.
    """

    __slots__ = ("batches", "firsts")

    def __init__(self) -> None:
        self.firsts: list[int] = []
        self.batches: list[InFlightBatch] = []

    def floor(self, offset: int) -> int:
        """Index of the last batch that does not begin behind an offset; -1 where each does."""
        return bisect_right(self.firsts, offset) - 1

    def between(self, lowest: int, highest: int) -> list[InFlightBatch]:
        """Those that begin from `lowest` to `highest`."""
        firsts = self.firsts
        begin = self.floor(lowest - 1) + 1
        return self.batches[begin : bisect_right(firsts, highest, begin)]

    def put(self, batch: InFlightBatch) -> None:
        """Add one, in place of one that begins at the same offset."""
        firsts = self.firsts
        if not firsts or firsts[-1] < batch.first:
            firsts.append(batch.first)
            self.batches.append(batch)
            return
        at = self.floor(batch.first)
        if at >= 0 and firsts[at] == batch.first:
            self.batches[at] = batch
        else:
            firsts.insert(at + 1, batch.first)
            self.batches.insert(at + 1, batch)

    def remove_first(self, count: int) -> None:
        """Forget so many."""
        del self.firsts[:count]
        del self.batches[:count]
