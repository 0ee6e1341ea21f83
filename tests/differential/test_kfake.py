"""kfake, a broker that is known to depart from Kafka: what differs is found, and told in few steps (`make oracle`)."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from bench import contestants

from kafkastub import KafkaStub
from kafkastub_conformance.differential.broker import Broker, in_common, visited
from kafkastub_conformance.differential.running import Status, compare, scripts
from tests.conftest import CONFIG

pytestmark = pytest.mark.oracle

OWN_WORDS = frozenset({"error_message", "client_host"})
SEEDS = (2, 8)
GROUP_ID_NOT_FOUND = 69


@pytest.fixture
def kfake() -> Iterator[Broker]:
    if shutil.which("go") is None:
        pytest.skip("this machine has no Go toolchain")
    with contestants.kfake() as running:
        yield visited(f"{running.host}:{running.port}", "kfake", 2)


def test_what_kfake_is_known_for_is_found_and_made_short(kfake: Broker):
    with KafkaStub(profile="kafka", config=CONFIG) as stub:
        knowing = visited(stub.bootstrap_servers, "the stub", 2)
        knowing.ignore = kfake.ignore = OWN_WORDS
        in_common(kfake, knowing)
        done = compare(scripts(["groups"], SEEDS), kfake, knowing, timeout=2)
        assert kfake.leave() == knowing.leave() == []
    assert done.count(Status.ERROR) == 0
    fetches = [
        result.difference
        for result in done.results
        if result.difference is not None and not result.like and result.difference.step.api == "OffsetFetch"
    ]
    # Where a group does not exist Kafka answers with offset -1 and no error.
    known = [one for one in fetches if GROUP_ID_NOT_FOUND in [field.got for field in one.fields]]
    assert known
    assert min(len(one.scenario.steps) for one in known) == 1
    assert max(result.difference.index for result in done.results if result.difference and not result.like) < 6
