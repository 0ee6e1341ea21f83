"""Random scenarios of the data plane on Apache Kafka and on the stub, live: `make oracle`. Fixed seeds.

`make differential ARGS="--kind data" SEEDS=1-100` has any. What must differ is listed in
kafkastub_conformance.differential.names.
"""

from __future__ import annotations

import pytest

from kafkastub_conformance.differential.data import data_script
from kafkastub_conformance.differential.replay import replay
from tests.differential.running import ByConfig
from tests.oracle.sample import played

pytestmark = pytest.mark.oracle

SEEDS = range(2001, 2041)
ITSELF = range(2001, 2004)
PATIENCE = 30.0


@pytest.mark.parametrize("seed", played(SEEDS))
def test_the_stub_answers_as_kafka_does(seed: int, kafkas: ByConfig, stubs: ByConfig) -> None:
    script = data_script(seed)
    scenario, _ = script.play(kafkas(script.config))
    difference = replay(scenario, stubs(script.config), PATIENCE)
    assert difference is None, f"\n{difference}"


@pytest.mark.parametrize("seed", ITSELF)
def test_kafka_answers_twice_the_same(seed: int, kafkas: ByConfig) -> None:
    """The witness of the method: nothing that differs from run to run is left in a transcript."""
    script = data_script(seed)
    kafka = kafkas(script.config)
    scenario, _ = script.play(kafka)
    difference = replay(scenario, kafka, PATIENCE)
    assert difference is None, f"\n{difference}"
