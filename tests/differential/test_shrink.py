"""A difference is shown by the fewest steps: two stubs, of which one has no room for fetch sessions."""

from __future__ import annotations

from kafkastub import KafkaStub
from kafkastub_conformance.differential.broker import prepared
from kafkastub_conformance.differential.data import data_script
from kafkastub_conformance.differential.replay import replay
from kafkastub_conformance.differential.shrink import shrunk
from tests.differential.brokers import CONFIGS
from tests.differential.running import stub

NO_SESSIONS = {**CONFIGS["data"], "max.incremental.fetch.session.cache.slots": 0}


def test_a_difference_is_shown_by_the_fewest_steps() -> None:
    with stub("data") as one, KafkaStub(profile="kafka", config=NO_SESSIONS) as running:
        other = prepared(running.bootstrap_servers)
        scenario, _ = data_script(1).play(one)
        difference = replay(scenario, other, 30)
        assert difference is not None
        assert difference.index > 0
        shorter = shrunk(difference, one, other)
    assert [step.api for step in shorter.scenario.steps] == ["Fetch"]
    assert shorter.fields[0].path == difference.fields[0].path == "answer on c1.session_id"


def test_two_stubs_do_not_differ() -> None:
    """The generator itself, without Apache Kafka: whatever it asks is answered, and alike."""
    with stub("data") as one, stub("data") as other:
        for seed in range(1, 4):
            scenario, _ = data_script(seed).play(one)
            assert len(scenario.steps) >= 70
            assert replay(scenario, other, 30) is None
