"""Find the smallest chaos: the fewest acts, in their simplest form, with which a test still fails.

The search works as hypothesis shrinks: it removes chunks, then single acts, then simplifies each act, until a round
changes nothing. Real clients are not deterministic, so a test may fail only sometimes. The search first measures how
often the test fails with all acts. If it fails each time, a smaller list must fail twice to be kept. If it fails
sometimes, a smaller list has three attempts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from kafkastub.faults.acts import ChaosAct
from kafkastub.faults.trouble import TROUBLE

MOST_RUNS: Final = 200
MOST_SECONDS: Final = 300.0
REPLAYS: Final = 3
"""How often the result is played again before it is shown."""

Acts = tuple[ChaosAct, ...]


@dataclass(frozen=True)
class Smallest:
    """What was found.

    Attributes:
        acts: the smallest list that fails; all of them where none fails without its seed.
        given: how many there were.
        runs: of the test, the replays among them.
        seconds: that they took.
        failed: how often it failed when it was played again at the end, of `replayed`.
        ended: why it was not made smaller: "" where it cannot be, else a sentence.
    """

    acts: Acts
    given: int
    runs: int
    seconds: float
    failed: int
    replayed: int
    ended: str = ""

    @property
    def is_certain(self) -> bool:
        """Whether it failed each time."""
        return self.failed == self.replayed > 0


class _Over(Exception):
    """No more runs, or no more time."""


class Shrinker:
    """Makes one list smaller. `fails` runs the test with a list, and says whether it fails in the same way."""

    def __init__(
        self,
        fails: Callable[[Acts], bool],
        now: Callable[[], float],
        most_runs: int = MOST_RUNS,
        most_seconds: float = MOST_SECONDS,
    ) -> None:
        """`now`: seconds of a clock that never goes back."""
        self._fails = fails
        self._now = now
        self._most_runs = max(most_runs, 3 * REPLAYS)
        self._most_seconds = most_seconds
        self._began = now()
        self._runs = 0
        self._tries, self._confirmed = 1, 2
        self._known: set[Acts] = set()
        """Lists that did not fail, in this round."""
        self._kept: list[Acts] = []
        """Lists that failed, each smaller than the one before."""

    def shrink(self, acts: Sequence[ChaosAct]) -> Smallest:
        """The smallest list that was found. Never raises but what `fails` raises."""
        every = tuple(acts)
        failed = sum(self._run(every) for _ in range(REPLAYS)) or sum(self._run(every) for _ in range(REPLAYS))
        if not failed:
            why = "The test passes when the acts are played without their seed. Timing matters, too."
            return self._result(every, len(every), 0, self._runs, why)
        if failed < self._runs:  # it has to have its chances
            self._tries, self._confirmed = REPLAYS, 1
        self._kept = [every]
        ended = ""
        while True:
            try:
                if not self._better(()):
                    self._rounds()
            except _Over as over:
                ended = str(over)
            was = self._kept[-1]
            found = self._replayed(len(every), ended)
            if found.acts == was or found.ended or self._tries > 1 or self._confirmed >= REPLAYS:
                return found
            self._confirmed += 1  # luck has led astray: from here again, and more slowly
            self._known.clear()

    def _rounds(self) -> None:
        while True:
            before = self._kept[-1]
            self._known.clear()
            self._leave_out()
            self._simplify()
            if self._kept[-1] == before:
                return

    def _leave_out(self) -> None:
        """Chunks, from halves down to single acts; the last ones first, which nothing hangs on."""
        size = max(1, len(self._kept[-1]) // 2)
        while True:
            end = len(self._kept[-1])
            while end > 0:
                acts = self._kept[-1]
                self._better(acts[: max(0, end - size)] + acts[end:])
                end -= size
            if size == 1:
                return
            size //= 2

    def _simplify(self) -> None:
        """Each act, one after the other: the simplest form first."""
        for index in range(len(self._kept[-1])):
            while True:
                acts = self._kept[-1]
                if not any(self._better((*acts[:index], one, *acts[index + 1 :])) for one in simpler(acts[index])):
                    break

    def _better(self, acts: Acts) -> bool:
        """Whether it fails, too: then it is kept."""
        if acts in self._known or acts == self._kept[-1]:
            return False
        if any(self._run_in_time(acts) for _ in range(self._tries)) and all(
            self._run_in_time(acts) for _ in range(self._confirmed - 1)
        ):
            self._kept.append(acts)
            return True
        self._known.add(acts)
        return False

    def _run_in_time(self, acts: Acts) -> bool:
        if self._runs + REPLAYS >= self._most_runs:
            raise _Over(f"The search ended after {self._runs} runs. A smaller list may exist.")
        if self._now() - self._began >= self._most_seconds:
            raise _Over(f"The search ended after {self._most_seconds:.0f} s. A smaller list may exist.")
        return self._run(acts)

    def _run(self, acts: Acts) -> bool:
        self._runs += 1
        return self._fails(acts)

    def _replayed(self, given: int, ended: str) -> Smallest:
        """Play the result again. Where one that should fail each time does not, the one before may be it."""
        best, most = self._kept[-1], -1
        while True:
            acts = self._kept[-1]
            failed = sum(self._run(acts) for _ in range(REPLAYS))
            if failed > most:
                best, most = acts, failed
            enough = failed == REPLAYS or (failed > 0 and self._tries > 1)
            spent = self._runs + REPLAYS > self._most_runs or self._now() - self._began >= self._most_seconds
            if enough or spent or len(self._kept) == 1:
                return self._result(best, given, most, REPLAYS, ended)
            self._kept.pop()

    def _result(self, acts: Acts, given: int, failed: int, replayed: int, ended: str) -> Smallest:
        return Smallest(acts, given, self._runs, self._now() - self._began, failed, replayed, ended)


def simpler(act: ChaosAct) -> Iterator[ChaosAct]:
    """Simpler forms of an act, the simplest first: late, then an error, then a connection that ends, before the work
    and after it; the first request rather than a later one; the first member, and nothing that need not be said."""
    yield from _simpler_ending(act)
    if act.delay_ms is not None:
        yield from (replace(act, delay_ms=ms) for ms in _lower(act.delay_ms))
    for name in ("group", "topic", "node", "member", "partition"):
        if getattr(act, name) is not None:
            without: dict[str, Any] = {name: None}
            yield replace(act, **without)
    yield from (replace(act, nth=nth) for nth in _lower(act.nth))


def _simpler_ending(act: ChaosAct) -> Iterator[ChaosAct]:
    if act.moves is not None or act.behind is not None or act.delay_ms is not None:
        return
    plain = replace(act, error=None, drop=None, delay_ms=_SHORT_MS)
    yield plain
    errors = [code.name for code in dict.fromkeys(TROUBLE[act.key].errors)]
    if act.error is not None:
        errors = errors[: errors.index(act.error)]
    yield from (replace(plain, delay_ms=None, error=name) for name in errors)
    if act.drop == "after":
        yield replace(act, drop="before")


def _lower(number: int) -> Iterator[int]:
    """Smaller numbers, the smallest first: 1, then what is nearer and nearer."""
    if number > 1:
        yield 1
        step = number // 2
        while step:
            if number - step > 1:
                yield number - step
            step //= 2


_SHORT_MS: Final = 20
"""What level 1 does at most."""
