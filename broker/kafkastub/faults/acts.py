"""One thing that chaos does, as data: so that it can be printed, changed and played again without a seed."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from fnmatch import translate
from typing import Any, Final, NamedTuple, Self

from kafkastub.faults.rules import LONGEST_MS, FaultError
from kafkastub.faults.trouble import LATE, LOST_BEFORE, LOST_BEHIND, TROUBLE, Kind, describe
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode

MOST_ACTS: Final = 1000
"""Acts that are remembered, and acts of a list that is played."""

KEYS: Final[Mapping[str, ApiKey]] = {key.camel: key for key in TROUBLE}
"""What chaos may meet, by name."""
HELD_BACK: Final = (
    ApiKey.PRODUCE, ApiKey.ADD_PARTITIONS_TO_TXN, ApiKey.ADD_OFFSETS_TO_TXN, ApiKey.TXN_OFFSET_COMMIT, ApiKey.END_TXN,
)  # fmt: skip
"""Requests of a transaction, which later ones may overtake."""
MOVES: Final[Mapping[str, tuple[str, ...]]] = {
    "session": ("group", "member"),
    "leader": ("topic", "partition", "node"),
    "coordinators": (),
    "stop": ("node",),
    "start": ("node",),
    "connections": ("node",),
}
"""What may move, and the fields that say where."""
_TARGETS: Final = ("group", "member", "topic", "partition", "node")
_ENDINGS: Final = ("error", "delay_ms", "drop", "behind", "moves")
_WHO: Final = ("client_id", "transactional_id")


class Act(NamedTuple):
    """One thing that chaos has done, to a request or to the cluster.

    Attributes:
        number: counts the acts, from 1.
        what: a description for people.
        again: the same act as data. `stub.chaos.play([act.again])` repeats it.
    """

    number: int
    what: str
    again: ChaosAct | None = None

    def __str__(self) -> str:
        return f"{self.number:>5} {self.what}"


@dataclass(frozen=True, repr=False)
class ChaosAct:
    """One thing for chaos to do to one request, or right after one request.

    Which request:
        api: the name of the API, "OffsetCommit".
        nth: its number among the requests of that API, from 1, whichever client sends it. If that request cannot have
            the act (a Fetch without a session never gets FETCH_SESSION_ID_NOT_FOUND), the next one that can gets it.
        client_id: count only requests whose client id matches this glob pattern: "payments-*".
        transactional_id: count only requests that name this transactional id.
        committed: count only EndTxn requests that commit (True), or that abort (False).

    What happens, exactly one of:
        error: the name of an error that Kafka returns for that API when leaders and coordinators move.
        delay_ms: the answer is late by this many milliseconds.
        drop: the connection ends, "before" or "after" the broker has done the work.
        behind: the connection ends and the network holds the request back. The request arrives right after the broker
            has served the next request of the API with this name and the same transactional id. Nobody gets the answer.
            Only for requests of transactions.
        moves: what changes right after the request. "session": the session of a group member ends. "leader": another
            node leads a partition. "coordinators": the coordinators are loaded again. "stop", "start": a node stops or
            starts. "connections": all connections to a node end (only with a real cluster).

    Where it moves; the first group, member, topic or node by default:
        group, member: the group id, and the index of the member. Another group is taken if there is none with this id,
            because tests often make new ids for each run.
        topic, partition, node: the partition that moves and the node that leads it, or the node that stops or starts.

    Raises FaultError for an act that no level of chaos has.
    """

    api: str
    nth: int = 1
    error: str | None = field(default=None, kw_only=True)
    delay_ms: int | None = field(default=None, kw_only=True)
    drop: str | None = field(default=None, kw_only=True)
    behind: str | None = field(default=None, kw_only=True)
    moves: str | None = field(default=None, kw_only=True)
    group: str | None = field(default=None, kw_only=True)
    member: int | None = field(default=None, kw_only=True)
    topic: str | None = field(default=None, kw_only=True)
    partition: int | None = field(default=None, kw_only=True)
    node: int | None = field(default=None, kw_only=True)
    client_id: str | None = field(default=None, kw_only=True)
    transactional_id: str | None = field(default=None, kw_only=True)
    committed: bool | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        _known_api(self.api)
        _whole("nth", self.nth, 1, 1 << 31)
        said = [name for name in _ENDINGS if getattr(self, name) is not None]
        if len(said) != 1:
            raise FaultError(
                f"{self!r} is refused: it must have exactly one of {', '.join(_ENDINGS)}, and has {len(said)}"
            )
        for name in (*_WHO, "group", "topic"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise FaultError(f"{name}={value!r} is refused: it must be a string")
        for name in ("member", "partition", "node"):
            if getattr(self, name) is not None:
                _whole(name, getattr(self, name), 0, 1 << 31)
        if self.delay_ms is not None:
            _whole("delay_ms", self.delay_ms, 1, LONGEST_MS)
        if self.committed is not None and not (isinstance(self.committed, bool) and self.key is ApiKey.END_TXN):
            raise FaultError(
                f"committed={self.committed!r} is refused: only EndTxn has it, and it must be True or False"
            )
        self._check_error()
        self._check_ending()
        self._check_move()

    def _check_error(self) -> None:
        possible = [code.name for code in dict.fromkeys(TROUBLE[self.key].errors)]
        if self.error is not None and self.error not in possible:
            raise FaultError(
                f"error={self.error!r} is refused: chaos returns {' or '.join(possible)} for {self.api}. "
                "Use stub.faults for other errors (docs/faults.md)"
            )

    def _check_ending(self) -> None:
        trouble = TROUBLE[self.key]
        if self.drop is not None:
            possible = [*(["before"] if trouble.lost else []), *(["after"] if trouble.lost and trouble.behind else [])]
            if self.drop not in possible:
                instead = " or ".join(map(repr, possible)) or "left out"
                raise FaultError(f"drop={self.drop!r} is refused: for {self.api} it must be {instead}")
        if self.behind is not None:
            if self.key not in HELD_BACK:
                names = ", ".join(key.camel for key in HELD_BACK)
                raise FaultError(f"behind={self.behind!r} is refused: only {names} can be held back, not {self.api}")
            if self.behind not in [key.camel for key in HELD_BACK]:
                names = ", ".join(key.camel for key in HELD_BACK)
                raise FaultError(f"behind={self.behind!r} is refused: it must be one of {names}")

    def _check_move(self) -> None:
        if self.moves is not None and self.moves not in MOVES:
            raise FaultError(f"moves={self.moves!r} is refused: it must be one of {', '.join(MOVES)}")
        for name in _TARGETS:
            if getattr(self, name) is not None and name not in MOVES.get(self.moves or "", ()):
                raise FaultError(f"{name}={getattr(self, name)!r} is refused: moves={self.moves!r} has no {name}")

    @property
    def key(self) -> ApiKey:
        """The key of its API."""
        return KEYS[self.api]

    @property
    def kind(self) -> Kind | None:
        """What happens to the request; None if something moves after it, or if it is held back."""
        if self.error is not None:
            return ErrorCode[self.error]
        if self.delay_ms is not None:
            return LATE
        return {"before": LOST_BEFORE, "after": LOST_BEHIND}.get(self.drop or "")

    @property
    def target(self) -> dict[str, str | int]:
        """The fields that say where something moves, without those that are not set."""
        return {name: getattr(self, name) for name in _TARGETS if getattr(self, name) is not None}

    def concerns(self, request: Any, client_id: str | None) -> bool:
        """Whether the act applies to such a request."""
        if self.transactional_id not in (None, transaction_of(request)):
            return False
        if self.committed is not None and bool(getattr(request, "committed", None)) is not self.committed:
            return False
        return self.client_id is None or (
            client_id is not None and re.match(translate(self.client_id), client_id) is not None
        )

    def __str__(self) -> str:
        """What it does, in words."""
        if self.kind is not None:
            what = describe(self.kind, self.delay_ms or 0)
        elif self.behind is not None:
            what = f"the connection ends, and it arrives behind the next {self.behind}"
        else:
            where = "".join(f", {name} {value}" for name, value in self.target.items())
            what = f"then moves: {self.moves}{where}"
        return f"{self.api} #{self.nth}: {what}"

    def __repr__(self) -> str:
        """As Python has it."""
        said = [
            f"{each.name}={value!r}" for each in fields(self)[2:] if (value := getattr(self, each.name)) is not None
        ]
        return f"ChaosAct({', '.join([repr(self.api), repr(self.nth), *said])})"

    def to_dict(self) -> dict[str, str | int]:
        """Return the fields that are set, as values that JSON and YAML can represent."""
        return {each.name: value for each in fields(self) if (value := getattr(self, each.name)) is not None}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """Return the act from the result of `to_dict`. Raises FaultError."""
        names = [each.name for each in fields(cls)]
        for name in given:
            if name not in names:
                raise FaultError(f"{name} is refused: the fields of an act are {', '.join(names)}")
        if "api" not in given:
            raise FaultError("api is missing: an act needs the name of an API, 'OffsetCommit'")
        return cls(**given)


def acts_of(given: Iterable[object]) -> tuple[ChaosAct, ...]:
    """A list of acts. Raises FaultError for one that has others in it, or too many."""
    acts = tuple(given)
    for act in acts:
        if not isinstance(act, ChaosAct):
            raise FaultError(f"chaos={act!r} is refused: it must be a seed, a scenario's name, or a list of ChaosAct")
    if len(acts) > MOST_ACTS:
        raise FaultError(f"{len(acts)} acts are refused: a list has {MOST_ACTS} acts at most")
    return acts  # type: ignore[return-value]


def as_source(acts: Sequence[ChaosAct], indent: str = "") -> str:
    """A list of them in Python, one a line."""
    return "\n".join(["[", *(f"{indent}    {act!r}," for act in acts), f"{indent}]"]) if acts else "[]"


def transaction_of(request: Any) -> str | None:
    """The transactional id that a request names."""
    named = getattr(request, "transactional_id", None)
    return named if named is not None else getattr(request, "v3_and_below_transactional_id", None) or None


def _known_api(name: object) -> None:
    if not isinstance(name, str):
        raise FaultError(f"api={name!r} is refused: it must be the name of an API, 'OffsetCommit'")
    if name not in KEYS:
        near = difflib.get_close_matches(name, KEYS, n=1)
        hint = f"Did you mean {near[0]}?" if near else f"It must be one of {', '.join(KEYS)}"
        raise FaultError(f"api={name!r} is refused: chaos does nothing to it. {hint}")


def _whole(name: str, value: object, first: int, last: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not first <= value <= last:
        raise FaultError(f"{name}={value!r} is refused: it must be a whole number from {first} to {last}")
