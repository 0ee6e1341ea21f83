"""How a member gets records. Kafka: SharePartition.acquire.

What nobody has had yet is acquired in batches that end where batches of the log end. What is in flight and available is
acquired anew, batch by batch, or offset by offset where a batch is not one any more. Records that were delivered often
come in fewer and fewer at a time, and at last alone, so that what breaks its readers is found (KIP-1191 and KIP-1206).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from kafkastub.share_partitions.in_flight import InFlightBatch, Run
from kafkastub.share_partitions.log_batches import AbortedTransaction, Acquired, LogBatch, count_of
from kafkastub.share_partitions.partition_state import PartitionState
from kafkastub.share_partitions.settings import ShareSettings
from kafkastub.share_partitions.states import RECORD_LIMIT, RecordState

_ACQUIRED: Final = RecordState.ACQUIRED
_AVAILABLE: Final = RecordState.AVAILABLE
_FEWEST_BEFORE_THROTTLE: Final = 2
"""So often is anything delivered before it comes in smaller numbers: MINIMUM_THROTTLE_RECORDS_DELIVERY_LIMIT."""


class _Fresh(NamedTuple):
    """What is asked of records that nobody has had yet.

    Attributes:
        locked_until: timer time (ms) to which the member gets them.
    """

    member_id: str
    record_limit: bool
    batch_size: int
    batches: Sequence[LogBatch]
    locked_until: int


class _Again(NamedTuple):
    """What is to be known of those that were delivered before.

    Attributes:
        first, last: offsets that may be acquired of what was read.
        limit: so often a record may be delivered.
        throttle: so often may a record have been delivered and yet come in any number.
    """

    first: int
    last: int
    limit: int
    throttle: int


def acquire(
    state: PartitionState,
    member_id: str,
    mode: int,
    batch_size: int,
    max_records: int,
    fetch_offset: int,
    batches: Sequence[LogBatch],
    timer_ms: int,
    aborted: Sequence[AbortedTransaction],
    settings: ShareSettings,
) -> list[Acquired]:
    """See SharePartition.acquire."""
    if not state.is_active or max_records <= 0 or not batches or batches[-1].last_offset < state.start_offset:
        return []
    most, last = _limits(state, settings, fetch_offset, max_records, batches[-1].last_offset)
    if most <= 0:
        return []
    first = base = batches[0].base_offset
    batches_in_flight = state.in_flight.batches
    if fetch_offset < first and batches_in_flight:
        _archive_stale(state, fetch_offset, first)
    locked_until = timer_ms + settings.record_lock_duration_ms
    fresh = _Fresh(member_id, mode == RECORD_LIMIT, batch_size, batches, locked_until)
    overlapping: Sequence[InFlightBatch] = ()
    if not batches_in_flight:
        base = max(base, state.start_offset)
    elif base <= batches_in_flight[-1].last:
        base, overlapping = _overlapping(state, first, last)
    if not overlapping:
        acquired = _new(state, fresh, base, last, most)
    else:
        limit = settings.delivery_count_limit
        throttle = max(_FEWEST_BEFORE_THROTTLE, -(-limit // 2))
        acquired = _again(state, fresh, _Again(first, last, limit, throttle), overlapping, base, most)
        if acquired:
            state.gap_known_to(acquired[-1].last_offset + 1)
    if acquired:
        state.lock(locked_until)
        if aborted:
            return _without_aborted(state, acquired, batches, aborted)
    return acquired


def acquire_one(
    state: PartitionState,
    member_id: str,
    mode: int,
    batch_size: int,
    max_records: int,
    first: int,
    last: int,
    timer_ms: int,
    settings: ShareSettings,
) -> list[Acquired]:
    """As `acquire`, of one batch, read from its `first` offset on, that is of no aborted transaction."""
    in_flight = state.in_flight.batches
    end = in_flight[-1].last + 1 if in_flight else state.end_offset
    most = settings.partition_max_record_locks - state.span()
    most = max_records if max_records < most else most
    is_new = first >= end and first >= state.start_offset and state.gap_start is None
    if not is_new or last - first >= most or not state.is_active:
        batches = (LogBatch(first, last),)
        return acquire(state, member_id, mode, batch_size, max_records, first, batches, timer_ms, (), settings)
    locked_until = timer_ms + settings.record_lock_duration_ms
    acquired = tuple.__new__(Acquired, (first, last, 1))  # its own constructor takes three times as long
    _put(state, member_id, acquired, locked_until)
    _begun(state, first, last)
    state.lock(locked_until)
    return [acquired]


def _overlapping(state: PartitionState, first: int, last: int) -> tuple[int, Sequence[InFlightBatch]]:
    """Where what was read begins, or the batch in which that is; and what is in flight from there on."""
    in_flight, base = state.in_flight, first
    at = in_flight.floor(base)
    if at < 0:
        base = max(base, state.start_offset)
    elif in_flight.batches[at].last >= base:
        base = in_flight.firsts[at]
    return base, in_flight.between(min(first, base), last)


def _limits(
    state: PartitionState, settings: ShareSettings, fetch_offset: int, max_records: int, last: int
) -> tuple[int, int]:
    """How many, and up to which offset. Where no more may be in flight, what is in flight may be acquired again."""
    most = min(max_records, settings.partition_max_record_locks - state.span())
    if most <= 0 and fetch_offset <= state.end_offset:
        return min(max_records, state.end_offset - fetch_offset + 1), min(last, state.end_offset)
    return most, last


def _archive_stale(state: PartitionState, fetch_offset: int, base: int) -> None:
    """What is available between where was read and what was found is no more in the log: it was compacted."""
    in_flight = state.in_flight
    lowest = fetch_offset
    at = in_flight.floor(fetch_offset)
    if at >= 0 and in_flight.batches[at].last >= fetch_offset:
        lowest = in_flight.firsts[at]
    stale = in_flight.between(lowest, base - 1)
    if state.archive(fetch_offset, base - 1, stale, _AVAILABLE, True):
        state.may_have_available = True


def _new(state: PartitionState, fresh: _Fresh, first: int, last: int, most: int) -> list[Acquired]:
    """Acquire what was never in flight, and to the end of the batch in which the last record is that was asked for."""
    in_flight = state.in_flight
    if not in_flight.batches:
        first = max(first, state.end_offset)
    end = last
    if most < last - first + 1:
        end = _end_of_batch(fresh.batches, first + most - 1)
        if end > last and state.gap_from() is not None:
            end = last
    if end < first:
        return []
    acquired = _ranges(fresh, first, end)
    if fresh.record_limit and end - first + 1 > most:
        batch = _put(state, fresh.member_id, acquired[0], fresh.locked_until)
        batch.by_offset = True
        rest = batch.runs[batch.narrow(0, first + most, end)]
        rest.state, rest.delivery_count, rest.member_id, rest.locked_until = _AVAILABLE, 0, "", None
        acquired = [Acquired(first, first + most - 1, 1)]
        state.may_have_available = True
    else:
        for each in acquired:
            _put(state, fresh.member_id, each, fresh.locked_until)
    _begun(state, first, end)
    state.gap_known_to(acquired[-1].last_offset + 1)
    return acquired


def _put(state: PartitionState, member_id: str, acquired: Acquired, locked_until: int) -> InFlightBatch:
    batch = InFlightBatch(Run(acquired.first_offset, acquired.last_offset, _ACQUIRED, 1, member_id, locked_until))
    state.in_flight.put(batch)
    return batch


def _begun(state: PartitionState, first: int, end: int) -> None:
    """From `first` to `end` all is in flight now."""
    if state.in_flight.firsts[0] == first:
        state.start_offset = first
    if state.end_offset < end:
        state.end_offset = end


def _end_of_batch(batches: Sequence[LogBatch], offset: int) -> int:
    """The last offset of the batch that has an offset; the offset itself where none has."""
    holding = None
    for batch in batches:
        if offset < batch.base_offset:
            break
        holding = batch
    return holding.last_offset if holding is not None and offset <= holding.last_offset else offset


def _ranges(fresh: _Fresh, first: int, last: int) -> list[Acquired]:
    """Ranges of at least `batch_size` offsets that end where batches of the log end."""
    ranges = []
    if not fresh.record_limit and last - first + 1 > fresh.batch_size:
        for batch in fresh.batches:
            base = batch.base_offset
            if base > last:
                break
            if base > first and base - first >= fresh.batch_size:
                ranges.append(Acquired(first, base - 1, 1))
                first = base
    ranges.append(Acquired(first, last, 1))
    return ranges


def _again(
    state: PartitionState, fresh: _Fresh, known: _Again, overlapping: Sequence[InFlightBatch], base: int, most: int
) -> list[Acquired]:
    """Acquire what is available in flight, then what lies behind it."""
    result: list[Acquired] = []
    count = 0
    gap = base
    for batch in overlapping:
        if count >= most:
            return result
        if state.gap_from() is not None:
            if gap < batch.first:
                new = _new(state, fresh, gap, batch.first - 1, most - count)
                result += new
                count += count_of(new)
            gap = batch.last + 1
            if count >= most:
                return result
        throttled = _is_throttled(known, batch)
        if throttled and count:
            return result
        got = _of_batch(fresh, known, batch, most - count, throttled)
        result += got
        count += count_of(got)
        if throttled and got:
            return result
    if count < most and overlapping[-1].last < known.last:
        result += _new(state, fresh, overlapping[-1].last + 1, known.last, most - count)
    return result


def _of_batch(fresh: _Fresh, known: _Again, batch: InFlightBatch, most: int, throttled: bool) -> list[Acquired]:
    """Acquire a batch as a whole, or what there is of it."""
    is_whole = batch.first >= known.first and batch.last <= known.last
    if not batch.by_offset:
        run = batch.runs[0]
        if run.state is not _AVAILABLE or run.pieces is not None:
            return []
        too_many = fresh.record_limit and batch.last - batch.first + 1 > most
        if is_whole and not too_many and not throttled:
            return [_give(fresh, run)]
        batch.by_offset = True
    return _of_offsets(fresh, known, batch, most)


def _give(fresh: _Fresh, run: Run) -> Acquired:
    run.state = _ACQUIRED
    run.delivery_count += 1
    run.member_id = fresh.member_id
    run.locked_until = fresh.locked_until
    return Acquired(run.first, run.last, run.delivery_count)


def _is_throttled(known: _Again, batch: InFlightBatch) -> bool:
    """Whether something that could be acquired of a batch was delivered often."""
    throttle = known.throttle
    if not batch.by_offset:
        run = batch.runs[0]
        return run.delivery_count >= throttle and run.state is _AVAILABLE and run.pieces is None
    return any(
        run.delivery_count >= throttle
        and run.state is _AVAILABLE
        and run.pieces is None
        and run.first <= known.last
        and run.last >= known.first
        for run in batch.runs
    )


def _of_offsets(fresh: _Fresh, known: _Again, batch: InFlightBatch, most: int) -> list[Acquired]:
    """Acquire what is available of a batch, offset by offset. SharePartition.acquireSubsetBatchRecords.

    A record that is delivered for the last time is delivered alone. One that was delivered often says how many come
    with it at most: half of the batch, a quarter, and so on.
    """
    first, last = max(known.first, batch.first), min(known.last, batch.last)
    last_delivery = known.limit if known.limit > _FEWEST_BEFORE_THROTTLE else -1
    result: list[Acquired] = []
    count, most_throttled = 0, -1
    index = batch.index(first)
    while index < len(batch.runs) and (run := batch.runs[index]).first <= last:
        if run.state is not _AVAILABLE or run.pieces is not None or run.last < first:
            index += 1
            continue
        if run.delivery_count == last_delivery - 1 and count:
            break
        if run.delivery_count >= known.throttle and most_throttled < 0:
            halvings = run.delivery_count - known.throttle + 1
            most_throttled = max(1, (batch.last - batch.first + 1) >> halvings)
        begin = max(run.first, first)
        take, is_end = min(run.last, last) - begin + 1, False
        for room in (
            1 if run.delivery_count + 1 == last_delivery else 0,
            most - count if fresh.record_limit else 0,
            most_throttled - count,
        ):
            if 0 < room <= take:
                take, is_end = room, True
        index = batch.narrow(index, begin, begin + take - 1)
        got = _give(fresh, batch.runs[index])
        if (
            result
            and result[-1].last_offset + 1 == got.first_offset
            and result[-1].delivery_count == got.delivery_count
        ):
            result[-1] = Acquired(result[-1].first_offset, got.last_offset, got.delivery_count)
        else:
            result.append(got)
        count += take
        if is_end:
            break
        index += 1
    return result


# -- transactions ------------------------------------------------------------------------------------------------------


def _without_aborted(
    state: PartitionState,
    acquired: list[Acquired],
    batches: Sequence[LogBatch],
    aborted: Sequence[AbortedTransaction],
) -> list[Acquired]:
    """Archive what was acquired of aborted transactions: nobody shall read it."""
    in_flight = state.in_flight
    for batch in aborted_batches(batches, aborted):
        at = max(in_flight.floor(batch.base_offset), 0)
        overlapping = in_flight.between(in_flight.firsts[at], batch.last_offset)
        state.archive(batch.base_offset, batch.last_offset, overlapping, _ACQUIRED, True)
        acquired = _without(acquired, batch)
    return acquired


def aborted_batches(batches: Sequence[LogBatch], aborted: Sequence[AbortedTransaction]) -> list[LogBatch]:
    """Those of the batches that belong to aborted transactions, markers left out."""
    to_come = sorted(aborted, key=lambda transaction: transaction.first_offset, reverse=True)
    producers: set[int] = set()
    result = []
    for batch in batches:
        if batch.producer_id < 0:
            continue
        while to_come and to_come[-1].first_offset <= batch.last_offset:
            producers.add(to_come.pop().producer_id)
        if batch.is_abort_marker:
            producers.discard(batch.producer_id)
        elif batch.is_transactional and batch.producer_id in producers:
            result.append(batch)
    return result


def _without(acquired: Sequence[Acquired], batch: LogBatch) -> list[Acquired]:
    """The ranges without the offsets of a batch."""
    result = []
    for each in acquired:
        if each.last_offset < batch.base_offset or each.first_offset > batch.last_offset:
            result.append(each)
            continue
        if each.first_offset < batch.base_offset:
            result.append(each._replace(last_offset=batch.base_offset - 1))
        if each.last_offset > batch.last_offset:
            result.append(each._replace(first_offset=batch.last_offset + 1))
    return result
