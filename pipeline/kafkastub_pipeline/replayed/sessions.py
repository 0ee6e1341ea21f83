"""Silences of members: how long each sent nothing that keeps its session alive, and what came after it.

A session counts anew with a request of its member that the coordinator accepts: JoinGroup, SyncGroup, Heartbeat and
OffsetCommit of the classic protocol, and the heartbeats of the others. It does not end while a JoinGroup or SyncGroup
waits for its answer. Kafka: GroupMetadataManager, rescheduleClassicGroupMemberHeartbeat,
scheduleConsumerGroupSessionTimeout.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from kafkastub_pipeline.replayed.frames import request_of
from kafkastub_pipeline.replayed.timers import Timers
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode

KEPT, REMOVED, UNDECIDED = "kept", "removed", "undecided"
PARKING: Final = (ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP)
CLASSIC: Final = (*PARKING, ApiKey.HEARTBEAT, ApiKey.OFFSET_COMMIT)
MODERN: Final = (ApiKey.CONSUMER_GROUP_HEARTBEAT, ApiKey.SHARE_GROUP_HEARTBEAT, ApiKey.STREAMS_GROUP_HEARTBEAT)
APIS: Final = (*CLASSIC, ApiKey.LEAVE_GROUP, *MODERN)
"""What is read of the journal."""
_ALIVE: Final = (ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS)
_LEAVES, _LEAVES_FOR_A_WHILE = -1, -2
_NO_FRAMES: Final = "the clock was moved, and a journal without frames does not say whether with the timers"
_BETWEEN: Final = "the journal does not have the exact time of an answer, and the timeout is within that span"
_OTHER_REASON: Final = "it was removed, and nothing says whether by its session: its own timeout is not known"


class Silence(NamedTuple):
    """A member's, between two of its requests, or up to the end of the journal.

    Attributes:
        from_ms, until_ms: by the broker's clock.
        least_ms, most_ms: how long it took, by the timers.
        recorded: what became of the member: `KEPT`, `REMOVED`, None where the journal does not say.
        last: whether the journal ends with it.
        doubtful: whether the timers may have been moved by more than is known.
        session_ms: the session timeout that the member had; None where it is not known.
    """

    member_id: str
    instance_id: str | None
    from_ms: int
    until_ms: int
    least_ms: float
    most_ms: float
    recorded: str | None
    last: bool
    doubtful: bool
    session_ms: int | None


@dataclass
class _Member:
    """A member whose session runs.

    Attributes:
        sure: since when at least it was alive, by the timers: the last request that certainly counted.
        maybe: since when at most: that one, or a later one that may have counted.
    """

    member_id: str
    instance_id: str | None
    sure: float
    maybe: float
    broker_ms: int
    wall_us: int
    session_ms: int | None


@dataclass
class Group:
    """The members of one group, as its requests show them."""

    timers: Timers
    members: dict[tuple[str, str], _Member] = field(default_factory=dict)
    modern: bool = False

    def take(self, row: Mapping[str, Any]) -> Iterator[Silence]:
        """Apply a request; gives the silences that end with it."""
        api = row["api_key"]
        self.modern |= api in MODERN
        if api == ApiKey.OFFSET_COMMIT and self.modern:
            return  # it keeps no session of these alive
        errors = {one["code"] for one in row["errors"] or ()}
        for member in row["members"] or ():
            yield from self._about(row, api, errors, member)

    def _about(self, row: Mapping[str, Any], api: int, errors: set[int], named: Mapping[str, Any]) -> Iterator[Silence]:
        instance = named["instance_id"]
        key = ("instance", instance) if instance else ("member", named["member_id"])
        known, epoch = self.members.get(key), named["epoch"]
        unknown = ErrorCode.UNKNOWN_MEMBER_ID in errors
        if known is not None:
            same = not named["member_id"] or named["member_id"] == known.member_id
            recorded = REMOVED if unknown and same else KEPT if same and errors & set(_ALIVE) else None
            yield self._silence(known, row["wall_us"], row["broker_ms"], recorded, last=False)
        if unknown or api == ApiKey.LEAVE_GROUP or (api in MODERN and epoch == _LEAVES):
            if errors:  # else nobody has answered
                self.members.pop(key, None)
            return
        self._sign(row, api, errors, named, key, known)

    def _sign(
        self,
        row: Mapping[str, Any],
        api: int,
        errors: set[int],
        named: Mapping[str, Any],
        key: tuple[str, str],
        known: _Member | None,
    ) -> None:
        """A sign of life, or what may be one."""
        came = self.timers.at(row["wall_us"])
        answered = row["duration_us"] is not None and row["outcome"] in ("reply", "no_reply", "dropped")
        done = self.timers.answered(row["wall_us"], row["duration_us"] or 0)
        alive = bool(errors) and errors <= set(_ALIVE) and row["fault"] is None
        leaves_for_a_while = api in MODERN and named["epoch"] == _LEAVES_FOR_A_WHILE
        sure = done[0] if api in PARKING else came
        if alive and answered and not leaves_for_a_while and (api not in PARKING or errors == {ErrorCode.NONE}):
            session = _session_ms(api, row) or (None if known is None else known.session_ms)
            ids = named["member_id"] or (known.member_id if known is not None else ""), named["instance_id"]
            self.members[key] = _Member(*ids, sure, done[1], row["broker_ms"], row["wall_us"], session)
        elif known is not None:
            known.maybe = done[1] if answered else float("inf")  # it may wait for its answer to this day

    def ends(self, broker_ms: int) -> Iterator[Silence]:
        """The journal ends: the silences of all members up to then."""
        for member in self.members.values():
            if self.timers.end_us is not None:
                yield self._silence(member, self.timers.end_us, broker_ms, None, last=True)

    def _silence(self, member: _Member, wall_us: int, broker_ms: int, recorded: str | None, *, last: bool) -> Silence:
        now = self.timers.at(wall_us)
        return Silence(
            member.member_id,
            member.instance_id,
            member.broker_ms,
            broker_ms,
            max(now - member.maybe, 0.0),
            max(now - member.sure, 0.0),
            recorded,
            last,
            self.timers.doubtful(member.wall_us, wall_us),
            member.session_ms,
        )


def _session_ms(api: int, row: Mapping[str, Any]) -> int | None:
    if api != ApiKey.JOIN_GROUP:
        return None
    request = request_of(api, row["api_version"], row["request"])
    return None if request is None else int(request.session_timeout_ms)


def outcome(silence: Silence, timeout_ms: int) -> tuple[str, str | None]:
    """What a session timeout would have made of a silence, and why that is undecided."""
    if silence.doubtful:
        return UNDECIDED, _NO_FRAMES
    if silence.least_ms >= timeout_ms:
        return REMOVED, None
    if silence.most_ms >= timeout_ms:
        return UNDECIDED, _BETWEEN
    if silence.recorded != REMOVED:
        return KEPT, None
    had = silence.session_ms
    if had is None or silence.least_ms < had <= silence.most_ms:
        return UNDECIDED, _OTHER_REASON
    return (REMOVED if silence.most_ms < had else KEPT), None  # by something else than its session, or by that


def judged(silences: Iterable[Silence], tried: Sequence[int]) -> Iterator[tuple[int, Silence, str, str | None]]:
    """For each timeout, the silences in which something happened or would have, the last ones, and the longest of each
    member that has no other."""
    longest: dict[tuple[int, str, str | None], tuple[Silence, str, str | None]] = {}
    told: set[tuple[int, str, str | None]] = set()
    for silence in silences:
        for timeout_ms in tried:
            found, why = outcome(silence, timeout_ms)
            member = timeout_ms, silence.member_id, silence.instance_id
            if silence.last or found != KEPT or silence.recorded != KEPT:
                told.add(member)
                yield timeout_ms, silence, found, why
            elif member not in longest or silence.most_ms > longest[member][0].most_ms:
                longest[member] = silence, found, why
    for member, one in longest.items():
        if member not in told:
            yield member[0], *one
