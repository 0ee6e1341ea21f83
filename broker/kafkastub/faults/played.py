"""Chaos without a seed: a list of acts that is played, each once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from kafkastub.faults.acts import KEYS, ChaosAct, acts_of, transaction_of
from kafkastub.faults.chaos import Doing, Move
from kafkastub.faults.plan import Action, Arrive
from kafkastub.faults.trouble import FAULT, LOST_BEHIND, action, joins, leaves, may_be_told
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode


class _Due:
    """An act that is to come."""

    __slots__ = ("act", "seen")

    def __init__(self, act: ChaosAct) -> None:
        self.act = act
        self.seen = 0
        """Requests that it is for."""


class PlayedChaos(Doing):
    """Acts, each done to one request or behind it. Belongs to the server's thread. Raises FaultError for what is none.

    A request meets one act that changes what it comes to, and any number that move something behind it.
    """

    def __init__(self, acts: Iterable[ChaosAct]) -> None:
        super().__init__()
        self.given = acts_of(acts)
        """All of them, as they were given."""
        self._due: dict[ApiKey, list[_Due]] = {}
        for act in self.given:
            self._due.setdefault(act.key, []).append(_Due(act))
        for due in self._due.values():
            due.sort(key=lambda one: one.act.nth)
        self._held_back: list[tuple[ApiKey, str | None, ChaosAct, Arrive]] = []
        self._waited_for: set[ApiKey] = {KEYS[act.behind] for act in self.given if act.behind is not None}
        """APIs behind whose requests something may arrive."""

    @property
    def left(self) -> int:
        """Acts that are still to come."""
        return sum(map(len, self._due.values()))

    def concerns(self, key: ApiKey) -> bool:
        """Whether requests of this API may meet something."""
        return key in self._due or key in self._waited_for

    def match(self, route: Any, request: Any, context: Any = None) -> Action | None:
        """What happens to this request (`Plan.match`)."""
        key: ApiKey = route.key
        late = self._arriving(key, transaction_of(request)) if self._held_back else None
        taken = self._taken(key, route.version, request, context) if key in self._due else None
        if taken is None:
            return None if late is None else Action(fault=FAULT, rewrite=partial(_behind, late))
        if late is not None:  # it has to go somewhere else itself
            late()
        return self._begin(taken, key, request)

    def _taken(self, key: ApiKey, version: int, request: Any, context: Any) -> _Due | None:
        """The act that this request meets; what is to move behind it is said."""
        due = self._due[key]
        client_id = getattr(context, "client_id", None)
        taken: _Due | None = None
        moving = []
        for one in due:
            act = one.act
            if not act.concerns(request, client_id):
                continue
            one.seen += 1
            if one.seen < act.nth:
                continue
            if act.moves is not None:
                moving.append(one)
            elif taken is None and _may_happen(act, version, request):
                taken = one
        for one in moving:
            due.remove(one)
            if self._move is not None:
                self._move(Move(one.act.moves or "", 0.0, 0.0, (one.act.api, one.seen), one.act))
        if taken is not None:
            due.remove(taken)
        return taken

    def _begin(self, taken: _Due, key: ApiKey, request: Any) -> Action:
        act = replace(taken.act, nth=taken.seen)
        self.done(str(act), act)
        if act.behind is not None:
            return Action(fault=FAULT, ending="close", later=self._holds(act, request))
        assert act.kind is not None
        return action(key, act.kind, act.delay_ms or 0)

    def missed(self, move: Move) -> None:
        """It is tried again behind the next request."""
        if move.act is not None:
            again = _Due(move.act)
            again.seen = move.at[1]
            self._due[move.act.key].insert(0, again)

    def _holds(self, act: ChaosAct, request: Any) -> Callable[[Arrive], None]:
        assert act.behind is not None
        behind, named = KEYS[act.behind], transaction_of(request)

        def hold(arrive: Arrive) -> None:
            self._held_back.append((behind, named, act, arrive))

        return hold

    def _arriving(self, key: ApiKey, named: str | None) -> Callable[[], None] | None:
        """What was held back until such a request came: to be called behind its work."""
        meant = [one for one in self._held_back if one[:2] == (key, named)]
        if not meant:
            return None
        for one in meant:
            self._held_back.remove(one)

        def arrive() -> None:
            for *_, act, go in meant:
                go(partial(self.done, f"{act.api} #{act.nth} has arrived, behind {act.behind}"))

        return arrive


def _behind(arrive: Callable[[], None], answer: Any) -> Any:
    """The work is done: this is the answer to it."""
    arrive()
    return answer


def _may_happen(act: ChaosAct, version: int, request: Any) -> bool:
    """Whether this very request can come to that."""
    kind = act.kind
    if kind is None:  # it is held back
        return transaction_of(request) is not None
    if leaves(request) or (kind == LOST_BEHIND and joins(request)):
        return False
    return not isinstance(kind, ErrorCode) or may_be_told(kind, version, request)
