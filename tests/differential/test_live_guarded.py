"""Random share groups and transactions whose permissions come and go, on Apache Kafka and on the stub: `make oracle`.

`make differential ARGS="--kind guarded-share" SEEDS=1-100` has any, `guarded-transactions` too.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from kafkastub.conformance.differential.replay import replay
from kafkastub.conformance.differential.script import Script
from tests.differential.guarded import guarded_share_script, guarded_transactions_script
from tests.differential.running import ByConfig, started_once, stub

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


@pytest.mark.parametrize("seed", range(9000, 9030))
def test_share_groups(seed: int, kafkas: ByConfig, stubs_alike: ByConfig) -> None:
    difference = difference_of(guarded_share_script(seed), kafkas, stubs_alike)
    assert difference is None, f"\n{difference}"


@pytest.mark.parametrize("seed", range(9000, 9030))
def test_transactions(seed: int, kafkas: ByConfig, stubs_alike: ByConfig) -> None:
    difference = difference_of(guarded_transactions_script(seed), kafkas, stubs_alike)
    assert difference is None, f"\n{difference}"
