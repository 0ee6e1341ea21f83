"""Random scenarios of transactions on Apache Kafka and on the stub, live: `make oracle`. Fixed seeds.

`make differential ARGS="--kind transactions" SEEDS=1-100` has any. Among the seeds are all levels of the feature
transaction.version.
"""

from __future__ import annotations

import pytest

from kafkastub_conformance.differential.replay import replay
from kafkastub_conformance.differential.transactions import transactions_script
from tests.differential.running import ByConfig
from tests.oracle.sample import played

pytestmark = pytest.mark.oracle

SEEDS = range(3000, 3042)
ITSELF = range(3000, 3006)
PATIENCE = 30.0


@pytest.mark.parametrize("seed", played(SEEDS))
def test_the_stub_answers_as_kafka_does(seed: int, kafkas: ByConfig, stubs: ByConfig) -> None:
    script = transactions_script(seed)
    scenario, _ = script.play(kafkas(script.config))
    difference = replay(scenario, stubs(script.config), PATIENCE)
    assert difference is None, f"\n{difference}"


@pytest.mark.parametrize("seed", ITSELF)
def test_kafka_answers_twice_the_same(seed: int, kafkas: ByConfig) -> None:
    script = transactions_script(seed)
    scenario, _ = script.play(kafkas(script.config))
    difference = replay(scenario, kafkas(script.config), PATIENCE)
    assert difference is None, f"\n{difference}"
