"""Random scenarios of ACLs, quotas, SCRAM users and elections on Apache Kafka and on the stub, live: `make oracle`.

`make differential ARGS="--kind access" SEEDS=1-100` has any.
"""

from __future__ import annotations

import pytest

from kafkastub_conformance.differential.replay import replay
from tests.differential.access import access_script
from tests.differential.running import ByConfig
from tests.oracle.sample import played

pytestmark = pytest.mark.oracle

SEEDS = range(3001, 3041)
PATIENCE = 30.0


@pytest.mark.parametrize("seed", played(SEEDS))
def test_the_stub_answers_as_kafka_does(seed: int, kafkas: ByConfig, stubs: ByConfig) -> None:
    script, difference = access_script(seed), None
    for _ in range(2):  # a busy Kafka now and then does not show a user that it has just taken; it does anew
        scenario, _ = script.play(kafkas(script.config))
        difference = replay(scenario, stubs(script.config), PATIENCE)
        if difference is None:
            return
    pytest.fail(f"\n{difference}")
