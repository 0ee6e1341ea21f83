"""Random share groups on Apache Kafka and on the stub, live: `make oracle`. Fixed seeds.

`make differential ARGS="--kind share" SEEDS=1-100` has any.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from kafkastub_conformance.differential.replay import replay
from kafkastub_conformance.differential.share_groups import share_script
from tests.differential.running import ByConfig, started_once, stub
from tests.oracle.sample import played

pytestmark = pytest.mark.oracle

SEEDS = range(6000, 6030)
ITSELF = range(6000, 6004)
PATIENCE = 30.0


@pytest.fixture(scope="module")
def stubs_alike(kafkas: ByConfig) -> Iterator[ByConfig]:
    """Stubs whose topics have the ids of Kafka's: assignments depend on them."""
    with started_once(partial(stub, like=kafkas)) as brokers:
        yield brokers


TIMES = 3
"""As often a scenario is played before it is held to differ.

What a share fetch finds locked depends on Kafka's threads: of some hundred scenarios one differs from itself.
"""


def difference_of(seed: int, kafka: ByConfig, other: ByConfig) -> object:
    """None once it was the same."""
    difference: object = None
    for _ in range(TIMES):
        script = share_script(seed)
        scenario, _ = script.play(kafka(script.config))
        difference = replay(scenario, other(script.config), PATIENCE)
        if difference is None:
            return None
    return difference


@pytest.mark.parametrize("seed", played(SEEDS))
def test_the_stub_answers_as_kafka_does(seed: int, kafkas: ByConfig, stubs_alike: ByConfig) -> None:
    difference = difference_of(seed, kafkas, stubs_alike)
    assert difference is None, f"\n{difference}"


@pytest.mark.parametrize("seed", ITSELF)
def test_kafka_answers_twice_the_same(seed: int, kafkas: ByConfig) -> None:
    difference = difference_of(seed, kafkas, kafkas)
    assert difference is None, f"\n{difference}"
