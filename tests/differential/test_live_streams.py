"""Random streams groups on Apache Kafka and on the stub, live: `make oracle`. Fixed seeds.

`make differential ARGS="--kind streams" SEEDS=1-100` has any.
"""

from __future__ import annotations

import pytest

from kafkastub.conformance.differential.replay import replay
from kafkastub.conformance.differential.streams_groups import streams_script
from tests.differential.running import ByConfig

pytestmark = pytest.mark.oracle

SEEDS = range(7000, 7012)
ITSELF = range(7000, 7002)
PATIENCE = 30.0
TIMES = 2
"""As often a scenario is played before it is held to differ: a busy machine may let a delay pass where none is to."""


def difference_of(seed: int, kafka: ByConfig, other: ByConfig) -> object:
    """None once it was the same."""
    difference: object = None
    for _ in range(TIMES):
        script = streams_script(seed)
        scenario, _ = script.play(kafka(script.config))
        difference = replay(scenario, other(script.config), PATIENCE)
        if difference is None:
            return None
    return difference


@pytest.mark.parametrize("seed", SEEDS)
def test_the_stub_answers_as_kafka_does(seed: int, kafkas: ByConfig, stubs: ByConfig) -> None:
    difference = difference_of(seed, kafkas, stubs)
    assert difference is None, f"\n{difference}"


@pytest.mark.parametrize("seed", ITSELF)
def test_kafka_answers_twice_the_same(seed: int, kafkas: ByConfig) -> None:
    difference = difference_of(seed, kafkas, kafkas)
    assert difference is None, f"\n{difference}"
