"""The differential test can fail: whatever is changed in a recording is found, with its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kafkastub_conformance.differential.broker import Broker
from kafkastub_conformance.differential.replay import replay
from kafkastub_conformance.differential.scenario import Scenario
from tests.differential.running import stub

RECORDED = Path(__file__).parents[1] / "golden" / "transcripts" / "join-v9.json"
PARKED = 8
"""The step of it whose request is held back."""

SOON = 1.0
"""Seconds for what never comes."""
PATIENCE = 30.0
"""For what comes, or is a difference at once."""


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with stub("plain") as running:
        yield running


def _answer_changed(scenario: Scenario) -> None:
    scenario.steps[1].answers[0][1]["generation_id"] = 7


def _answer_missing(scenario: Scenario) -> None:
    # Not that of step 1: a first join completes by a timer, behind what a look at the groups proves.
    scenario.steps[0].answers.clear()


def _answer_too_many(scenario: Scenario) -> None:
    assert scenario.steps[PARKED].answers == []
    scenario.steps[PARKED].answers.append((scenario.steps[PARKED].on, {"error_code": 27}))


def _state_changed(scenario: Scenario) -> None:
    scenario.steps[1].state["<p>g1"]["group_state"] = "Stable"


@pytest.mark.parametrize(
    ("change", "step", "path", "seconds"),
    [
        (_answer_changed, 1, "answer on c1.generation_id", PATIENCE),
        (_answer_missing, 0, "answer on c1", PATIENCE),
        (_answer_too_many, PARKED, "answer on c2.error_code", SOON),
        (_state_changed, 1, "state.<p>g1.group_state", SOON),
    ],
)
def test_a_changed_recording_is_told_from_the_broker(
    change: Callable[[Scenario], None], step: int, path: str, seconds: float, broker: Broker
) -> None:
    scenario = Scenario.load(RECORDED)
    change(scenario)
    difference = replay(scenario, broker, seconds)
    assert difference is not None
    assert (difference.index, difference.fields[0].path) == (step, path)
    assert path in str(difference)


def test_an_unchanged_recording_is_the_same(broker: Broker) -> None:
    assert replay(Scenario.load(RECORDED), broker) is None


def test_a_scenario_survives_being_saved(tmp_path: Path) -> None:
    scenario = Scenario.load(RECORDED)
    scenario.save(tmp_path / "again.json")
    assert Scenario.load(tmp_path / "again.json") == scenario
