"""Playing a recorded scenario on a broker, up to the first step after which it differs from the recording."""

from __future__ import annotations

import time

from tests.differential.bodies import Json
from tests.differential.brokers import Broker
from tests.differential.compare import Difference, Field, fields
from tests.differential.play import ANSWER_SECONDS, Stage
from tests.differential.scenario import Answers, Scenario, Step


def replay(scenario: Scenario, broker: Broker, timeout: float = ANSWER_SECONDS) -> Difference | None:
    """The first difference, or None. An answer that is due is awaited for `timeout` seconds."""
    with Stage(broker, scenario.groups) as stage:
        state: dict[str, Json] = {}
        for index, step in enumerate(scenario.steps):
            sent = len(stage.frames)
            state.update(step.state)
            if step.until:
                looked = _look_for(stage, state, timeout)
                found = _answers(stage, step, timeout)
            else:
                found = _answers(stage, step, timeout)
                looked = _look_for(stage, state, timeout)
            found += stage.answers_now()
            different = _differing_answers(step.answers, found) + list(fields(state, looked, "state"))
            if different:
                return Difference(scenario, index, different, _shown_frames(stage, sent))
    return None


def _answers(stage: Stage, step: Step, timeout: float) -> Answers:
    """Do the step, and return the answers that are due because of it."""
    deadline = time.monotonic() + timeout
    while True:
        stage.send(step)
        found = [(on, stage.next_answer(on, timeout)) for on, _ in step.answers]
        if step.settle:
            stage.settle()
        if not step.poll or found == step.answers or time.monotonic() > deadline:
            return found


def _look_for(stage: Stage, state: dict[str, Json], timeout: float) -> dict[str, Json]:
    """What the groups are like once they are like `state`; after `timeout` seconds, what they are like then."""
    looked = stage.look(2 if stage.any_waits() else 1)
    deadline = time.monotonic() + timeout
    while looked != state and time.monotonic() < deadline:
        looked = stage.look()
    return looked


def _differing_answers(expected: Answers, found: Answers) -> list[Field]:
    different: list[Field] = []
    for (on, kafka), (_, other) in zip(expected, found, strict=False):
        different += fields(kafka, other, f"answer on {on}")
    for on, other in found[len(expected) :]:
        different.append(Field(f"answer on {on}", "nothing yet", other))
    return different


def _shown_frames(stage: Stage, sent: int) -> list[str]:
    lines = []
    for frame in stage.frames[sent:]:
        answer = frame.response.hex() if frame.response is not None else "no answer"
        lines.append(f"{frame.api} v{frame.version} {frame.request.hex()} -> {answer}")
    return lines
