"""Random scenarios of ACLs, quotas, SCRAM users and elections on Apache Kafka and on the stub, live: `make oracle`.

`make differential ARGS="--kind access" SEEDS=1-100` has any.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafkastub.conformance.differential.broker import Broker
from kafkastub.conformance.differential.replay import replay
from tests.differential.access import access_script
from tests.differential.running import apache_kafka, stub

pytestmark = pytest.mark.oracle

SEEDS = range(3001, 3041)
PATIENCE = 30.0


@pytest.fixture(scope="module")
def kafka() -> Iterator[Broker]:
    with apache_kafka("access") as broker:
        yield broker


@pytest.fixture(scope="module")
def stubbed() -> Iterator[Broker]:
    with stub("access") as broker:
        yield broker


@pytest.mark.parametrize("seed", SEEDS)
def test_the_stub_answers_as_kafka_does(seed: int, kafka: Broker, stubbed: Broker) -> None:
    difference = None
    for _ in range(2):  # a busy Kafka now and then does not show a user that it has just taken; it does anew
        scenario, _ = access_script(seed).play(kafka)
        difference = replay(scenario, stubbed, PATIENCE)
        if difference is None:
            return
    pytest.fail(f"\n{difference}")
