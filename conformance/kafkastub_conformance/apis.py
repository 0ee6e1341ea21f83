"""Every API of the release that a broker is measured by, and what a run of the suite has shown of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from kafkastub_conformance.messages import KEYS
from kafkastub_conformance.model import Outcome, Result, Status
from kafkastub_conformance.registry import catalogue
from kafkastub_conformance.release import ranges
from kafkawire.api import ApiKey


class Shown(Enum):
    """What is known of an API."""

    PLAYED = "played"
    SKIPPED = "skipped"
    """Each of its runs was: their reasons tell why."""
    NOT_PLAYED = "not played"
    """The broker has it, and none of its cases was chosen, or came to its turn."""
    NO_CASE = "no case"
    """The broker has it, and the suite knows nothing to ask."""
    NOT_SERVED = "not served"
    """The release has it, and the broker does not."""


@dataclass(frozen=True)
class Api:
    """One API.

    Attributes:
        release: its versions in the release; None where that does not have it, and the broker does.
        served: the broker's versions of it; None where it does not have it.
        cases: how many the suite has, chosen or not.
        runs: how many runs ended so.
    """

    name: str
    key: int
    release: tuple[int, int] | None
    served: tuple[int, int] | None
    cases: int
    runs: Mapping[Status, int]
    shown: Shown

    @property
    def played(self) -> int:
        """How many runs were not skipped."""
        return sum(self.runs.values()) - self.runs[Status.SKIPPED]

    @property
    def fine(self) -> bool:
        """Whether nothing failed that was played."""
        return self.played == self.runs[Status.PASSED]


def apis(outcome: Outcome) -> list[Api]:
    """Those of the release, and what else the broker has, by their keys."""
    of_release = ranges(outcome.release)
    cases = Counter(int(KEYS[case.api]) for case in catalogue())
    results: dict[int, list[Result]] = {}
    for result in outcome.results:
        results.setdefault(int(KEYS[result.run.case.api]), []).append(result)
    found = []
    for key in sorted({*of_release, *outcome.served, *results}):
        runs = Counter(result.status for result in results.get(key, ()))
        shown = _shown(key in outcome.served, cases[key], runs)
        found.append(Api(_name(key), key, of_release.get(key), outcome.served.get(key), cases[key], runs, shown))
    return found


def _shown(served: bool, cases: int, runs: Mapping[Status, int]) -> Shown:
    if not served:
        return Shown.NOT_SERVED
    if not cases:
        return Shown.NO_CASE
    if not any(runs.values()):
        return Shown.NOT_PLAYED
    return (
        Shown.PLAYED
        if any(number for status, number in runs.items() if status is not Status.SKIPPED)
        else Shown.SKIPPED
    )


def _name(key: int) -> str:
    try:
        return ApiKey(key).camel
    except ValueError:
        return f"API {key}"
