"""What members say of records that they have acquired, and what is given back as a session ends.

Kafka: SharePartition.acknowledge, releaseAcquiredRecords; the errors and their texts are its own.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Final, NamedTuple

from kafkastub.share_partitions.dead_letters import CLIENT_REJECT, DELIVERY_COUNT_EXCEEDED
from kafkastub.share_partitions.in_flight import InFlightBatch, Run
from kafkastub.share_partitions.partition_state import PartitionState
from kafkastub.share_partitions.settings import ShareSettings
from kafkastub.share_partitions.states import AcknowledgeType, RecordState
from kafkastub.share_partitions.transition import Transition
from kafkawire.errors import ErrorCode, KafkaError

_ACQUIRED: Final = RecordState.ACQUIRED
_ACKNOWLEDGED: Final = RecordState.ACKNOWLEDGED
_AVAILABLE: Final = RecordState.AVAILABLE
_ARCHIVED: Final = RecordState.ARCHIVED
_REJECT: Final = int(AcknowledgeType.REJECT)
_RENEW: Final = int(AcknowledgeType.RENEW)
_PART: Final = 500
"""Types of a batch that are looked at before others may have their turn."""
_TYPES_IN_TURN: Final = 2
"""Types that are as much work as an unit of it."""
_TYPES: Final = frozenset(int(each) for each in AcknowledgeType)
_STATE_OF: Final = {
    int(AcknowledgeType.GAP): _ARCHIVED,
    int(AcknowledgeType.ACCEPT): _ACKNOWLEDGED,
    int(AcknowledgeType.RELEASE): _AVAILABLE,
    int(AcknowledgeType.REJECT): _ARCHIVED,
}


class AcknowledgementBatch(NamedTuple):
    """What a member says of neighbouring offsets. Kafka: ShareAcknowledgementBatch.

    Attributes:
        types: one for all of them, or one each (AcknowledgeType).
    """

    first_offset: int
    last_offset: int
    types: Sequence[int]


class _Said(NamedTuple):
    """What the steps need to know, and where they put what they begin."""

    state: PartitionState
    settings: ShareSettings
    member_id: str
    timer_ms: int
    transition: Transition


def acknowledge(
    state: PartitionState, member_id: str, batches: Sequence[AcknowledgementBatch], timer_ms: int
) -> Transition:
    """See SharePartition.acknowledge."""
    said = _Said(state, state.settings(), member_id, timer_ms, Transition())
    try:
        for batch in batches:
            for in_flight in _in_flight(state, batch):
                _acknowledge_batch(said, batch, in_flight)
    except KafkaError:
        state.roll_back(said.transition)
        raise
    return state.begun(said.transition)


def acknowledge_in_parts(
    state: PartitionState, member_id: str, batches: Sequence[AcknowledgementBatch], timer_ms: int
) -> Generator[int, None, Transition]:
    """See SharePartition.acknowledge_in_parts."""
    said = _Said(state, state.settings(), member_id, timer_ms, Transition())
    try:
        for batch in batches:
            found = _in_flight(state, batch)
            if len(batch.types) <= _PART:
                for in_flight in found:
                    _acknowledge_batch(said, batch, in_flight)
                yield 1 + len(batch.types) // _TYPES_IN_TURN
                continue
            for piece in _pieces(batch):
                for in_flight in _in_flight(state, piece):
                    _acknowledge_batch(said, piece, in_flight)
                yield 1 + _PART // _TYPES_IN_TURN
    except BaseException:
        state.roll_back(said.transition)
        raise
    return state.begun(said.transition)


def _pieces(batch: AcknowledgementBatch) -> Iterator[AcknowledgementBatch]:
    """The batch in pieces with more than one type each."""
    first, types, at = batch.first_offset, batch.types, 0
    while at < len(types):
        end = at + _PART if len(types) - at > _PART + 1 else len(types)
        yield AcknowledgementBatch(first + at, first + end - 1, types[at:end])
        at = end


def _in_flight(state: PartitionState, batch: AcknowledgementBatch) -> list[InFlightBatch]:
    """What is in flight of the offsets, and not archived since the log begins later."""
    if not _TYPES.issuperset(batch.types):
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Invalid acknowledge type: [{', '.join(map(str, batch.types))}]")
    start = state.start_offset
    if batch.last_offset < start:
        return []
    found = _batches_of(state, batch)
    return [one for one in found if one.last >= start] if found[0].last < start else found


def _batches_of(state: PartitionState, batch: AcknowledgementBatch) -> list[InFlightBatch]:
    """What is in flight of the offsets."""
    in_flight = state.in_flight
    first, last = batch.first_offset, batch.last_offset
    at = in_flight.floor(first)
    if at < 0:
        if not first < state.start_offset <= last:
            raise _invalid_state("Batch record not found. The request batch offsets are not found in the cache.")
        at = in_flight.floor(state.start_offset)
        if at < 0:  # Kafka falls over a null here
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
    found = in_flight.between(in_flight.firsts[at], last)
    if not found or found[-1].last < first:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST, "Batch record not found. The first offset in request is past acquired records."
        )
    if last > found[-1].last:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST, "Batch record not found. The last offset in request is past acquired records."
        )
    return found


def _acknowledge_batch(said: _Said, batch: AcknowledgementBatch, in_flight: InFlightBatch) -> None:
    if not in_flight.by_offset:
        run = in_flight.runs[0]
        if not run.member_id:  # somebody has what is acquired, and nothing else
            raise _invalid_state("The batch cannot be acknowledged. The batch is not in the acquired state.")
        if run.member_id != said.member_id:
            raise _invalid_state("Member is not the owner of batch record")
        is_whole = in_flight.first >= batch.first_offset and in_flight.last <= batch.last_offset
        if is_whole and len(batch.types) == 1 and not said.state.has_start_within(in_flight):
            _say(said, run, batch.types[0])
            return
        in_flight.by_offset = True
    _acknowledge_offsets(said, batch, in_flight)


def _acknowledge_offsets(said: _Said, batch: AcknowledgementBatch, in_flight: InFlightBatch) -> None:
    for first, last, kind in _kinds(batch, max(in_flight.first, said.state.start_offset), in_flight.last):
        index = in_flight.index(first)
        while index < len(in_flight.runs) and (run := in_flight.runs[index]).first <= last:
            if run.state is not _ACQUIRED:
                raise _invalid_state("The offset cannot be acknowledged. The offset is not acquired.")
            if run.member_id != said.member_id:
                raise _invalid_state("Member is not the owner of offset")
            index = in_flight.narrow(index, first, last)
            _say(said, in_flight.runs[index], kind)
            index += 1


def _kinds(batch: AcknowledgementBatch, lowest: int, highest: int) -> Iterator[tuple[int, int, int]]:
    """Neighbouring offsets of which a member says the same, from `lowest` to `highest`: first, last, type."""
    first, last = max(batch.first_offset, lowest), min(batch.last_offset, highest)
    types = batch.types
    if first > last:
        return
    if len(types) == 1:
        yield first, last, types[0]
        return
    base = batch.first_offset
    begin, kind = first, types[first - base]
    for offset in range(first + 1, last + 1):
        if (other := types[offset - base]) != kind:
            yield begin, offset - 1, kind
            begin, kind = offset, other
    yield begin, last, kind


def _say(said: _Said, run: Run, kind: int) -> None:
    """Begin what a member says of a run that it has."""
    state, settings = said.state, said.settings
    if kind == _RENEW:
        if not settings.renew_acknowledge_enable:
            raise _invalid_state("Renewing acquisition locks is not enabled for the group.")
        run.locked_until = said.timer_ms + settings.record_lock_duration_ms
        state.lock(run.locked_until)
        return
    to, cause = _STATE_OF[kind], DELIVERY_COUNT_EXCEEDED
    if settings.dead_letters and kind == _REJECT:
        to, cause = RecordState.ARCHIVING, CLIENT_REJECT
    _begin(said, run, to, cause)


def _begin(said: _Said, run: Run, to: RecordState, cause: str) -> None:
    state, settings = said.state, said.settings
    pieces = run.begin(to, settings.delivery_count_limit, settings.dead_letters)
    said.transition.add(run, pieces, cause)
    if run.state is _ACKNOWLEDGED or run.state is _ARCHIVED:
        state.delivery_complete_count += state.count_from_start(run.first, run.last)


def release(state: PartitionState, member_id: str) -> Transition:
    """See SharePartition.release."""
    said = _Said(state, state.settings(), member_id, 0, Transition())
    for run, to in _acquired(state, lambda run: run.member_id == member_id or not run.member_id):
        _begin(said, run, to, DELIVERY_COUNT_EXCEEDED)
    return state.begun(said.transition)


def expire_locks(state: PartitionState, timer_ms: int) -> Transition:
    """See SharePartition.expire_locks."""
    transition = Transition()
    if state.lock_deadline is None or timer_ms < state.lock_deadline:
        return transition
    settings = state.settings()
    state.lock_deadline = None
    for batch in state.in_flight.batches:
        for run in batch.runs:
            if run.pieces is not None and run.locked_until is not None and run.locked_until <= timer_ms:
                run.lock_ran_out = True

    def is_due(run: Run) -> bool:
        return run.locked_until is not None and run.locked_until <= timer_ms

    for run, to in _acquired(state, is_due):
        run.give_back(to, settings.delivery_count_limit, settings.dead_letters)
        run.locked_until = None
        transition.add(run, [], DELIVERY_COUNT_EXCEEDED)
        if run.state is _AVAILABLE:
            state.may_have_available = True
        elif run.state is _ARCHIVED:
            state.delivery_complete_count += state.count_from_start(run.first, run.last)
    for batch in state.in_flight.batches:
        for run in batch.runs:
            if run.locked_until is not None and not run.lock_ran_out:
                state.lock(run.locked_until)
    return state.begun(transition)


def _acquired(state: PartitionState, is_meant: Callable[[Run], bool]) -> Iterator[tuple[Run, RecordState]]:
    """Acquired runs, and what becomes of them where they are given back: those before the start offset are archived."""
    start = state.start_offset
    for batch in state.in_flight.batches:
        if not batch.by_offset:
            run = batch.runs[0]
            if run.state is not _ACQUIRED or not is_meant(run):
                continue
            batch.by_offset = state.has_start_within(batch)
        index = 0
        while index < len(batch.runs):
            run = batch.runs[index]
            if run.state is _ACQUIRED and is_meant(run):
                batch.narrow(index, run.first, start - 1 if run.first < start else run.last)
                yield run, _ARCHIVED if run.first < start else _AVAILABLE
            index += 1


def dead_letter_done(state: PartitionState, first: int, last: int) -> Transition:
    """See SharePartition.dead_letter_done."""
    transition = Transition()
    in_flight = state.in_flight
    at = in_flight.floor(first)
    if at < 0:
        return transition
    batch = in_flight.batches[at]
    index = batch.index(first)
    while index < len(batch.runs) and (run := batch.runs[index]).first <= last:
        if run.state is RecordState.ARCHIVING and run.first >= first and run.pieces is None:
            run.archive()
            state.delivery_complete_count += state.count_from_start(run.first, run.last)
            transition.add(run, [])
        index += 1
    return state.begun(transition)


def _invalid_state(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_RECORD_STATE, message)
