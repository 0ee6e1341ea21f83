"""Random share groups, between stubs: that they are steady, that records are delivered, and that defects are seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from kafkastub.share_partitions.partition import SharePartition
from kafkastub_conformance.differential.bodies import Json
from kafkastub_conformance.differential.broker import Broker
from kafkastub_conformance.differential.replay import replay
from kafkastub_conformance.differential.scenario import Scenario
from kafkastub_conformance.differential.share_acknowledging import RELEASE
from kafkastub_conformance.differential.share_fetches import ENOUGH
from kafkastub_conformance.differential.share_groups import share_script
from kafkastub_conformance.differential.share_looks import looks_of_share_groups
from tests.differential.running import stub
from tests.differential.visits import PATIENCE, two

SEEDS = [seed for seed in range(2, 16) if seed % 8 != 1]
"""Without those that wait for locks to run out."""

PAUSING = 1
VISITING = range(2, 6)


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with stub("share") as running:
        yield running


@pytest.fixture(scope="module")
def scenarios(broker: Broker) -> list[Scenario]:
    return [share_script(seed).play(broker)[0] for seed in SEEDS]


def test_the_same_is_answered_by_a_stub_whose_topics_have_the_same_ids(
    broker: Broker, scenarios: list[Scenario]
) -> None:
    with stub("share", like=lambda config: broker) as fresh:
        for one in (fresh, broker):
            assert [replay(scenario, one, PATIENCE) for scenario in scenarios] == [None] * len(scenarios)


def test_locks_that_run_out_are_the_same_on_both(broker: Broker) -> None:
    scenario, _ = share_script(PAUSING).play(broker)
    assert any(step.pause_ms for step in scenario.steps)
    assert replay(scenario, broker, PATIENCE) is None


def test_records_are_delivered_between_much_that_is_refused(scenarios: list[Scenario]) -> None:
    asked, codes, counts = Counter[str](), Counter[int](), Counter[int]()
    for step in (step for scenario in scenarios for step in scenario.steps):
        asked[step.api] += 1
        for _, answer in step.answers:
            codes[answer.get("error_code", 0)] += 1
            rows = [row for topic in answer.get("responses", ()) for row in topic.get("partitions", ())]
            codes.update(row.get("error_code", 0) for row in rows)
            counts.update(one["delivery_count"] for row in rows for one in row.get("acquired_records", ()))
    assert counts[1] >= 20
    assert counts[2] >= 5
    assert {0, 42, 121, 123, 68, 69} <= set(codes)
    assert {"ShareFetch", "ShareAcknowledge", "ShareGroupHeartbeat", "AlterShareGroupOffsets"} <= set(asked)


def test_no_answer_depends_on_which_partition_of_a_session_comes_first(scenarios: list[Scenario]) -> None:
    several = 0
    for step in (step for scenario in scenarios for step in scenario.steps if step.api == "ShareFetch"):
        for _, answer in step.answers:
            rows = [row for topic in answer.get("responses", ()) for row in topic.get("partitions", ())]
            if len([row for row in rows if row.get("acquired_records")]) > 1:
                several += 1
                assert (step.body["max_records"], step.body["max_bytes"]) == (500, ENOUGH)
    assert several


def test_no_fetch_could_deliver_what_it_releases_itself(scenarios: list[Scenario]) -> None:
    fetches = [step for scenario in scenarios for step in scenario.steps if step.api == "ShareFetch"]
    releasing = [step for step in fetches if f"'acknowledge_types': [{RELEASE}]" in str(step.body)]
    assert releasing
    assert all(step.body["max_records"] <= 0 or step.body["share_session_epoch"] <= 0 for step in releasing)


def test_a_look_during_which_a_state_was_written_is_taken_again(broker: Broker) -> None:
    told = iter((7, 29))

    def watch(api: str, body: Json, *_: Any) -> Json:
        if api == "DescribeShareGroupOffsets":
            partitions = [{"start_offset": next(told)}]
            return {"groups": [{"group_id": "g", "topics": [{"topic_id": "t", "partitions": partitions}]}]}
        return {"results": [{"topic_id": "t", "partitions": [{"start_offset": 29, "leader_epoch": -1}]}]}

    (topic,) = looks_of_share_groups(watch, ["g"], broker)["share state of g"]["topics"]
    assert topic["partitions"][0]["start_offset"] == 29


def test_what_guests_ask_does_not_depend_on_the_ids_of_topics() -> None:
    with two() as (_, tested, reference):
        for seed in VISITING:
            assert replay(share_script(seed).play(reference)[0], tested, PATIENCE) is None


def test_a_broker_that_does_not_count_deliveries_is_seen(
    scenarios: list[Scenario], monkeypatch: pytest.MonkeyPatch
) -> None:
    acquire = SharePartition.acquire

    def always_first(self: SharePartition, *args: Any, **more: Any) -> Any:
        return [one._replace(delivery_count=1) for one in acquire(self, *args, **more)]

    monkeypatch.setattr(SharePartition, "acquire", always_first)
    with stub("share") as other:
        found = [replay(scenario, other, PATIENCE) for scenario in scenarios]
    assert any("delivery_count" in str(one) for one in found if one is not None)
