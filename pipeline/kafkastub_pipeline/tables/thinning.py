"""Commits that `GroupHistory` need not see: those that another one follows long before anything could expire.

A commit c of a place (topic and partition of a group) is left out where the events before it and behind it at its
place, p and n, are commits too, and nothing from p to n makes it matter which of p and c is there:

* Nothing expires at the place until n is there: p and c stay for longer than the bucket of time in which c and n are,
  and no event from p to n comes when the age of an empty group, which counts from its state, has reached the
  retention. All that were left out between two commits that stay are of one bucket, and the first of these outlasts it.
* No request, and no tombstone of the group, comes in between: these take every offset that is there.
* Time does not go back in between: when the group was last touched is told by the events that stay.

What an event makes of a group depends on which offsets are there, and of an offset that goes on its last commit alone.
So what comes out of the history is the same, event by event. What a commit does beside that, `_Explorer` sees to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kafkastub_pipeline.decode.buffers import Mask
from kafkastub_pipeline.roster import HEADS
from kafkastub_pipeline.rules import MINUTE_MS
from kafkastub_pipeline.tables.events import OFFSETS
from kafkawire.offsets_topic import RecordType

Numbers = npt.NDArray[np.int64]

_ROWS: Final = 100_000
_BYTES: Final = 2**25
"""Records that are looked at together: at their edges everything stays, and more are not held."""
_BATCH: Final = 10_000
_FAR: Final = 2**61
"""Milliseconds: times and retentions are cut off there, so that sums of two stay numbers of 64 bits."""
_NEVER: Final = 2**62
_GROUP_METADATA: Final = int(RecordType.GROUP_METADATA)
_WHOLE_GROUP: Final = pa.array((_GROUP_METADATA, *HEADS), pa.int16())
"""Their tombstones end a group."""
ABOUT_OFFSETS: Final = pa.array(OFFSETS, pa.int16())
_NOT_ALL: Final = "group_id", "log_partition"


class Thinner:
    """Leaves out what need not be seen, of records sorted as a `GroupHistory` is told them.

    Args:
        retentions: those that are tried, in minutes. The broker's own does not matter: what it deleted is on the log.
        within: columns that tell one history from the next.
    """

    def __init__(self, retentions: Sequence[int], within: Sequence[str] = ("group_id",)) -> None:
        finite = [minutes for minutes in retentions if minutes >= 0]
        self._shortest = min(_FAR, min(finite) * MINUTE_MS) if finite else None
        """The retention under which an offset goes first, in ms; None where all are for ever."""
        self._bucket = _FAR if self._shortest is None else max(1, self._shortest // 4 * 3)
        self._within = tuple(within)
        self._last: pa.RecordBatch | None = None
        """The last record that was looked at."""
        self._since = _NEVER
        """And since when its group has been empty, as far as anything's age counts from that."""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        held: list[pa.RecordBatch] = []
        rows = size = 0
        for batch in batches:
            held.append(batch)
            rows, size = rows + batch.num_rows, size + batch.nbytes
            if rows >= _ROWS or size >= _BYTES:
                yield from self._left(held)
                held, rows, size = [], 0, 0
        yield from self._left(held)

    def _left(self, held: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if not sum(one.num_rows for one in held):
            return
        together = pa.Table.from_batches(held).combine_chunks()
        left = together.filter(pa.array(self.stay(together.to_batches()[0])))
        yield from left.to_batches(max_chunksize=_BATCH)

    def stay(self, batch: pa.RecordBatch) -> Mask:
        """Which records of the next batch stay, and all else that is remembered of it."""
        new = np.ones(batch.num_rows, np.bool_)
        new[1:] = _changes(batch, self._within)
        new[0] = self._last is None or _starts(self._last, batch, self._within)
        since = self._ages(batch, new)
        self._last = batch.slice(batch.num_rows - 1)
        at, parts = _cut(_numbers(batch, "log_ms", -_NEVER)), self._parts(batch, new, since)
        offsets = pc.is_in(batch.column("record_type"), ABOUT_OFFSETS).to_numpy(zero_copy_only=False)
        tombstone = batch.column("tombstone").fill_null(True).to_numpy(zero_copy_only=False)
        rows = np.flatnonzero(offsets)
        place = _places(batch, rows, np.cumsum(new))
        order = np.argsort(place, kind="stable")
        rows, place = rows[order], place[order]
        stay = np.ones(batch.num_rows, np.bool_)
        if len(rows) < 3:
            return stay
        end = (at // self._bucket + 1) * self._bucket
        goes = self._goes(batch)
        before, middle, behind = rows[:-2], rows[1:-1], rows[2:]
        alike = (place[:-2] == place[2:]) & (parts[before] == parts[behind])
        commits = ~(tombstone[before] | tombstone[middle] | tombstone[behind])
        lasts = (goes[before] >= end[middle]) & (goes[middle] >= end[middle]) & (at[behind] < end[middle])
        stay[middle[alike & commits & lasts]] = False
        return stay

    def _ages(self, batch: pa.RecordBatch, new: Mask) -> Numbers:
        """Since when a group has been empty before each record, where ages may count from that."""
        state = pc.equal(batch.column("record_type"), _GROUP_METADATA).fill_null(False)
        state = pc.and_(state, pc.invert(batch.column("tombstone").fill_null(True)))
        told = _cut(_numbers(batch, "state_ms", _NEVER))
        told[~batch.column("empty").fill_null(False).to_numpy(zero_copy_only=False)] = _NEVER
        starts = np.flatnonzero(new)
        known = state.to_numpy(zero_copy_only=False)
        # the last record that tells, up to each; where there is none, the first of the group
        of = np.maximum.accumulate(np.where(known | new, np.arange(len(new)), 0))
        told[starts[~known[starts]]] = _NEVER
        if not new[0] and not known[0]:
            told[0] = self._since
        after = told[of]
        before = np.concatenate([[self._since], after[:-1]])
        before[starts] = _NEVER
        self._since = int(after[-1])
        return before

    def _parts(self, batch: pa.RecordBatch, new: Mask, since: Numbers) -> Numbers:
        """Numbers of the stretches within which commits may be left out."""
        at = _numbers(batch, "log_ms", -_NEVER)
        type_ = batch.column("record_type")
        ends = pc.and_(pc.is_in(type_, _WHOLE_GROUP), batch.column("tombstone").fill_null(True))
        cut = new | ends.to_numpy(zero_copy_only=False) | type_.is_null().to_numpy(zero_copy_only=False)
        cut[1:] |= _changes(batch, _NOT_ALL) | (at[1:] < at[:-1])
        if self._shortest is not None:
            cut |= since + self._shortest <= _cut(at)
        cut |= batch.column("log_ms").is_null().to_numpy(zero_copy_only=False)
        return np.cumsum(cut)

    def _goes(self, batch: pa.RecordBatch) -> Numbers:
        """When a commit expires at the soonest, the group's state aside."""
        if self._shortest is None:
            return np.full(batch.num_rows, _NEVER)
        own = _numbers(batch, "expire_ms", -_FAR)
        return np.where(own == -1, _cut(_numbers(batch, "commit_ms", -_NEVER)) + self._shortest, own)


def _numbers(batch: pa.RecordBatch, name: str, missing: int) -> Numbers:
    found: Numbers = batch.column(name).fill_null(missing).to_numpy(zero_copy_only=False).astype(np.int64)
    return found


def _cut(times: Numbers) -> Numbers:
    """Far enough from the ends of 64 bits; what never comes stays so."""
    return np.where(times == _NEVER, _NEVER, np.clip(times, -_FAR, _FAR))


def _changes(batch: pa.RecordBatch, names: Sequence[str]) -> Mask:
    """Whether one of the columns of a record, from the second on, is not what it was in the record before."""
    found = np.zeros(batch.num_rows - 1, np.bool_)
    for name in names:
        column = batch.column(name)
        differs = pc.not_equal(column.slice(1), column.slice(0, batch.num_rows - 1)).fill_null(True)
        found |= differs.to_numpy(zero_copy_only=False)
    return found


def _starts(last: pa.RecordBatch, batch: pa.RecordBatch, names: Sequence[str]) -> bool:
    return any(last.column(name)[0].as_py() != batch.column(name)[0].as_py() for name in names)


def _places(batch: pa.RecordBatch, rows: Numbers, groups: Numbers) -> Numbers:
    """A number for the group, the topic and the partition of each of some records."""
    found = groups[rows]
    for name in ("topic", "partition"):
        codes = batch.column(name).take(pa.array(rows)).dictionary_encode()
        found = found * (len(codes.dictionary) + 1) + codes.indices.fill_null(len(codes.dictionary)).to_numpy()
    return found
