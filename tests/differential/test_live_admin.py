"""Random scenarios of a cluster's administration on Apache Kafka and on the stub, live: `make oracle`. Fixed seeds.

`make differential ARGS="--kind admin" SEEDS=1-100` has any.
"""

from __future__ import annotations

import pytest

from kafkastub_conformance.differential.admin import admin_script
from kafkastub_conformance.differential.replay import replay
from tests.differential.running import ByConfig
from tests.oracle.sample import played

pytestmark = pytest.mark.oracle

SEEDS = range(4001, 4041)
ITSELF = range(4001, 4004)
PATIENCE = 30.0


@pytest.mark.parametrize("seed", played(SEEDS))
def test_the_stub_answers_as_kafka_does(seed: int, kafkas: ByConfig, stubs: ByConfig) -> None:
    script = admin_script(seed)
    scenario, _ = script.play(kafkas(script.config))
    difference = replay(scenario, stubs(script.config), PATIENCE)
    assert difference is None, f"\n{difference}"


@pytest.mark.parametrize("seed", ITSELF)
def test_kafka_answers_twice_the_same(seed: int, kafkas: ByConfig) -> None:
    """The witness of the method: nothing that differs from run to run is left in a transcript."""
    script = admin_script(seed)
    kafka = kafkas(script.config)
    scenario, _ = script.play(kafka)
    difference = replay(scenario, kafka, PATIENCE)
    assert difference is None, f"\n{difference}"
