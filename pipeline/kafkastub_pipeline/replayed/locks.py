"""Deliveries to share groups: how long a member held each record, and what it did with it (KIP-932).

A record is locked from the answer to a ShareFetch that acquired it until its acknowledgement, the end of the member's
share session or connection, or the end of the lock. A renewal (KIP-1222) begins the lock anew. What a member does is in
the frames of a journal; that its connection was lost is not, so that a lock has certainly ended by itself only where
the member goes on behind that on the same connection. Kafka: SharePartition.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from kafkastub_pipeline.replayed.frames import answer_of, request_of
from kafkastub_pipeline.replayed.timers import Timers
from kafkawire.api import ApiKey

ACKNOWLEDGED, RELEASED, REJECTED, EXPIRED, HELD, UNDECIDED = (
    *("acknowledged", "released", "rejected"),
    *("expired", "held", "undecided"),
)
APIS: Final = (ApiKey.SHARE_FETCH, ApiKey.SHARE_ACKNOWLEDGE)
_TYPES: Final = {0: ACKNOWLEDGED, 1: ACKNOWLEDGED, 2: RELEASED, 3: REJECTED}
"""Of an acknowledgement; 0 is an offset that has no record."""
_RENEW: Final = 4
_FINAL_EPOCH: Final = -1
_NO_FRAMES: Final = "the clock was moved, and the journal does not say whether with the timers"
_BETWEEN: Final = "the journal does not have the exact time of an answer, and the lock would end within that span"
_CUT_SHORT: Final = "its lock ended: when its member would have been done with it is not on the journal"
_UNSEEN: Final = "the journal does not say how it ended: by its lock, or with its member's connection"

Place = tuple[str, int]
"""Topic id, partition."""


@dataclass(frozen=True)
class Hold:
    """A record, or several of one answer, that a member has.

    Attributes:
        sure, maybe: the earliest and the latest at which its lock began, by the timers.
        least_ms, most_ms: the longest that a lock of it has run before it was renewed.
        lock_ms: how long a lock runs, as the broker said.
        refused: what its member did too late, and how long a lock would have had to be for it; None where it did not.
    """

    member_id: str
    connection_id: int
    count: int
    broker_ms: int
    wall_us: int
    sure: float
    maybe: float
    lock_ms: int
    least_ms: float = 0.0
    most_ms: float = 0.0
    refused: tuple[str, float] | None = None


class Delivery(NamedTuple):
    """Neighbouring records that a member had from the same answer on, to the same end."""

    topic_id: str
    partition: int
    first_offset: int
    last_offset: int
    hold: Hold
    until_ms: int
    least_ms: float
    most_ms: float
    recorded: str | None
    doubtful: bool


class _End(NamedTuple):
    hold: Hold
    until_ms: int
    least_ms: float
    most_ms: float
    recorded: str | None
    doubtful: bool


@dataclass
class Group:
    """The records that members of one share group have.

    Attributes:
        held: by their places and offsets.
        ended: what has ended without an acknowledgement, which may come yet, and be refused.
        seen: when each member's connection was last heard of.
    """

    timers: Timers
    held: dict[Place, dict[int, Hold]] = field(default_factory=dict)
    ended: dict[Place, dict[int, _End]] = field(default_factory=dict)
    seen: dict[tuple[str, int], float] = field(default_factory=dict)

    def take(self, row: Mapping[str, Any]) -> Iterator[Delivery]:
        """Apply a ShareFetch or ShareAcknowledge; gives the deliveries that end."""
        request = request_of(row["api_key"], row["api_version"], row["request"])
        if request is None:
            return
        now = self.timers.at(row["wall_us"])
        member = str(request.member_id)
        self.seen[member, row["connection_id"]] = now
        answer = answer_of(row["api_key"], row["api_version"], row["response"])
        if answer is not None and answer.error_code:
            return
        errors = None if answer is None else _errors(answer)
        for topic in request.topics or ():
            for partition in topic.partitions or ():
                place = bytes(topic.topic_id).hex(), int(partition.partition_index)
                batches = partition.acknowledgement_batches
                if batches:
                    known = sorted({*self.held.get(place, ()), *self.ended.get(place, ())})
                    code = None if errors is None else errors.get(place, 0)
                    yield from self._acknowledged(place, member, *_said(batches, known), code, now, row)
        if request.share_session_epoch == _FINAL_EPOCH and answer is not None:
            yield from self._closed(member, now, row)
        if row["api_key"] == ApiKey.SHARE_FETCH and answer is not None:
            yield from self._acquired(member, answer, row)

    def _acknowledged(
        self,
        place: Place,
        member: str,
        said: Mapping[int, int],
        whole: bool,
        code: int | None,
        now: float,
        row: Mapping[str, Any],
    ) -> Iterator[Delivery]:
        """`whole`: whether `said` has all that the member named."""
        held = self.held.get(place, {})
        if code:
            if whole:
                self._refused(place, member, said, now)
            return
        ends: dict[int, _End] = {}
        for offset, type_ in said.items():
            hold = held.get(offset)
            if hold is None or hold.member_id != member:
                continue
            least, most = max(hold.least_ms, now - hold.maybe), max(hold.most_ms, now - hold.sure)
            if type_ == _RENEW and code is not None:
                maybe = self._done(row)[1]
                held[offset] = replace(hold, sure=now, maybe=maybe, least_ms=least, most_ms=most)
                continue
            del held[offset]
            recorded = None if code is None else _TYPES.get(type_)
            least = 0.0 if recorded is None else least
            ends[offset] = _End(hold, row["broker_ms"], least, most, recorded, self._doubtful(hold, row["wall_us"]))
        yield from _joined(place, ends)

    def _refused(self, place: Place, member: str, said: Mapping[int, int], now: float) -> None:
        """All of it is refused where some of it is late: it needs a lock for the longest of them."""
        held, ended = self.held.get(place, {}), self.ended.get(place, {})
        needs = 0.0
        mine: list[int] = []
        for offset in said:
            hold = held.get(offset)
            if hold is None or hold.member_id != member:
                end = ended.get(offset)
                hold = None if end is None else end.hold
            if hold is None or hold.member_id != member:
                return
            needs = max(needs, now - hold.sure)
            mine.append(offset)
        for offset in mine:
            what = _TYPES.get(said[offset])
            hold, end = held.get(offset), ended.get(offset)
            if what is None:
                continue
            if hold is not None and hold.member_id == member:
                held[offset] = replace(hold, refused=hold.refused or (what, needs))
            elif end is not None:
                ended[offset] = end._replace(hold=replace(end.hold, refused=end.hold.refused or (what, needs)))

    def _closed(self, member: str, now: float, row: Mapping[str, Any]) -> Iterator[Delivery]:
        """A share session ends: what its member has is given back."""
        for place, held in self.held.items():
            ends = {}
            for offset in [offset for offset, hold in held.items() if hold.member_id == member]:
                hold = held.pop(offset)
                if self._ran_out(hold):
                    self._late(place, offset, hold, row, hold.lock_ms, EXPIRED)
                    continue
                least, most = max(hold.least_ms, now - hold.maybe), max(hold.most_ms, now - hold.sure)
                ends[offset] = _End(hold, row["broker_ms"], least, most, RELEASED, self._doubtful(hold, row["wall_us"]))
            yield from _joined(place, ends)

    def _acquired(self, member: str, answer: Any, row: Mapping[str, Any]) -> Iterator[Delivery]:
        sure, maybe = self._done(row)
        for topic in answer.responses or ():
            for partition in topic.partitions or ():
                place = bytes(topic.topic_id).hex(), int(partition.partition_index)
                for run in partition.acquired_records or ():
                    hold = Hold(
                        member,
                        row["connection_id"],
                        run.delivery_count,
                        row["broker_ms"],
                        row["wall_us"],
                        sure,
                        maybe,
                        answer.acquisition_lock_timeout_ms,
                    )
                    over = {}
                    held = self.held.setdefault(place, {})
                    for offset in range(run.first_offset, run.last_offset + 1):
                        before = held.get(offset)
                        late = self.ended.get(place, {}).pop(offset, None)
                        if late is not None:
                            over[offset] = late
                        if before is not None:
                            self._given_up(place, offset, before, maybe, row)
                        held[offset] = hold
                    yield from _joined(place, over)

    def _given_up(self, place: Place, offset: int, hold: Hold, now: float, row: Mapping[str, Any]) -> None:
        """Somebody has it next, and nobody has said anything of it before."""
        if self._ran_out(hold):
            self._late(place, offset, hold, row, hold.lock_ms, EXPIRED)
        elif now - hold.sure < hold.lock_ms:
            self._late(place, offset, hold, row, now - hold.sure, RELEASED)
        else:
            self._late(place, offset, hold, row, now - hold.sure, None)

    def _late(
        self, place: Place, offset: int, hold: Hold, row: Mapping[str, Any], most: float, recorded: str | None
    ) -> None:
        least = float(hold.lock_ms) if recorded == EXPIRED else self._proven(hold)
        end = _End(
            hold,
            row["broker_ms"],
            max(hold.least_ms, least),
            max(hold.most_ms, most),
            recorded,
            self._doubtful(hold, row["wall_us"]),
        )
        self.ended.setdefault(place, {})[offset] = end

    def _ran_out(self, hold: Hold) -> bool:
        """Whether its lock has certainly ended by itself: its member was there for longer."""
        return self.seen.get((hold.member_id, hold.connection_id), 0.0) >= hold.maybe + hold.lock_ms

    def _proven(self, hold: Hold) -> float:
        """For so long its member has certainly had it."""
        seen = self.seen.get((hold.member_id, hold.connection_id), hold.maybe)
        return min(max(seen - hold.maybe, 0.0), float(hold.lock_ms))

    def _done(self, row: Mapping[str, Any]) -> tuple[float, float]:
        return self.timers.answered(row["wall_us"], row["duration_us"] or 0)

    def _doubtful(self, hold: Hold, wall_us: int) -> bool:
        return self.timers.doubtful(hold.wall_us, wall_us)

    def ends(self, broker_ms: int) -> Iterator[Delivery]:
        """The journal ends: what members have then, and what was not told yet."""
        end_us = self.timers.end_us or 0
        now = self.timers.at(end_us)
        for place, held in self.held.items():
            ends = {}
            recorded: str | None
            for offset, hold in held.items():
                if self._ran_out(hold):
                    recorded, least, most = EXPIRED, float(hold.lock_ms), float(hold.lock_ms)
                else:
                    lasts = now - hold.sure < hold.lock_ms
                    recorded = HELD if lasts else None
                    least, most = self._proven(hold), min(now - hold.sure, float(hold.lock_ms))
                doubtful = self._doubtful(hold, end_us)
                least, most = max(hold.least_ms, least), max(hold.most_ms, most)
                ends[offset] = _End(hold, broker_ms, least, most, recorded, doubtful)
            yield from _joined(place, ends)
        for place, ended in self.ended.items():
            yield from _joined(place, ended)


def _errors(answer: Any) -> dict[Place, int]:
    """The error of what was acknowledged, by place."""
    return {
        (bytes(topic.topic_id).hex(), int(one.partition_index)): int(
            one.acknowledge_error_code if hasattr(one, "acknowledge_error_code") else one.error_code
        )
        for topic in answer.responses or ()
        for one in topic.partitions or ()
    }


def _said(batches: Iterable[Any], known: Sequence[int]) -> tuple[dict[int, int], bool]:
    """The type of each of these offsets that is acknowledged, one for all of a batch or one for each; and whether no
    other offset is: a client can name as many as it likes.

    Args:
        known: ascending.
    """
    found: dict[int, int] = {}
    whole = True
    for batch in batches:
        types: Sequence[int] = batch.acknowledge_types or ()
        if not types:
            continue
        first, last = batch.first_offset, batch.last_offset
        here = known[bisect_left(known, first) : bisect_right(known, last)]
        whole &= len(here) >= last - first + 1
        for offset in here:
            at = offset - first
            found[offset] = types[at] if at < len(types) and len(types) > 1 else types[0]
    return found, whole


def _joined(place: Place, ends: Mapping[int, _End]) -> Iterator[Delivery]:
    """Neighbours that are equal, as one."""
    run: list[int] = []
    for offset in sorted(ends):
        if run and (offset != run[-1] + 1 or ends[offset] != ends[run[0]]):
            yield _delivery(place, run, ends[run[0]])
            run = []
        run.append(offset)
    if run:
        yield _delivery(place, run, ends[run[0]])


def _delivery(place: Place, offsets: Sequence[int], end: _End) -> Delivery:
    span = place[0], place[1], offsets[0], offsets[-1]
    return Delivery(*span, end.hold, end.until_ms, end.least_ms, end.most_ms, end.recorded, end.doubtful)


def outcome(delivery: Delivery, lock_ms: int) -> tuple[str, str | None]:
    """What a lock of another duration would have made of a delivery, and why that is undecided."""
    recorded, hold = delivery.recorded, delivery.hold
    if lock_ms == hold.lock_ms and recorded is not None:
        return recorded, None
    if delivery.doubtful:
        return UNDECIDED, _NO_FRAMES
    if recorded == EXPIRED:
        if lock_ms < hold.lock_ms:
            return EXPIRED, None
        if hold.refused is not None and hold.refused[1] < lock_ms:
            return hold.refused[0], None
        return UNDECIDED, _CUT_SHORT
    if delivery.least_ms >= lock_ms:
        return EXPIRED, None
    if recorded is None:
        return UNDECIDED, _UNSEEN
    if delivery.most_ms < lock_ms:
        return recorded, None
    return UNDECIDED, _BETWEEN
