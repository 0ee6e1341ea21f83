"""Random consumer groups of the newer protocol on Apache Kafka and on the stub, live: `make oracle`. Fixed seeds.

`make differential ARGS="--kind consumer" SEEDS=1-100` has any.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from kafkastub_conformance.differential.consumers import consumer_script
from kafkastub_conformance.differential.replay import replay
from tests.differential.running import ByConfig, started_once, stub
from tests.oracle.sample import played

pytestmark = pytest.mark.oracle

SEEDS = range(4000, 4040)
ITSELF = range(4000, 4006)
PATIENCE = 30.0


@pytest.fixture(scope="module")
def stubs_alike(kafkas: ByConfig) -> Iterator[ByConfig]:
    """Stubs whose topics have the ids of Kafka's: assignments depend on them."""
    with started_once(partial(stub, like=kafkas)) as brokers:
        yield brokers


@pytest.mark.parametrize("seed", played(SEEDS))
def test_the_stub_answers_as_kafka_does(seed: int, kafkas: ByConfig, stubs_alike: ByConfig) -> None:
    script = consumer_script(seed)
    scenario, _ = script.play(kafkas(script.config))
    difference = replay(scenario, stubs_alike(script.config), PATIENCE)
    assert difference is None, f"\n{difference}"


@pytest.mark.parametrize("seed", ITSELF)
def test_kafka_answers_twice_the_same(seed: int, kafkas: ByConfig) -> None:
    script = consumer_script(seed)
    scenario, _ = script.play(kafkas(script.config))
    difference = replay(scenario, kafkas(script.config), PATIENCE)
    assert difference is None, f"\n{difference}"
