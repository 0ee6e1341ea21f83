"""The same scenarios on Apache Kafka and on the stub, live: `make oracle`. Fixed seeds; `make differential` has any."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kafkastub_conformance.differential.groups import groups_script
from kafkastub_conformance.differential.replay import replay
from kafkastub_conformance.differential.scenario import Scenario
from kafkastub_conformance.differential.script import Script
from tests.differential.fuzz import broken_bytes, odd_values
from tests.differential.handmade import SCRIPTS
from tests.differential.running import ByConfig
from tests.oracle.sample import played as played_seeds

pytestmark = pytest.mark.oracle

Played = Callable[[Script], Scenario]
"""From a script to what Apache Kafka answered."""

SEEDS = {groups_script: range(1001, 1061), odd_values: range(1001, 1021), broken_bytes: range(1001, 1021)}
RANDOM = {script.name: script for kind, seeds in SEEDS.items() for script in map(kind, seeds)}
PLAYED = [kind(seed).name for kind, seeds in SEEDS.items() for seed in played_seeds(seeds)]
ITSELF = ("groups-1001", "groups-1002", "groups-1003", "odd-1001", "broken-1001")


@pytest.fixture(scope="module")
def played(kafkas: ByConfig) -> Played:
    """Every scenario is played on Apache Kafka once: what takes time here is waiting for its answers."""
    known: dict[str, Scenario] = {}

    def play(script: Script) -> Scenario:
        if script.name not in known:
            known[script.name], _ = script.play(kafkas(script.config))
        return known[script.name]

    return play


def _same(script: Script, played: Played, others: ByConfig) -> None:
    difference = replay(played(script), others(script.config))
    assert difference is None, f"\n{difference}"


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_stub_answers_a_handmade_scenario_as_kafka_does(name: str, played: Played, stubs: ByConfig) -> None:
    _same(SCRIPTS[name], played, stubs)


@pytest.mark.parametrize("name", PLAYED)
def test_the_stub_answers_a_random_scenario_as_kafka_does(name: str, played: Played, stubs: ByConfig) -> None:
    _same(RANDOM[name], played, stubs)


@pytest.mark.parametrize("name", ITSELF)
def test_kafka_answers_a_scenario_twice_the_same(name: str, played: Played, kafkas: ByConfig) -> None:
    """The witness of the method: nothing that differs from run to run is left in a transcript."""
    _same(RANDOM[name], played, kafkas)


def test_kafka_answers_the_handmade_scenarios_twice_the_same(played: Played, kafkas: ByConfig) -> None:
    for script in SCRIPTS.values():
        _same(script, played, kafkas)
