"""Comparing two brokers of which one hangs, dies or has less than the other; and what a guest does not ask."""

from __future__ import annotations

from typing import Any

import pytest

from kafkastub_conformance.differential.broker import ASKED
from kafkastub_conformance.differential.groups import groups_script
from kafkastub_conformance.differential.manners import impolite
from kafkastub_conformance.differential.running import Result, Status, compare, scripts
from kafkastub_conformance.differential.scenario import Step
from kafkastub_conformance.differential.shrink import renumbered
from tests.differential.visits import PATIENCE, SOON, everything, two


def test_a_broker_that_hangs_fails_that_scenario_and_the_run_goes_on():
    with two(patience=SOON) as (stub, tested, reference):

        def hang(result: Result, done: int, _: int) -> None:
            if done == 1:
                stub.faults.add(api="DescribeGroups", silent=True, times=1)

        done = compare(scripts(["groups"], range(1, 4), 5), tested, reference, timeout=SOON, progress=hang)
        assert [result.status for result in done.results] == [Status.SAME, Status.ERROR, Status.SAME]
        assert f"gave no answer within {SOON:g} s to DescribeGroups" in done.results[1].reason
        assert done.results[1].reason.startswith("tested (127.0.0.1:")


@pytest.mark.parametrize("more", [{}, {"api": "ApiVersions", "client_id": "conform-alive"}])
def test_what_a_scenario_made_that_was_not_played_to_its_end_is_removed(more: dict[str, str]):
    """The second time the broker is taken for gone, and visited anew when it is back."""
    with two(patience=SOON) as (stub, tested, reference):

        def hang(result: Result, done: int, _: int) -> None:
            if done == 1:
                stub.faults.add(api="DescribeGroups", silent=True, times=1, after=8)
                if more:
                    stub.faults.add(**more, silent=True, times=1)

        done = compare(scripts(["groups"], range(1, 4), 12), tested, reference, timeout=SOON, progress=hang)
        assert [result.status for result in done.results] == [Status.SAME, Status.ERROR, Status.SAME]
        assert ("was gone after it" in done.results[1].reason) == bool(more)
        assert tested.leave() == reference.leave() == []
        assert everything(stub) == (set(), 0)


def test_what_cannot_be_removed_is_tried_again_and_told_in_the_end():
    with two() as (stub, tested, reference):
        with stub.faults.add(api="DeleteGroups", error="NON_EMPTY_GROUP"):
            compare(scripts(["groups"], [1], 12), tested, reference, timeout=PATIENCE)
            assert [name for name in tested.leave() if name.endswith("-g1")]
        compare(scripts(["groups"], [1], 12), tested, reference, timeout=PATIENCE)
        with stub.faults.add(api="DeleteGroups", error="NON_EMPTY_GROUP", times=1):
            compare(scripts(["groups"], [1], 12), tested, reference, timeout=PATIENCE)
            assert everything(stub)[1]
        assert tested.leave() == []
        assert everything(stub)[0] == set()


def test_what_others_have_is_asked_for_after_an_interruption_only():
    def interrupt(result: Result, done: int, _: int) -> None:
        raise KeyboardInterrupt

    with two() as (stub, tested, reference):
        for progress, times in ((None, 0), (interrupt, 1)):
            compare(scripts(["groups"], [3], 5), tested, reference, timeout=PATIENCE, progress=progress)
            assert tested.leave() == []
            asked = stub.journal.requests(api="Metadata", client_id="conform-admin")
            assert [entry.request.topics for entry in asked].count(None) == times


def test_a_broker_that_is_gone_makes_errors_of_the_rest(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("kafkastub_conformance.differential.broker.REVIVAL_SECONDS", 0.1)
    with two() as (stub, tested, reference):

        def end(result: Result, done: int, _: int) -> None:
            if done == 1:
                stub.close()

        done = compare(scripts(["groups"], range(1, 5), 5), tested, reference, timeout=PATIENCE, progress=end)
    assert [result.status for result in done.results] == [Status.SAME, *[Status.ERROR] * 3]
    assert "does not accept a connection" in done.results[1].reason
    assert done.results[3].reason.endswith("is gone")


def test_only_what_both_have_is_asked():
    with two({"group.coordinator.rebalance.protocols": "classic"}, as_version="2.4") as (stub, tested, reference):
        assert max(tested.versions("JoinGroup")) == max(reference.versions("JoinGroup")) < 9
        done = compare([groups_script(2, 12)], tested, reference, timeout=PATIENCE, shrinking=0)
        assert stub.journal.requests(api="JoinGroup")
        assert not any("UNSUPPORTED_VERSION" in one.error_names for one in stub.journal.requests())
        assert [result.status for result in done.results] == [Status.SAME]


def test_every_api_of_a_scenario_is_one_that_would_be_told_of():
    with two(topics={}) as (stub, tested, reference):
        compare(scripts(["groups", "data", "admin"], [1], 25), tested, reference, timeout=PATIENCE)
        asked = {entry.api for entry in stub.journal.requests()}
    assert asked - ASKED <= {"ApiVersions"}


def test_another_node_of_several_is_asked():
    with two(nodes=3) as (_, tested, reference):
        done = compare([groups_script(1, 12)], tested, reference, timeout=PATIENCE)
        assert [result.status for result in done.results] == [Status.SAME]


@pytest.mark.parametrize(
    ("api", "body", "polite"),
    [
        ("OffsetCommit", {"group_id": "<p>g1", "topics": [{"name": "t1"}]}, True),
        ("OffsetCommit", {"group_id": "", "topics": [{"name": "t1"}]}, False),
        ("DeleteGroups", {"groups_names": ["<p>g1", ""]}, False),
        ("OffsetFetch", {"groups": [{"group_id": "<p>g1"}, {"group_id": ""}]}, False),
        ("Metadata", {"topics": [{"name": "orders"}]}, True),
        ("DeleteTopics", {"topic_names": ["orders"]}, False),
        ("DeleteTopics", {"topics": [{"name": None, "topic_id": "<topic p.x>"}]}, True),
        ("CreateTopics", {"topics": [{"name": "<p>x"}, {"name": "bad name"}]}, True),
        ("Produce", {"topic_data": [{"name": "__consumer_offsets"}]}, False),
        ("IncrementalAlterConfigs", {"resources": [{"resource_type": 4, "resource_name": "1"}]}, False),
        ("IncrementalAlterConfigs", {"resources": [{"resource_type": 2, "resource_name": "orders"}]}, False),
        (
            "IncrementalAlterConfigs",
            {"resources": [{"resource_type": 2, "resource_name": "<p>x", "configs": [{"name": "preallocate"}]}]},
            True,
        ),
        ("UpdateFeatures", {"feature_updates": [{"feature": "share.version"}], "validate_only": True}, True),
        ("UpdateFeatures", {"feature_updates": [{"feature": "share.version"}]}, False),
        ("UnregisterBroker", {"broker_id": -1}, True),
        ("UnregisterBroker", {"broker_id": "<stranger>"}, False),
        ("UnregisterController", {"controller_id": 7}, False),
        ("AlterReplicaLogDirs", {"dirs": [{"path": "/a", "topics": [{"name": "<p>x"}]}]}, True),
        ("AlterReplicaLogDirs", {"dirs": [{"path": "/a", "topics": [{"name": "orders"}]}]}, False),
        ("RemoveRaftVoter", {"voter_id": 1}, False),
        ("CreateAcls", {"creations": []}, False),
    ],
)
def test_a_guest_touches_nothing_of_others(api: str, body: dict[str, Any], polite: bool):
    assert (impolite(api, body) == "") is polite


def test_names_are_counted_anew_where_a_step_is_left_out():
    joined = [
        Step("c1", "JoinGroup", answers=[("c1", {"member_id": f"<c1#{number}>"})], body={"group_id": f"<p>g{number}"})
        for number in (1, 2)
    ]
    leaves = Step("c1", "LeaveGroup", body={"members": [{"member_id": "<c1#2>"}]})
    kept = renumbered([joined[1], leaves])
    assert kept[1].body == {"members": [{"member_id": "<c1#1>"}]}
