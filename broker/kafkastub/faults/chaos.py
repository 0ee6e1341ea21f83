"""Trouble that every correct client survives, decided by a seed.

Which requests of an API meet what is the seed's alone: the third OffsetCommit, whoever sends it and whenever. What each
API may be told is in one table: errors that Kafka gives when its leaders and coordinators move, and that its clients
retry; answers that are late, or lost with their connection. Nothing that was acknowledged is taken back.
"""

from __future__ import annotations

import copy
import random
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from kafkastub.faults.plan import Action
from kafkastub.faults.rules import FaultError
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode

FAULT: Final = "chaos"
"""What journal and metrics call it."""
_ALL: Final = 1 << 30
"""More bytes than such an answer has."""
MOST_ACTS: Final = 1000
"""Acts that are remembered."""


class Level(NamedTuple):
    """How much there is of it.

    Attributes:
        share: of the requests, that meet something.
        loses: whether connections end, before the work is done or behind it.
        moves_every: between so many requests and three times as many, a leader or a coordinator moves, or a member's
            session ends; 0: never.
        stops: whether nodes stop and come back, where there are several.
        latest_ms: how late answers are at most.
    """

    share: float
    loses: bool
    moves_every: int
    stops: bool
    latest_ms: int


LEVELS: Final[Mapping[int, Level]] = {
    1: Level(0.05, loses=False, moves_every=0, stops=False, latest_ms=20),
    2: Level(0.10, loses=True, moves_every=60, stops=False, latest_ms=50),
    3: Level(0.20, loses=True, moves_every=30, stops=True, latest_ms=100),
}

_LATE, _LOST_BEFORE, _LOST_BEHIND = "late", "lost before", "lost behind"
_Kind = str | ErrorCode


class _Trouble(NamedTuple):
    """What requests of an API may meet: errors, and what losing a connection may do."""

    errors: tuple[ErrorCode, ...] = ()
    lost: bool = True
    """Whether its connection may end: not where a client knows one address and gives up."""
    behind: bool = True
    """Whether it does no harm that the work is done and the client is not told."""
    part: float = 1.0
    """Of the level's share: what clients ask only to find somebody is spared mostly, or they would do nothing else."""
    hangs_up: bool = False
    """Whether the connection ends with an error: what a client has sent behind it would be answered as if nothing
    had been, and from a leader that has moved nothing is."""


_LOADING = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
_COORDINATOR = (ErrorCode.NOT_COORDINATOR, _LOADING, _LOADING)  # the first costs some clients half a second
_LEADER = (ErrorCode.NOT_LEADER_OR_FOLLOWER,)

TROUBLE: Final[Mapping[ApiKey, _Trouble]] = {
    ApiKey.PRODUCE: _Trouble(_LEADER, hangs_up=True),
    ApiKey.FETCH: _Trouble((ErrorCode.FETCH_SESSION_ID_NOT_FOUND,)),
    ApiKey.LIST_OFFSETS: _Trouble(_LEADER),
    ApiKey.METADATA: _Trouble((ErrorCode.LEADER_NOT_AVAILABLE,), lost=False, part=0.3),
    ApiKey.OFFSET_COMMIT: _Trouble(_COORDINATOR),
    ApiKey.OFFSET_FETCH: _Trouble(_COORDINATOR),
    ApiKey.FIND_COORDINATOR: _Trouble((ErrorCode.COORDINATOR_NOT_AVAILABLE,), lost=False, part=0.3),
    ApiKey.JOIN_GROUP: _Trouble(_COORDINATOR, behind=False),  # a member that nobody is would hold the group up
    ApiKey.SYNC_GROUP: _Trouble((ErrorCode.NOT_COORDINATOR, ErrorCode.REBALANCE_IN_PROGRESS)),  # so while it loads
    ApiKey.HEARTBEAT: _Trouble((ErrorCode.NOT_COORDINATOR,)),  # all is well, while it loads
    ApiKey.INIT_PRODUCER_ID: _Trouble(_COORDINATOR),
    ApiKey.ADD_PARTITIONS_TO_TXN: _Trouble((*_COORDINATOR, ErrorCode.CONCURRENT_TRANSACTIONS)),
    ApiKey.ADD_OFFSETS_TO_TXN: _Trouble((*_COORDINATOR, ErrorCode.CONCURRENT_TRANSACTIONS)),
    ApiKey.END_TXN: _Trouble(_COORDINATOR),
    ApiKey.TXN_OFFSET_COMMIT: _Trouble(_COORDINATOR),
    ApiKey.OFFSET_FOR_LEADER_EPOCH: _Trouble(_LEADER),
    ApiKey.CONSUMER_GROUP_HEARTBEAT: _Trouble(_COORDINATOR),
    ApiKey.SHARE_GROUP_HEARTBEAT: _Trouble(_COORDINATOR),
    ApiKey.STREAMS_GROUP_HEARTBEAT: _Trouble(_COORDINATOR, behind=False),  # tasks are told once, and not again
}
"""Who is not here is left alone: what clients give up at once (ApiVersions, SASL, administration), or never repeat
(LeaveGroup; heartbeats with which a member leaves are, too)."""


class Act(NamedTuple):
    """One thing that was done: which requests of an API came to, or what moved."""

    number: int
    what: str

    def __str__(self) -> str:
        return f"{self.number:>5} {self.what}"


class Move(NamedTuple):
    """Something is to move; which is chosen among what there is by the draws, from 0 to 1.

    Attributes:
        kind: "node", one stops or comes back; "session", that of a member of a group ends; "leader", another node
            leads a partition, or coordinates.
    """

    kind: str
    draw: float
    second_draw: float


class Chaos:
    """One seed at one level. Belongs to the server's thread. Raises FaultError for what is none."""

    def __init__(self, seed: int, level: int = 1) -> None:
        if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
            raise FaultError(f"chaos={seed!r} is refused: a seed is a whole number from 0 on")
        if isinstance(level, bool) or level not in LEVELS:
            raise FaultError(f"chaos_level={level!r} is refused: {', '.join(map(str, LEVELS))} are there")
        self.seed = seed
        self.level = level
        self._level = LEVELS[level]
        self._move: Callable[[Move], None] | None = None
        self._streams: dict[ApiKey, _Stream] = {}
        self._moves = random.Random(f"{seed}/moves")
        self._left = self._until_next()
        self._number = 0
        self._acts: deque[Act] = deque(maxlen=MOST_ACTS)

    @property
    def acts(self) -> list[Act]:
        """What was done, oldest first; the last `MOST_ACTS`."""
        return list(self._acts)

    def moves_by(self, move: Callable[[Move], None]) -> None:
        """`move` is told what is to move, in the middle of a request: to be done behind it."""
        self._move = move

    def done(self, what: str) -> None:
        """Remember an act."""
        self._number += 1
        self._acts.append(Act(self._number, what))

    def concerns(self, key: ApiKey) -> bool:
        """Whether requests of this API may meet something."""
        return key in TROUBLE

    def match(self, route: Any, request: Any) -> Action | None:
        """What happens to this request (`Plan.match`)."""
        key: ApiKey = route.key
        stream = self._streams.get(key)
        if stream is None:
            stream = self._streams[key] = _Stream(self.seed, key, self._level)
        if self._level.moves_every:
            self._left -= 1
            if self._left <= 0:
                self._left = self._until_next()
                self._next_move()
        found = stream.next()
        if found is None or _leaves(request):
            return None
        kind, late_ms = found
        if isinstance(kind, ErrorCode) and not _may_be_told(kind, route.version, request):
            kind = _LATE
        if kind == _LOST_BEHIND and getattr(request, "member_epoch", -1) == 0:
            kind = _LOST_BEFORE  # as with JoinGroup: who gives up would leave a member that nobody is
        told = kind.name if isinstance(kind, ErrorCode) else f"{kind} {late_ms} ms" if kind == _LATE else kind
        self.done(f"{key.camel} #{stream.count}: {_IN_WORDS.get(kind, told)}")
        if kind is ErrorCode.LEADER_NOT_AVAILABLE:
            return Action(fault=FAULT, rewrite=_without_leaders)
        if isinstance(kind, ErrorCode):
            ends = TROUBLE[key].hangs_up
            return Action(fault=FAULT, work=False, error=kind, ending="cut" if ends else "answer", cut_at=_ALL)
        if kind == _LATE:
            return Action(fault=FAULT, before_ms=late_ms)
        return Action(fault=FAULT, work=kind == _LOST_BEHIND, ending="close")

    def _until_next(self) -> int:
        every = self._level.moves_every
        return every + round(self._moves.random() * 2 * every)

    def _next_move(self) -> None:
        which, draw, second = (self._moves.random() for _ in range(3))
        kind = "node" if self._level.stops and which < 0.25 else "session" if which > 0.65 else "leader"
        if self._move is not None:
            self._move(Move(kind, draw, second))


class _Stream:
    """What the requests of one API meet, one after the other; no two in a row."""

    def __init__(self, seed: int, key: ApiKey, level: Level) -> None:
        trouble = TROUBLE[key]
        self._kinds: list[_Kind] = [*trouble.errors, _LATE]
        if level.loses and trouble.lost:
            self._kinds += [_LOST_BEFORE, *([_LOST_BEHIND] if trouble.behind else [])]
        self._share = level.share * trouble.part
        self._latest_ms = level.latest_ms
        self._random = random.Random(f"{seed}/{key.camel}").random
        self._spared = False
        self.count = 0

    def next(self) -> tuple[_Kind, int] | None:
        """What the next request meets, and how late; the same draws whatever became of the one before."""
        self.count += 1
        met, kind, late = self._random(), self._random(), self._random()
        if met >= self._share or self._spared:
            self._spared = False
            return None
        self._spared = True
        return self._kinds[int(kind * len(self._kinds))], 1 + int(late * self._latest_ms)


_IN_WORDS: Final[Mapping[_Kind, str]] = {
    _LOST_BEFORE: "the connection ends, and nothing is done",
    _LOST_BEHIND: "it is done, and the connection ends without the answer",
}
_SESSIONS_FROM: Final = 7
"""The version of Fetch that has sessions."""


def _leaves(request: Any) -> bool:
    """Whether it is the last heartbeat of a member: a member that nobody is would keep its partitions for long."""
    return bool(getattr(request, "member_epoch", 0) < 0)


def _may_be_told(code: ErrorCode, version: int, request: Any) -> bool:
    """Whether Kafka would give such an error for this very request."""
    if code is ErrorCode.FETCH_SESSION_ID_NOT_FOUND:
        return version >= _SESSIONS_FROM and bool(request.session_id > 0)
    if code is ErrorCode.NOT_LEADER_OR_FOLLOWER:
        return getattr(request, "acks", -1) != 0
    if code is ErrorCode.LEADER_NOT_AVAILABLE:
        return bool(request.topics)
    if code is ErrorCode.CONCURRENT_TRANSACTIONS or code in _COORDINATOR:
        return getattr(request, "transactional_id", "") is not None  # InitProducerId of a producer without one
    return True


def _without_leaders(answer: Any) -> Any:
    """The answer to Metadata in which the partitions that a client asked for are about to get their leaders."""
    told = copy.copy(answer)
    told.topics = [copy.copy(topic) for topic in answer.topics]
    for topic in told.topics:
        topic.partitions = [copy.copy(partition) for partition in topic.partitions]
        for partition in topic.partitions:
            partition.error_code, partition.leader_id = int(ErrorCode.LEADER_NOT_AVAILABLE), -1
    return told
