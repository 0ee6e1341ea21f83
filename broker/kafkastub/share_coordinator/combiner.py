"""Batches of state put over each other: of each offset the one counts that was delivered more often.

Where as often, the higher state counts: archived (4) before acknowledged (2) before available (0). Neighbours that are
alike become one. Kafka: PersisterStateBatchCombiner.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Sequence

from kafkastub.share_coordinator.state_batches import UNINITIALIZED_START_OFFSET, StateBatch

_Rank = tuple[int, int]
"""Delivery count and delivery state: the higher one wins."""


def combine(batches: Sequence[StateBatch], start_offset: int) -> list[StateBatch]:
    """Batches in any order as ascending ones without overlaps; what is before the start offset is left out.

    Each ends where it begins, or behind it. The start offset -1 leaves everything in.
    """
    if len(batches) == 1 and batches[0].first_offset >= start_offset:  # most often nothing is to be combined
        return [batches[0]]
    left = [one for one in batches if one.last_offset >= start_offset]
    if start_offset != UNINITIALIZED_START_OFFSET:
        left = [one if one.first_offset >= start_offset else one._replace(first_offset=start_offset) for one in left]
    return left if len(left) < 2 else _swept(left)


def _swept(batches: Sequence[StateBatch]) -> list[StateBatch]:
    """From one offset at which something begins or ends to the next one, what counts there."""
    events: list[tuple[int, int, _Rank]] = []
    for first, last, state, count in batches:
        events.append((first, 1, (count, state)))
        events.append((last + 1, -1, (count, state)))
    events.sort()
    active: dict[_Rank, int] = {}
    highest: list[_Rank] = []  # negated, the highest first; those that have ended go when they come to the top
    found: list[StateBatch] = []
    begin, winner = 0, None
    for offset, change, rank in events:
        if winner is not None and offset > begin:
            _append(found, begin, offset - 1, winner)
        left = active.get(rank, 0) + change
        if not left:
            del active[rank]
        elif rank not in active:
            heapq.heappush(highest, (-rank[0], -rank[1]))
        if left:
            active[rank] = left
        while highest and (winner := (-highest[0][0], -highest[0][1])) not in active:
            heapq.heappop(highest)
        begin, winner = offset, winner if highest else None
    return found


def _append(found: list[StateBatch], first: int, last: int, rank: _Rank) -> None:
    count, state = rank
    if found:
        before = found[-1]
        if before.last_offset + 1 == first and before.delivery_state == state and before.delivery_count == count:
            found[-1] = StateBatch(before.first_offset, last, state, count)
            return
    found.append(StateBatch(first, last, state, count))


def _last_of(batch: StateBatch) -> int:
    return batch.last_offset


def _first_of(batch: StateBatch) -> int:
    return batch.first_offset


def merge(batches: list[StateBatch], new: Sequence[StateBatch], start_offset: int) -> None:
    """Make `batches`, which are combined, what `combine` makes of both: only where there is something new is looked at.

    `new` is combined too. An acknowledgement in a partition with thousands of ranges in flight costs what it has.
    """
    if (
        len(new) == 1
        and new[0].first_offset >= start_offset
        and (not batches or batches[-1].last_offset < start_offset)
    ):  # most often all that was known is done with
        batches[:] = new
        return
    if start_offset != UNINITIALIZED_START_OFFSET and batches and batches[0].first_offset < start_offset:
        del batches[: bisect_left(batches, start_offset, key=_last_of)]
        if batches and batches[0].first_offset < start_offset:
            batches[0] = batches[0]._replace(first_offset=start_offset)
    for one in new:
        if one.last_offset < start_offset:
            continue
        begin = bisect_left(batches, one.first_offset - 1, key=_last_of)
        end = bisect_left(batches, one.last_offset + 2, lo=begin, key=_first_of)
        if begin == end:
            batches.insert(begin, one if one.first_offset >= start_offset else one._replace(first_offset=start_offset))
        else:
            batches[begin:end] = combine((*batches[begin:end], one), start_offset)
