"""The stub answers the recorded scenarios as Apache Kafka 4.4.0 did when they were recorded (record.py).

As an older release it answers as that one did.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from kafkastub_conformance.differential.replay import replay
from kafkastub_conformance.differential.scenario import Scenario
from tests.differential.handmade import SCRIPTS
from tests.differential.running import ByConfig, started_once, stub

TRANSCRIPTS = {path.stem: path for path in (Path(__file__).parent / "transcripts").glob("*.json")}


OLDER = "4.3.1"
OLDER_TRANSCRIPTS = {path.stem: path for path in (Path(__file__).parent / f"transcripts-{OLDER}").glob("*.json")}
PATIENCE = 30.0


@pytest.fixture(scope="module")
def stubs() -> Iterator[ByConfig]:
    with started_once(stub) as brokers:
        yield brokers


@pytest.mark.parametrize("name", sorted(TRANSCRIPTS))
def test_the_stub_answers_as_kafka_did(name: str, stubs: ByConfig) -> None:
    scenario = Scenario.load(TRANSCRIPTS[name])
    difference = replay(scenario, stubs(scenario.config))
    assert difference is None, f"\n{difference}"


@pytest.fixture(scope="module")
def older_stubs() -> Iterator[ByConfig]:
    with started_once(partial(stub, release=OLDER)) as brokers:
        yield brokers


@pytest.mark.parametrize("name", sorted(OLDER_TRANSCRIPTS))
def test_the_stub_as_an_older_release_answers_as_that_one_did(name: str, older_stubs: ByConfig) -> None:
    scenario = Scenario.load(OLDER_TRANSCRIPTS[name])
    difference = replay(scenario, older_stubs(scenario.config), PATIENCE)
    assert difference is None, f"\n{difference}"


def test_the_older_release_refuses_what_came_later() -> None:
    texts = "".join(path.read_text() for path in OLDER_TRANSCRIPTS.values())
    for refused in ("Static membership is not yet", "TaskOffsets are not", "WarmupTasks are not"):
        assert f"{refused} supported" in texts


def test_every_handmade_scenario_is_recorded() -> None:
    assert set(SCRIPTS) <= set(TRANSCRIPTS), "record them: make golden"
