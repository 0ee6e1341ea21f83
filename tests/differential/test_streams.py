"""Random streams groups, between stubs: that they are steady, that tasks are handed over, and that defects are seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from kafkastub.coordinator.streams.reconciliation import Reconciliation
from kafkastub_conformance.differential.broker import Broker
from kafkastub_conformance.differential.replay import replay
from kafkastub_conformance.differential.scenario import Scenario
from kafkastub_conformance.differential.streams_groups import streams_script
from kafkastub_conformance.differential.streams_looks import INTERNAL, normalise_streams
from tests.differential.running import stub
from tests.differential.visits import PATIENCE, two

SEEDS = [seed for seed in range(2, 16) if seed % 8 != 1]
"""Without those that wait for delays and timeouts."""

PAUSING = 17
VISITING = range(2, 6)


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with stub("streams") as running:
        yield running


@pytest.fixture(scope="module")
def scenarios(broker: Broker) -> list[Scenario]:
    return [streams_script(seed).play(broker)[0] for seed in SEEDS]


def test_the_same_is_answered_by_another_stub_and_once_more(broker: Broker, scenarios: list[Scenario]) -> None:
    with stub("streams") as fresh:
        for one in (fresh, broker):
            assert [replay(scenario, one, PATIENCE) for scenario in scenarios] == [None] * len(scenarios)


def test_delays_and_timeouts_that_pass_are_the_same_on_both(broker: Broker) -> None:
    scenario, _ = streams_script(PAUSING).play(broker)
    assert any(step.pause_ms for step in scenario.steps)
    assert replay(scenario, broker, PATIENCE) is None


def test_groups_become_stable_and_topics_are_made_between_much_that_is_refused(scenarios: list[Scenario]) -> None:
    asked, codes, statuses, states = Counter[str](), Counter[int](), Counter[int](), Counter[str]()
    made = set[str]()
    for step in (step for scenario in scenarios for step in scenario.steps):
        asked[step.api] += 1
        for _, answer in step.answers:
            codes[answer.get("error_code", 0)] += 1
            statuses.update(one.get("status_code", 0) for one in answer.get("status") or ())
        states.update(one.get("group_state", "") for name, one in step.state.items() if name.startswith("streams"))
        made |= step.state.get(INTERNAL, {}).keys()
    assert states.keys() >= {"Stable", "Reconciling", "Assigning", "NotReady", "Empty"}
    assert states["Stable"] >= 15
    assert {0, 1, 2, 3} <= statuses.keys()
    assert {-1, 0, 25, 42, 69, 110, 130} <= codes.keys()
    assert len(made) >= 5
    apis = {"StreamsGroupHeartbeat", "StreamsGroupDescribe", "OffsetCommit", "DeleteTopics", "CreatePartitions"}
    assert apis <= asked.keys()


def test_what_guests_ask_is_the_same_on_two_brokers_of_others() -> None:
    with two() as (_, tested, reference):
        for seed in VISITING:
            assert replay(streams_script(seed).play(reference)[0], tested, PATIENCE) is None


def test_a_broker_that_hands_tasks_over_too_early_is_seen(
    scenarios: list[Scenario], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Reconciliation, "_may_have", lambda self, pending: False)
    with stub("streams") as other:
        found = [replay(scenario, other, PATIENCE) for scenario in scenarios]
    assert any("state.streams group" in str(one) for one in found if one is not None)


def test_what_comes_from_hash_maps_of_names_is_put_in_order() -> None:
    details = (
        "Internal topics are missing: <p>b, <p>a",
        "Internal topics are missing: <p>b, <p>a; Creation failed: <p>a (why).",
        "Internal topics are missing: <p>c, <p>a, <p>b and 2 additional topics",
        "Existing topic <p>a has different number of partitions: expected 3, found 2",
        "Existing topic t1 has different number of partitions: expected 3, found 2",
    )
    rows = [{"topic": "b", "partitions": [0]}, {"topic": "a", "partitions": [1]}, {"topic": "a", "partitions": [0]}]
    answer = {
        "status": [{"status_detail": detail} for detail in details],
        "partitions_by_user_endpoint": [{"active_partitions": rows}],
    }
    shown = normalise_streams("StreamsGroupHeartbeat", answer)
    assert [one["status_detail"] for one in shown["status"]] == [
        "Internal topics are missing: <p>a, <p>b",
        "Internal topics are missing: <p>a, <p>b; Creation failed: <p>a (why).",
        "Internal topics are missing: <3 of them> and 2 additional topics",
        "Existing topic <p>… has different number of partitions",
        details[4],
    ]
    in_order = shown["partitions_by_user_endpoint"][0]["active_partitions"]
    assert [(one["topic"], one["partitions"]) for one in in_order] == [("a", [0]), ("a", [1]), ("b", [0])]
