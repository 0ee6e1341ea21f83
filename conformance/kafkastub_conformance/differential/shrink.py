"""The shortest scenario that still shows a difference: steps and parts of requests are left out, and both brokers
asked again."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from kafkastub_conformance.differential.bodies import Json
from kafkastub_conformance.differential.broker import Broker
from kafkastub_conformance.differential.compare import Difference
from kafkastub_conformance.differential.play import NotThere
from kafkastub_conformance.differential.replay import play_again, replay
from kafkastub_conformance.differential.scenario import Step

TRIALS = 250
SECONDS = 60.0
AWAITED_SECONDS = 1.0
"""So long an answer is waited for that did not come before."""

KEPT = {
    "group_id", "name", "topic", "topic_id", "key", "resource_type", "resource_name", "validate_only",
    "allow_auto_topic_creation",
}  # fmt: skip
"""Fields without which a request would be about something else."""

GIVEN = re.compile(r"<([^<>#]*)(#| )(\d+)>")
"""The names of what a broker gave out, counted: `<c1#2>`, `<session 1>`."""


def shrunk(difference: Difference, reference: Broker, tested: Broker, seconds: float = SECONDS) -> Difference:
    """The same difference (API and field) after fewer steps with less in them, as far as it is found in the time.

    Raises Lost where a broker does not survive the search.
    """
    search = _Search(difference, reference, tested, time.monotonic() + seconds)
    search.leave_steps_out()
    search.leave_parts_out()
    search.leave_groups_out()
    return search.best


@dataclass
class _Search:
    """What is known of the search: the best so far, and how much may still be tried."""

    best: Difference
    reference: Broker
    tested: Broker
    until: float
    trials: int = TRIALS

    @property
    def steps(self) -> list[Step]:
        """Those up to the difference."""
        return self.best.scenario.steps[: self.best.index + 1]

    def leave_steps_out(self) -> None:
        """First many at a time, in the end one by one."""
        size = max(1, len(self.steps) - 1)
        while size and len(self.steps) > 1:
            first = 0
            while first < len(self.steps) - 1:
                steps = self.steps
                if not self.better(steps[:first] + steps[min(first + size, len(steps) - 1) :]):
                    first += size
            size //= 2

    def leave_parts_out(self) -> None:
        """Elements of arrays and fields of the requests, from the last request on."""
        for number in reversed(range(len(self.steps))):
            at = 0
            while number < len(self.steps):
                smaller = list(_smaller(self.steps[number].body))
                if at >= len(smaller):
                    break
                steps = self.steps
                if not self.better([*steps[:number], replace(steps[number], body=smaller[at]), *steps[number + 1 :]]):
                    at += 1

    def leave_groups_out(self) -> None:
        """Watch only the groups that matter."""
        scenario = self.best.scenario
        said = json.dumps([[step.body, step.raw, step.until] for step in self.steps]) + self.best.fields[0].path
        self.better(self.steps, [group for group in scenario.groups if group in said])

    def better(self, steps: list[Step], groups: list[str] | None = None) -> bool:
        """Whether these steps show the difference, too; they are the best then."""
        if not self.trials or time.monotonic() > self.until:
            return False
        self.trials -= 1
        scenario = self.best.scenario
        if groups is not None:
            scenario = replace(scenario, groups=groups)
        try:
            asked = play_again(scenario, renumbered(steps), self.reference)
        except (ValueError, NotThere):  # a step names what a step that is left out would have brought
            return False
        found = replay(asked, self.tested, AWAITED_SECONDS)
        if found is None or found.signature != self.best.signature:
            return False
        self.best = found
        return True


def renumbered(steps: list[Step]) -> list[Step]:
    """The steps with the names of what a broker gives out counted anew: what a step left out brought is not there."""
    counted: dict[str, int] = {}
    names: dict[str, str] = {}
    for step in steps:
        for found in GIVEN.finditer(json.dumps([step.answers, step.state], ensure_ascii=False)):
            base, kind, _ = found.groups()
            if found[0] not in names and base != "instance":
                counted[base + kind] = counted.get(base + kind, 0) + 1
                names[found[0]] = f"<{base}{kind}{counted[base + kind]}>"
    return [replace(step, body=_renamed(step.body, lambda found: names.get(found[0], found[0]))) for step in steps]


def _renamed(value: Json, rename: Callable[[re.Match[str]], str]) -> Json:
    if isinstance(value, dict):
        return {key: _renamed(item, rename) for key, item in value.items()}
    if isinstance(value, list):
        return [_renamed(item, rename) for item in value]
    return GIVEN.sub(rename, value) if isinstance(value, str) else value


def _smaller(value: Json) -> Iterator[Json]:
    """The value with one thing less, anywhere in it: an element of an array, or a field."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key in KEPT:
                continue
            if not (isinstance(item, list | dict) and item):
                yield {other: kept for other, kept in value.items() if other != key}
            else:
                for less in _smaller(item):
                    yield value | {key: less}
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield value[:index] + value[index + 1 :]
            for less in _smaller(item) if isinstance(item, dict | list) else ():
                yield [*value[:index], less, *value[index + 1 :]]
