"""Random scenarios whose permissions come and go, on Apache Kafka and on the stub: `make oracle`. Fixed seeds.

`make differential ARGS="--kind guarded-share" SEEDS=1-100` has any; so do `guarded-transactions`, `-data`, `-consumer`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from kafkastub_conformance.differential.replay import replay
from kafkastub_conformance.differential.script import Script
from tests.differential.guarded import GUARDED_SCRIPTS
from tests.differential.running import ByConfig, started_once, stub
from tests.oracle.sample import played

pytestmark = pytest.mark.oracle

PATIENCE = 30.0
TIMES = 3
"""As often a scenario is played before it is held to differ: what a share fetch finds locked depends on threads."""


@pytest.fixture(scope="module")
def stubs_alike(kafkas: ByConfig) -> Iterator[ByConfig]:
    """Stubs whose topics have the ids of Kafka's: assignments depend on them."""
    with started_once(partial(stub, like=kafkas)) as brokers:
        yield brokers


def difference_of(script: Script, kafka: ByConfig, other: ByConfig) -> object:
    """None once it was the same."""
    difference: object = None
    for _ in range(TIMES):
        scenario, _ = script.play(kafka(script.config))
        difference = replay(scenario, other(script.config), PATIENCE)
        if difference is None:
            return None
    return difference


@pytest.mark.parametrize("kind", GUARDED_SCRIPTS)
@pytest.mark.parametrize("seed", played(range(9000, 9025)))
def test_the_stub_answers_as_kafka_does(kind: str, seed: int, kafkas: ByConfig, stubs_alike: ByConfig) -> None:
    difference = difference_of(GUARDED_SCRIPTS[kind](seed), kafkas, stubs_alike)
    assert difference is None, f"\n{difference}"
