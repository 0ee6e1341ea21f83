"""The same scenarios on Apache Kafka and on the stub, live: `make oracle`. Fixed seeds; `make differential` has any."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.differential.fuzz import broken_bytes, odd_values
from tests.differential.generator import random_script
from tests.differential.handmade import SCRIPTS
from tests.differential.replay import replay
from tests.differential.running import ByConfig, apache_kafka, started_once, stub
from tests.differential.scripts import Script

pytestmark = pytest.mark.oracle

SEEDS = {random_script: range(1001, 1061), odd_values: range(1001, 1021), broken_bytes: range(1001, 1021)}
RANDOM = {script.name: script for kind, seeds in SEEDS.items() for script in map(kind, seeds)}
ITSELF = ("random-1001", "random-1002", "random-1003", "odd-1001", "broken-1001")


@pytest.fixture(scope="module")
def kafkas() -> Iterator[ByConfig]:
    with started_once(apache_kafka) as brokers:
        yield brokers


@pytest.fixture(scope="module")
def stubs() -> Iterator[ByConfig]:
    with started_once(stub) as brokers:
        yield brokers


def _same(script: Script, kafkas: ByConfig, others: ByConfig) -> None:
    scenario, _ = script.play(kafkas(script.config))
    difference = replay(scenario, others(script.config))
    assert difference is None, f"\n{difference}"


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_stub_answers_a_handmade_scenario_as_kafka_does(name: str, kafkas: ByConfig, stubs: ByConfig) -> None:
    _same(SCRIPTS[name], kafkas, stubs)


@pytest.mark.parametrize("name", RANDOM)
def test_the_stub_answers_a_random_scenario_as_kafka_does(name: str, kafkas: ByConfig, stubs: ByConfig) -> None:
    _same(RANDOM[name], kafkas, stubs)


@pytest.mark.parametrize("name", ITSELF)
def test_kafka_answers_a_scenario_twice_the_same(name: str, kafkas: ByConfig) -> None:
    """The witness of the method: nothing that differs from run to run is left in a transcript."""
    _same(RANDOM[name], kafkas, kafkas)


def test_kafka_answers_the_handmade_scenarios_twice_the_same(kafkas: ByConfig) -> None:
    for script in SCRIPTS.values():
        _same(script, kafkas, kafkas)
