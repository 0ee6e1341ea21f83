"""One thing that happens to very many groups: others are served between its parts, and see it whole."""

from __future__ import annotations

from typing import Any

import pytest

from kafkastub.coordinator.records import GroupTombstone, OffsetTombstone
from kafkastub.state.loading import load, unload
from kafkastub.state.topics import create_topic
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.delete_topics_request import DeleteTopicsRequest
from tests.coordinator.context import CoordinatorTestContext, Parked

MANY = 2500
WEEK_MS = 7 * 86_400_000


@pytest.fixture(scope="module")
def groups() -> list[str]:
    return [f"g{number}" for number in range(MANY)]


@pytest.fixture
def context(groups: list[str]) -> CoordinatorTestContext:
    context = CoordinatorTestContext()
    for group_id in groups:
        context.commit(group_id, {"a": {0: 1}})
    context.records.clear()
    return context


def delete(context: CoordinatorTestContext, topic: str = "a") -> Any:
    return context.call(ApiKey.DELETE_TOPICS, 5, DeleteTopicsRequest(topic_names=[topic], timeout_ms=1000))


def parts(context: CoordinatorTestContext) -> list[int]:
    """Records of each turn until nothing is left to be done at once."""
    found = []
    while (at := context.state.next_event()) is not None and at <= context.timer_ms:
        before = len(context.records)
        context.state.expire(context.broker_ms, context.timer_ms)
        found.append(len(context.records) - before)
    return found


def in_log(context: CoordinatorTestContext) -> dict[str, int]:
    """Of each group: offsets that the records leave."""
    left: dict[str, int] = {}
    unload(context.state, context.broker_ms, context.timer_ms)
    load(context.state, lambda: (context.broker_ms, context.timer_ms))
    offsets = context.coordinator.offsets
    for group_id in offsets.group_ids():
        for topic, columns in offsets.topics(group_id).items():
            left[f"{group_id} {topic}"] = columns.count
    return left


@pytest.mark.behaviour("DT-11")
def test_a_deleted_topic_whose_offsets_are_in_every_group_held_up_all_others(
    context: CoordinatorTestContext, groups: list[str]
):
    answer = delete(context)
    assert isinstance(answer, Parked)
    assert not answer.answered
    assert context.state.cluster.topic("a") is None
    assert {context.fetch(group_id).get(("a", 0)) for group_id in groups} == {None}
    assert context.coordinator.offsets.count == 0
    assert len(context.records) < MANY
    assert max(parts(context)) <= 500
    assert answer.answer.responses[0].error_code == ErrorCode.NONE
    assert sorted(context.records, key=str) == sorted((OffsetTombstone(one, "a", 0) for one in groups), key=str)
    assert in_log(context) == {}
    context.sweep()
    assert context.coordinator.groups == {}


def test_what_is_committed_before_an_older_tombstone_is_written_stays(
    context: CoordinatorTestContext, groups: list[str]
):
    delete(context)
    create_topic(context.state, "a", 10, 1)
    context.commit(groups[-1], {"a": {0: 9}})
    parts(context)
    assert context.fetch(groups[-1])["a", 0][0] == 9
    assert in_log(context) == {f"{groups[-1]} a": 1}


def test_a_group_that_is_deleted_before_its_tombstones_are_written_does_not_come_back(
    context: CoordinatorTestContext, groups: list[str]
):
    delete(context)
    assert OffsetTombstone(groups[-1], "a", 0) not in context.records
    context.state.settle(context.coordinator.delete_group(groups[-1], context.broker_ms))
    mine = [one for one in context.records if getattr(one, "group_id", None) == groups[-1]]
    assert mine == [OffsetTombstone(groups[-1], "a", 0), GroupTombstone(groups[-1])]
    parts(context)
    assert groups[-1] not in context.coordinator.groups
    assert in_log(context) == {}


def test_a_coordinator_that_moves_in_the_midst_of_a_deletion_finds_no_offset_again(context: CoordinatorTestContext):
    answer = delete(context)
    assert in_log(context) == {}
    parts(context)
    assert answer.answered


def test_one_group_with_offsets_of_very_many_partitions():
    context = CoordinatorTestContext(topics=())
    create_topic(context.state, "wide", 5000, 1)
    context.commit("g", {"wide": dict.fromkeys(range(5000), 1)})
    context.records.clear()
    answer = delete(context, "wide")
    assert len(context.records) <= 500
    assert max(parts(context)) <= 500
    assert answer.answered
    assert [one.partition for one in context.records if isinstance(one, OffsetTombstone)] == list(range(5000))


def test_a_sweep_over_very_many_groups_held_up_all_others(context: CoordinatorTestContext):
    context.state.start_sweeping(context.timer_ms)
    context.broker_ms += WEEK_MS
    context.timer_ms += context.state.config["offsets.retention.check.interval.ms"]
    found = []
    while (at := context.state.next_deadline()) is not None and at <= context.timer_ms:
        before = len(context.coordinator.groups)
        context.state.expire(context.broker_ms, context.timer_ms)
        found.append(before - len(context.coordinator.groups))
    assert sum(found) == MANY
    assert max(found) <= 200
    assert in_log(context) == {}
