"""One thing that chaos does, as data: so that it can be printed, changed and played again without a seed."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from fnmatch import translate
from typing import Any, Final, NamedTuple, Self

from kafkastub.faults.rules import LONGEST_MS, FaultError
from kafkastub.faults.trouble import LATE, LOST_BEFORE, LOST_BEHIND, TROUBLE, Kind, told
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
    """One thing that was done: which requests of an API came to, or what moved.

    Attributes:
        number: the first one is 1.
        what: in words.
        again: does the same once more, when it is given to `stub.chaos.play`.
    """

    number: int
    what: str
    again: ChaosAct | None = None

    def __str__(self) -> str:
        return f"{self.number:>5} {self.what}"


@dataclass(frozen=True, repr=False)
class ChaosAct:
    """One thing for chaos to do: to one request, or behind one. Raises FaultError for what no level of chaos does.

    Which request:
        api: a name, "OffsetCommit".
        nth: the so-manieth of that API, from 1 on, whoever sends it. Where that one cannot have it (a Fetch without a
            session is not told that there is none), the next one that can.
        client_id: of those alone whose client id matches, a glob pattern: "payments-*".
        transactional_id: of those alone that name it.
        committed: of EndTxn: those alone that commit, or that abort.

    What happens; one of:
        error: a name, "NOT_COORDINATOR"; one that Kafka gives to that API when leaders and coordinators move.
        delay_ms: it is answered so much later.
        drop: its connection ends, "before" its work is done or "after" it.
        behind: the network holds it back. Its connection ends; it arrives behind the work of the next request of this
            API that names the same transactional id, and its answer goes to nobody. For requests of transactions.
        moves: behind that request, "session": that of a member ends; "leader": another node leads; "coordinators": they
            are loaded anew; "stop", "start": a node; "connections": all of a node end (in front of a real cluster).

    Where it moves; what is left out is the first one there is:
        group, member: the group's id, and which of its members, from 0 on. Where there is no such group, the first one
            that has members: ids may be drawn anew each time.
        topic, partition, node: the partition that is led by that node from then on; or the node alone.
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
            raise FaultError(f"{self!r} is refused: one of {', '.join(_ENDINGS)} is wanted, not {len(said)} of them")
        for name in (*_WHO, "group", "topic"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise FaultError(f"{name}={value!r} is refused: a text is wanted")
        for name in ("member", "partition", "node"):
            if getattr(self, name) is not None:
                _whole(name, getattr(self, name), 0, 1 << 31)
        if self.delay_ms is not None:
            _whole("delay_ms", self.delay_ms, 1, LONGEST_MS)
        if self.committed is not None and not (isinstance(self.committed, bool) and self.key is ApiKey.END_TXN):
            raise FaultError(f"committed={self.committed!r} is refused: EndTxn has it, and it is True or False")
        self._check_error()
        self._check_ending()
        self._check_move()

    def _check_error(self) -> None:
        possible = [code.name for code in dict.fromkeys(TROUBLE[self.key].errors)]
        if self.error is not None and self.error not in possible:
            raise FaultError(
                f"error={self.error!r} is refused: of chaos {self.api} is told {' or '.join(possible)}; "
                "any other error is a fault (docs/faults.md)"
            )

    def _check_ending(self) -> None:
        trouble = TROUBLE[self.key]
        if self.drop is not None:
            possible = [*(["before"] if trouble.lost else []), *(["after"] if trouble.lost and trouble.behind else [])]
            if self.drop not in possible:
                instead = " or ".join(map(repr, possible)) or "nothing"
                raise FaultError(f"drop={self.drop!r} is refused: for {self.api} it is {instead}")
        if self.behind is not None:
            if self.key not in HELD_BACK:
                names = ", ".join(key.camel for key in HELD_BACK)
                raise FaultError(f"behind={self.behind!r} is refused: {self.api} is none of {names}")
            if self.behind not in [key.camel for key in HELD_BACK]:
                names = ", ".join(key.camel for key in HELD_BACK)
                raise FaultError(f"behind={self.behind!r} is refused: one of {names} is wanted")

    def _check_move(self) -> None:
        if self.moves is not None and self.moves not in MOVES:
            raise FaultError(f"moves={self.moves!r} is refused: one of {', '.join(MOVES)} is wanted")
        for name in _TARGETS:
            if getattr(self, name) is not None and name not in MOVES.get(self.moves or "", ()):
                raise FaultError(f"{name}={getattr(self, name)!r} is refused: moves={self.moves!r} has no {name}")

    @property
    def key(self) -> ApiKey:
        """Of its API."""
        return KEYS[self.api]

    @property
    def kind(self) -> Kind | None:
        """What the request comes to; None where something moves behind it, or it is held back."""
        if self.error is not None:
            return ErrorCode[self.error]
        if self.delay_ms is not None:
            return LATE
        return {"before": LOST_BEFORE, "after": LOST_BEHIND}.get(self.drop or "")

    @property
    def target(self) -> dict[str, str | int]:
        """Where it moves, as far as it is said."""
        return {name: getattr(self, name) for name in _TARGETS if getattr(self, name) is not None}

    def concerns(self, request: Any, client_id: str | None) -> bool:
        """Whether it is for such a request."""
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
            what = told(self.kind, self.delay_ms or 0)
        elif self.behind is not None:
            what = f"the connection ends, and it arrives behind the next {self.behind}"
        else:
            where = "".join(f", {name} {value}" for name, value in self.target.items())
            what = f"behind it moves: {self.moves}{where}"
        return f"{self.api} #{self.nth}: {what}"

    def __repr__(self) -> str:
        """As Python has it."""
        said = [
            f"{each.name}={value!r}" for each in fields(self)[2:] if (value := getattr(self, each.name)) is not None
        ]
        return f"ChaosAct({', '.join([repr(self.api), repr(self.nth), *said])})"

    def to_dict(self) -> dict[str, str | int]:
        """What it says, without what it leaves out; JSON and YAML can carry it."""
        return {each.name: value for each in fields(self) if (value := getattr(self, each.name)) is not None}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """What `to_dict` gave. Raises FaultError."""
        names = [each.name for each in fields(cls)]
        for name in given:
            if name not in names:
                raise FaultError(f"an act has no {name}; it has {', '.join(names)}")
        if "api" not in given:
            raise FaultError("an act without api is refused: which requests is it for?")
        return cls(**given)


def acts_of(given: Iterable[object]) -> tuple[ChaosAct, ...]:
    """A list of acts. Raises FaultError for one that has others in it, or too many."""
    acts = tuple(given)
    for act in acts:
        if not isinstance(act, ChaosAct):
            raise FaultError(f"chaos is a seed, or a list of ChaosAct: {act!r} is none")
    if len(acts) > MOST_ACTS:
        raise FaultError(f"{len(acts)} acts are refused: {MOST_ACTS} at most")
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
        raise FaultError(f"api={name!r} is refused: a name is wanted, 'OffsetCommit'")
    if name not in KEYS:
        near = difflib.get_close_matches(name, KEYS, n=1)
        hint = f"; is {near[0]} meant?" if near else f": it meets {', '.join(KEYS)}"
        raise FaultError(f"api={name!r} is refused: chaos leaves it alone{hint}")


def _whole(name: str, value: object, first: int, last: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not first <= value <= last:
        raise FaultError(f"{name}={value!r} is refused: a whole number from {first} to {last} is wanted")
