"""Random consumer groups of the newer protocol, between stubs: that they are steady, full of life, and see defects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from kafkastub.coordinator.consumer.heartbeat import Heartbeats
from kafkastub_conformance.differential.broker import Broker
from kafkastub_conformance.differential.consumers import consumer_script
from kafkastub_conformance.differential.replay import replay
from kafkastub_conformance.differential.scenario import Scenario
from tests.differential.running import stub
from tests.differential.visits import PATIENCE, two

SEEDS = range(1, 13)


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with stub("consumer") as running:
        yield running


@pytest.fixture(scope="module")
def scenarios(broker: Broker) -> list[Scenario]:
    return [consumer_script(seed).play(broker)[0] for seed in SEEDS]


def test_the_same_is_answered_by_a_stub_whose_topics_have_the_same_ids(
    broker: Broker, scenarios: list[Scenario]
) -> None:
    with stub("consumer", like=lambda config: broker) as fresh:
        for one in (fresh, broker):
            assert [replay(scenario, one, PATIENCE) for scenario in scenarios] == [None] * len(scenarios)


def test_groups_become_stable_between_much_that_is_refused(scenarios: list[Scenario]) -> None:
    states, codes, asked = Counter[str](), Counter[int](), Counter[str]()
    for step in (step for scenario in scenarios for step in scenario.steps):
        asked[step.api] += 1
        states.update(one.get("group_state", "") for group, one in step.state.items() if "consumer group" in group)
        if step.api == "ConsumerGroupHeartbeat":
            codes.update(answer.get("error_code", 0) for _, answer in step.answers)
    assert min(states[state] for state in ("Empty", "Assigning", "Reconciling", "Stable")) >= 5
    assert sum(codes.values()) * 0.6 < codes[0] < sum(codes.values()) * 0.95
    assert {0, 25, 42, 81, 110, 112} <= set(codes)
    assert {"JoinGroup", "SyncGroup", "LeaveGroup", "TxnOffsetCommit", "CreateTopics", "OffsetDelete"} <= set(asked)


def test_what_brokers_with_other_topic_ids_are_asked_does_not_depend_on_them() -> None:
    with two() as (_, tested, reference):
        for seed in SEEDS:
            assert replay(consumer_script(seed).play(reference)[0], tested, PATIENCE) is None


def test_a_broker_that_forgets_to_raise_the_epoch_is_seen(
    scenarios: list[Scenario], monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = Heartbeats.beat

    def beat(self: Heartbeats, *args: Any) -> Any:
        answer = answered(self, *args)
        answer.member_epoch = min(answer.member_epoch, 2)
        return answer

    monkeypatch.setattr(Heartbeats, "beat", beat)
    with stub("consumer") as other:
        found = [replay(scenario, other, PATIENCE) for scenario in scenarios]
    seen = [one for one in found if one is not None]
    assert seen
    assert "member_epoch" in str(seen[0])
