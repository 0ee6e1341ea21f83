"""Random scenarios of the data plane on Apache Kafka and on the stub, live: `make oracle`. Fixed seeds.

`make differential ARGS="--kind data" SEEDS=1-100` has any. What must differ is listed in
kafkastub.conformance.differential.names.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafkastub.conformance.differential.broker import Broker
from kafkastub.conformance.differential.data import data_script
from kafkastub.conformance.differential.replay import replay
from tests.differential.running import apache_kafka, stub

pytestmark = pytest.mark.oracle

SEEDS = range(2001, 2041)
ITSELF = range(2001, 2004)
PATIENCE = 30.0


@pytest.fixture(scope="module")
def kafka() -> Iterator[Broker]:
    with apache_kafka("data") as broker:
        yield broker


@pytest.fixture(scope="module")
def stubbed() -> Iterator[Broker]:
    with stub("data") as broker:
        yield broker


@pytest.mark.parametrize("seed", SEEDS)
def test_the_stub_answers_as_kafka_does(seed: int, kafka: Broker, stubbed: Broker) -> None:
    scenario, _ = data_script(seed).play(kafka)
    difference = replay(scenario, stubbed, PATIENCE)
    assert difference is None, f"\n{difference}"


@pytest.mark.parametrize("seed", ITSELF)
def test_kafka_answers_twice_the_same(seed: int, kafka: Broker) -> None:
    """The witness of the method: nothing that differs from run to run is left in a transcript."""
    scenario, _ = data_script(seed).play(kafka)
    difference = replay(scenario, kafka, PATIENCE)
    assert difference is None, f"\n{difference}"
