"""Scenario after scenario on two brokers: made on the one that knows, replayed on the one under test.

A difference counts when it shows a second time; it is then made as short as can be. A broker that hangs or dies fails
the scenario at hand.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum

from kafkastub_conformance.differential.admin import admin_script
from kafkastub_conformance.differential.broker import Broker, Lost
from kafkastub_conformance.differential.compare import Difference
from kafkastub_conformance.differential.consumers import consumer_script
from kafkastub_conformance.differential.data import data_script
from kafkastub_conformance.differential.groups import groups_script
from kafkastub_conformance.differential.play import NotThere
from kafkastub_conformance.differential.replay import play_again, replay
from kafkastub_conformance.differential.scenario import Scenario
from kafkastub_conformance.differential.script import Script
from kafkastub_conformance.differential.share_groups import share_script
from kafkastub_conformance.differential.shrink import SECONDS, shrunk
from kafkastub_conformance.differential.streams_groups import streams_script
from kafkastub_conformance.differential.transactions import transactions_script

STEPS = 40
SCENARIOS = 100

KINDS: dict[str, Callable[[int, int], Script]] = {
    "groups": groups_script,
    "consumer": consumer_script,
    "share": share_script,
    "streams": streams_script,
    "data": data_script,
    "transactions": transactions_script,
    "admin": admin_script,
}
"""What scenarios are about: the script of a seed and a number of steps."""

REPEATS = 2
"""So often a difference is asked for again."""


class Status(Enum):
    """What came of a scenario."""

    SAME = "same"
    DIFFERENT = "different"
    UNSTEADY = "unsteady"
    """They differed, and did not when asked again."""
    ERROR = "error"
    """It could not be played to its end: a broker hangs, or is gone."""


@dataclass
class Result:
    """What came of one scenario: `answers` and states compared; the difference, as short as could be made."""

    name: str
    status: Status
    answers: int = 0
    steps: int = 0
    seconds: float = 0.0
    reason: str = ""
    difference: Difference | None = None
    like: str = ""
    """The scenario before that showed the same; it was not looked for a shorter one then."""

    @property
    def bad(self) -> bool:
        """Whether it was not the same on both, or not played."""
        return self.status in (Status.DIFFERENT, Status.ERROR)


@dataclass
class Comparison:
    """A whole run."""

    tested: str
    reference: str
    began: str
    """UTC, ISO 8601."""
    command: str = ""
    """What does it again, without the kind and the seed."""
    one_sided: list[str] = field(default_factory=list)
    """APIs that only one of the two has: not asked."""
    results: list[Result] = field(default_factory=list)
    seconds: float = 0.0
    interrupted: bool = False
    left: list[str] = field(default_factory=list)
    """Groups and topics that could not be removed."""

    def count(self, status: Status) -> int:
        return sum(result.status is status for result in self.results)

    @property
    def answers(self) -> int:
        return sum(result.answers for result in self.results)

    @property
    def bad(self) -> list[Result]:
        """The scenarios that were not the same on both, or not played."""
        return [result for result in self.results if result.bad]

    def replay_command(self, result: Result) -> str:
        """The command that plays one scenario again; empty where there is none."""
        kind, _, seed = result.name.rpartition("-")
        return f"{self.command} --kind {kind} --seed {seed} --scenarios 1" if self.command else ""


Progress = Callable[[Result, int, int], None]
"""(what came of a scenario, how many are done, how many there are)."""


def scripts(kinds: Sequence[str], seeds: Iterable[int], steps: int = STEPS) -> list[Script]:
    """The scripts of these seeds, kind after kind for each. Raises KeyError for another kind."""
    return [KINDS[kind](seed, steps) for seed in seeds for kind in kinds]


def compare(
    todo: Sequence[Script | Scenario],
    tested: Broker,
    reference: Broker | None,
    *,
    timeout: float = 10.0,
    shrinking: float = SECONDS,
    progress: Progress | None = None,
    into: Comparison | None = None,
) -> Comparison:
    """Play all of them; the results are in `into` as they come, also where it is interrupted.

    Args:
        reference: what it answers is expected. None for scenarios that bring the expected answers.
        timeout: seconds that an answer may be late.
        shrinking: seconds to look for a shorter scenario with the same difference; 0 for not at all.
    """
    began = datetime.now(UTC).isoformat(timespec="seconds")
    done = into or Comparison(tested.name, reference.name if reference else "the recording", began)
    start = time.monotonic()
    brokers = [tested, *([reference] if reference else [])]
    gone: Broker | None = None
    known: dict[tuple[str, ...], str] = {}
    try:
        for number, one in enumerate(todo, 1):
            if gone is not None and not gone.comes_back(0):
                result = Result(one.name, Status.ERROR, reason=f"{gone.name} is gone")
            else:
                result = _played(one, tested, reference, timeout, shrinking, known)
                gone = _gone(result, brokers)
            done.results.append(result)
            if progress is not None:
                progress(result, number, len(todo))
    except KeyboardInterrupt:
        done.interrupted = True
        for broker in brokers:
            broker.take_stock()
    done.seconds += time.monotonic() - start
    return done


def _gone(result: Result, brokers: list[Broker]) -> Broker | None:
    """The broker that does not come back after a scenario that failed."""
    if result.status is not Status.ERROR:
        return None
    for broker in brokers:
        if not broker.alive():
            if not broker.comes_back():
                result.reason += f"; {broker.name} does not answer any more"
                return broker
            result.reason += f"; {broker.name} was gone after it"
    return None


def _played(
    one: Script | Scenario,
    tested: Broker,
    reference: Broker | None,
    timeout: float,
    shrinking: float,
    known: dict[tuple[str, ...], str],
) -> Result:
    """One scenario; raises nothing but KeyboardInterrupt. `known` are the differences so far."""
    start = time.monotonic()
    result = Result(one.name, Status.SAME)
    try:
        scenario = _made(one, reference)
        result.answers, result.steps = scenario.answers, len(scenario.steps)
        result.difference = replay(scenario, tested, timeout)
        if result.difference is not None:
            result.status = Status.DIFFERENT
            again = _again(result.difference, tested, reference, timeout)
            if again is None:
                result.status = Status.UNSTEADY
            else:
                result.difference = again
                first = known.setdefault(again.kind, result.name)
                result.like = "" if first == result.name else first
                if shrinking and reference is not None and not result.like:
                    result.difference = shrunk(again, reference, tested, shrinking)
    except Lost as error:
        if result.status is Status.SAME:
            result.status = Status.ERROR
        result.reason = str(error)
    except NotThere as error:
        result.status, result.reason = Status.ERROR, f"it is not to be asked of these brokers: {error}"
    except (LookupError, TypeError, ValueError) as error:  # a scenario written by hand, with a name or a type amiss
        result.status, result.reason = Status.ERROR, f"it cannot be played: {type(error).__name__}: {error}"
    result.seconds = time.monotonic() - start
    return result


def _made(one: Script | Scenario, reference: Broker | None) -> Scenario:
    if isinstance(one, Scenario):
        return one if reference is None else play_again(one, one.steps, reference)
    if reference is None:
        raise NotThere("there is none that knows the answers")
    return one.play(reference)[0]


def _again(difference: Difference, tested: Broker, reference: Broker | None, timeout: float) -> Difference | None:
    """The difference that shows when it is asked for again, if any does."""
    scenario = difference.scenario
    steps = scenario.steps[: difference.index + 1]
    for _ in range(REPEATS):
        if reference is not None:
            scenario = play_again(scenario, steps, reference)
        found = replay(scenario, tested, timeout)
        if found is not None:
            return found
    return None
