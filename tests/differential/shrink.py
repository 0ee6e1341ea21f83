"""The shortest scenario that still shows a difference: steps are left out, and both brokers asked again."""

from __future__ import annotations

from tests.differential.brokers import Broker
from tests.differential.compare import Difference
from tests.differential.play import Play
from tests.differential.replay import replay
from tests.differential.scenario import Scenario, Step
from tests.differential.scripts import Script

TRIALS = 80
SECONDS = 2.0


def shrunk(difference: Difference, kafka: Broker, other: Broker) -> Difference:
    """The same difference (step and field) after fewer steps, as far as so many trials find it.

    For scenarios of requests and closed connections only: what waits for a group's state is returned as it is.
    """
    scenario = difference.scenario
    steps, path = scenario.steps[: difference.index + 1], difference.fields[0].path
    if any(step.poll or step.until for step in steps):
        return difference
    trials, size = TRIALS, max(1, len(steps) // 2)
    while trials:
        first = 0
        while first < len(steps) - 1 and trials:
            fewer = steps[:first] + steps[min(first + size, len(steps) - 1) :]
            trials -= 1
            found = _different(scenario, fewer, kafka, other)
            if found is not None and found.index == len(fewer) - 1 and found.fields[0].path == path:
                steps, difference = fewer, found
            else:
                first += size
        if size == 1:
            break
        size //= 2
    return difference


def _different(scenario: Scenario, steps: list[Step], kafka: Broker, other: Broker) -> Difference | None:
    script = Script(scenario.name, lambda play: _ask(play, steps), tuple(scenario.groups), scenario.config)
    try:
        asked, _ = script.play(kafka)
    except ValueError:  # a step names what a step that is left out would have brought
        return None
    return replay(asked, other, SECONDS)


def _ask(play: Play, steps: list[Step]) -> None:
    for step in steps:
        if step.close:
            play.close(step.close)
        else:
            play.ask(step.on, step.api, step.version, step.body, raw=step.raw, after=step.after, settle=step.settle)
