"""Playing a recorded scenario on a broker, up to the first step after which it differs from the recording."""

from __future__ import annotations

import time
from dataclasses import replace
from threading import Event

from kafkastub_conformance.differential.bodies import Json
from kafkastub_conformance.differential.broker import ANSWER_SECONDS, Broker
from kafkastub_conformance.differential.compare import Difference, Field, fields
from kafkastub_conformance.differential.manners import impolite
from kafkastub_conformance.differential.play import NotThere, Play
from kafkastub_conformance.differential.scenario import Answers, Scenario, Step
from kafkastub_conformance.differential.stage import Stage

LOOKED_EVERY = 0.002


def replay(scenario: Scenario, broker: Broker, timeout: float = ANSWER_SECONDS) -> Difference | None:
    """The first difference, or None. An answer that is due is awaited for `timeout` seconds.

    Raises Lost, and NotThere for what is not for guests to ask.
    """
    for number, step in enumerate(scenario.steps, 1):
        problem = "" if broker.alone else impolite(step.api, step.body) or "raw bytes" * (step.raw is not None)
        if problem:
            raise NotThere(f"step {number}, {step.title()}: {problem}")
    if not broker.ignore.issuperset(scenario.ignore):
        broker = replace(broker, ignore=broker.ignore.union(scenario.ignore))
    with Stage(broker, scenario) as stage:
        state: dict[str, Json] = {}
        for index, step in enumerate(scenario.steps):
            stage.touched = []
            state.update(step.state)
            if step.until or step.pause_ms:
                Event().wait(step.pause_ms / 1000)
                looked = _look_for(stage, state, timeout)
                found = _answers(stage, step, timeout)
            else:
                found = _answers(stage, step, timeout)
                # What is answered otherwise is a difference already: nothing to be waited for.
                looked = _look_for(stage, state, timeout if found == step.answers else 0)
            found += stage.answers_now()
            different = _differing_answers(step.answers, found) + list(fields(state, looked, "state"))
            if different:
                return Difference(scenario, index, different, stage.touched)
    return None


def play_again(scenario: Scenario, steps: list[Step], broker: Broker) -> Scenario:
    """Ask `steps` anew, of `broker`: the scenario that comes of it. Raises Lost.

    Raises ValueError where a step says a number that a step before it would have had to bring.
    """
    made = replace(scenario, steps=[], ignore=sorted(broker.ignore))
    with Stage(broker, made) as stage:
        play = Play(stage, made)
        for step in steps:
            _once_more(play, step)
    return made


def _once_more(play: Play, step: Step) -> None:
    if step.close:
        play.close(step.close)
    elif step.until:
        for group, state in step.until.items():
            play.until(group, state)
    elif step.pause_ms:
        play.pause(step.pause_ms)
    elif step.poll:
        wanted = step.answers[0][1] if step.answers else None
        play.poll(step.on, step.api, step.version, step.body, lambda answer: wanted in (None, answer))
    else:
        play.ask(step.on, step.api, step.version, step.body, raw=step.raw, after=step.after, settle=step.settle)


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
        Event().wait(LOOKED_EVERY)
        looked = stage.look()
    return looked


def _differing_answers(expected: Answers, found: Answers) -> list[Field]:
    different: list[Field] = []
    for (on, answer), (_, other) in zip(expected, found, strict=False):
        different += fields(answer, other, f"answer on {on}")
    for on, other in found[len(expected) :]:
        different.append(Field(f"answer on {on}", "nothing yet", other))
    return different
