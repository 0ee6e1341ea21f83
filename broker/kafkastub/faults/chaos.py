"""Trouble that every correct client survives, decided by a seed.

Which requests of an API meet what is the seed's alone: the third OffsetCommit, whoever sends it and whenever. What each
API may answer is in one table (`trouble`). Nothing that was acknowledged is taken back.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from kafkastub.faults.acts import MOST_ACTS, Act, ChaosAct
from kafkastub.faults.plan import Action
from kafkastub.faults.rules import FaultError
from kafkastub.faults.trouble import (
    LATE,
    LOST_BEFORE,
    LOST_BEHIND,
    TROUBLE,
    Kind,
    action,
    describe,
    joins,
    leaves,
    may_be_told,
)
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode


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


class Move(NamedTuple):
    """Something is to move. By a seed, which is chosen among what there is by the draws, from 0 to 1; else by `target`.

    Attributes:
        kind: "node", one stops or comes back; "session", that of a member of a group ends; "leader", another node
            leads a partition, or coordinates; or what an act says (`acts.MOVES`), then `is_drawn` is not.
        at: the request that it is behind: its API, and the so-manieth.
        act: that asks for it.
    """

    kind: str
    draw: float
    second_draw: float
    at: tuple[str, int]
    act: ChaosAct | None = None

    @property
    def target(self) -> Mapping[str, str | int] | None:
        """Where, as far as it is said; None where the draws decide."""
        return None if self.act is None else self.act.target


class Doing:
    """What has been done, whether a seed decides it or a list. Belongs to the server's thread."""

    seed: int | None = None
    level: int | None = None

    def __init__(self) -> None:
        self._move: Callable[[Move], None] | None = None
        self._number = 0
        self._acts: deque[Act] = deque(maxlen=MOST_ACTS)

    @property
    def acts(self) -> list[Act]:
        """What was done, oldest first; the last `MOST_ACTS`."""
        return list(self._acts)

    @property
    def forgotten(self) -> int:
        """Acts that were done and are not remembered."""
        return self._number - len(self._acts)

    def moves_by(self, move: Callable[[Move], None] | None) -> None:
        """`move` is given what is to move, in the middle of a request: to be done behind it. None: nothing moves."""
        self._move = move

    def done(self, what: str, again: ChaosAct | None = None) -> None:
        """Remember an act."""
        self._number += 1
        self._acts.append(Act(self._number, what, again))

    def moved(self, move: Move, what: str, kind: str, target: Mapping[str, Any]) -> None:
        """It has moved, there."""
        api, nth = move.at
        self.done(what, ChaosAct(api, nth, moves=kind, **target))

    def missed(self, move: Move) -> None:
        """There is nothing now that could move so."""


class Chaos(Doing):
    """One seed at one level. Belongs to the server's thread. Raises FaultError for what is none."""

    seed: int
    level: int

    def __init__(self, seed: int, level: int = 1) -> None:
        super().__init__()
        if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
            raise FaultError(f"chaos={seed!r} is refused: a seed is a whole number from 0 on")
        if isinstance(level, bool) or level not in LEVELS:
            raise FaultError(f"chaos_level={level!r} is refused: it must be {', '.join(map(str, LEVELS))}")
        self.seed = seed
        self.level = level
        self._level = LEVELS[level]
        self._streams: dict[ApiKey, _Stream] = {}
        self._moves = random.Random(f"{seed}/moves")
        self._left = self._until_next()

    def concerns(self, key: ApiKey) -> bool:
        """Whether requests of this API may meet something."""
        return key in TROUBLE

    def match(self, route: Any, request: Any, context: Any = None) -> Action | None:
        """What happens to this request (`Plan.match`), whoever sends it."""
        key: ApiKey = route.key
        stream = self._streams.get(key)
        if stream is None:
            stream = self._streams[key] = _Stream(self.seed, key, self._level)
        if self._level.moves_every:
            self._left -= 1
            if self._left <= 0:
                self._left = self._until_next()
                self._next_move((key.camel, stream.count + 1))
        found = stream.next()
        if found is None or leaves(request):
            return None
        kind, late_ms = found
        if isinstance(kind, ErrorCode) and not may_be_told(kind, route.version, request):
            kind = LATE
        if kind == LOST_BEHIND and joins(request):
            kind = LOST_BEFORE
        again = _act(key, stream.count, kind, late_ms)
        self.done(f"{key.camel} #{stream.count}: {describe(kind, late_ms)}", again)
        return action(key, kind, late_ms)

    def _until_next(self) -> int:
        every = self._level.moves_every
        return every + round(self._moves.random() * 2 * every)

    def _next_move(self, at: tuple[str, int]) -> None:
        which, draw, second = (self._moves.random() for _ in range(3))
        kind = "node" if self._level.stops and which < 0.25 else "session" if which > 0.65 else "leader"
        if self._move is not None:
            self._move(Move(kind, draw, second, at))


def _act(key: ApiKey, nth: int, kind: Kind, late_ms: int) -> ChaosAct:
    if isinstance(kind, ErrorCode):
        return ChaosAct(key.camel, nth, error=kind.name)
    if kind == LATE:
        return ChaosAct(key.camel, nth, delay_ms=late_ms)
    return ChaosAct(key.camel, nth, drop="after" if kind == LOST_BEHIND else "before")


class _Stream:
    """What the requests of one API meet, one after the other; no two in a row."""

    def __init__(self, seed: int, key: ApiKey, level: Level) -> None:
        trouble = TROUBLE[key]
        self._kinds: list[Kind] = [*trouble.errors, LATE]
        if level.loses and trouble.lost:
            self._kinds += [LOST_BEFORE, *([LOST_BEHIND] if trouble.behind else [])]
        self._share = level.share * trouble.part
        self._latest_ms = level.latest_ms
        self._random = random.Random(f"{seed}/{key.camel}").random
        self._spared = False
        self.count = 0

    def next(self) -> tuple[Kind, int] | None:
        """What the next request meets, and how late; the same draws whatever became of the one before."""
        self.count += 1
        met, kind, late = self._random(), self._random(), self._random()
        if met >= self._share or self._spared:
            self._spared = False
            return None
        self._spared = True
        return self._kinds[int(kind * len(self._kinds))], 1 + int(late * self._latest_ms)
