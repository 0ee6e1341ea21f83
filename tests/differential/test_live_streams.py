"""Random streams groups on Apache Kafka and on the stub, live: `make oracle`. Fixed seeds, on an older release too.

`make differential ARGS="--kind streams" SEEDS=1-100` has any.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from kafkastub_conformance.differential.replay import replay
from kafkastub_conformance.differential.streams_groups import streams_script
from tests.differential.running import ByConfig, apache_kafka, started_once, stub
from tests.oracle.sample import played

pytestmark = pytest.mark.oracle

SEEDS = range(7000, 7012)
ITSELF = range(7000, 7002)
OLDER = "4.3.1"
OLDER_SEEDS = range(7020, 7024)
PAUSING, OLDER_ORDINARY = 7001, 7021
"""Of what they are about, every fifth has none."""
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


@pytest.mark.parametrize("seed", played(SEEDS, always=[PAUSING]))
def test_the_stub_answers_as_kafka_does(seed: int, kafkas: ByConfig, stubs: ByConfig) -> None:
    difference = difference_of(seed, kafkas, stubs)
    assert difference is None, f"\n{difference}"


@pytest.mark.parametrize("seed", ITSELF)
def test_kafka_answers_twice_the_same(seed: int, kafkas: ByConfig) -> None:
    difference = difference_of(seed, kafkas, kafkas)
    assert difference is None, f"\n{difference}"


@pytest.fixture(scope="module")
def older() -> Iterator[tuple[ByConfig, ByConfig]]:
    with (
        started_once(partial(apache_kafka, release=OLDER)) as kafkas,
        started_once(partial(stub, release=OLDER)) as stubs,
    ):
        yield kafkas, stubs


@pytest.mark.parametrize("seed", played(OLDER_SEEDS, always=[OLDER_ORDINARY]))
def test_the_stub_as_4_3_answers_as_4_3_1_does(seed: int, older: tuple[ByConfig, ByConfig]) -> None:
    difference = difference_of(seed, *older)
    assert difference is None, f"\n{difference}"
