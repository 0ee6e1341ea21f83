"""The stub answers the recorded scenarios as Apache Kafka 4.4.0 did when they were recorded (record.py)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafkastub.conformance.differential.replay import replay
from kafkastub.conformance.differential.scenario import Scenario
from tests.differential.handmade import SCRIPTS
from tests.differential.running import ByConfig, started_once, stub

TRANSCRIPTS = {path.stem: path for path in (Path(__file__).parent / "transcripts").glob("*.json")}


@pytest.fixture(scope="module")
def stubs() -> Iterator[ByConfig]:
    with started_once(stub) as brokers:
        yield brokers


@pytest.mark.parametrize("name", sorted(TRANSCRIPTS))
def test_the_stub_answers_as_kafka_did(name: str, stubs: ByConfig) -> None:
    scenario = Scenario.load(TRANSCRIPTS[name])
    difference = replay(scenario, stubs(scenario.config))
    assert difference is None, f"\n{difference}"


def test_every_handmade_scenario_is_recorded() -> None:
    assert set(SCRIPTS) <= set(TRANSCRIPTS), "record them: make golden"
