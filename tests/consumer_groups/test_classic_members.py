"""Classic members of a consumer group: what they are told, and what becomes of those that are late (KIP-848)."""

from __future__ import annotations

import pytest

from kafkastub.coordinator.consumer import embedded
from kafkawire.errors import ErrorCode
from kafkawire.messages.sync_group_response import SyncGroupResponse
from tests.consumer_groups.context import refused
from tests.consumer_groups.mixed import REBALANCE_MS, SESSION_MS, MixedContext


@pytest.fixture
def context() -> MixedContext:
    """A consumer group that has settled: "new" and "old" have two partitions of the topic a each."""
    context = MixedContext(
        group_consumer_session_timeout_ms=60_000_000, group_consumer_max_session_timeout_ms=60_000_000
    )
    context.topic("a", 4)
    context.join("new", "a")
    context.classic_join("old")
    context.classic_sync("old", 3)
    context.follow("new")
    context.catch_up("old")
    return context


def test_a_session_is_as_long_as_the_member_said(context: MixedContext):
    for _ in range(3):
        context.pass_time(SESSION_MS - 1)
        assert context.classic_heartbeat("old", 3) is ErrorCode.NONE
    context.pass_time(SESSION_MS)
    assert set(context.group().members) == {"new"}


def test_syncs_and_joins_are_signs_of_life(context: MixedContext):
    context.pass_time(SESSION_MS - 1)
    context.classic_sync("old", 3)
    context.pass_time(SESSION_MS - 1)
    context.classic_join("old", session_ms=2 * SESSION_MS)
    context.pass_time(2 * SESSION_MS - 1)
    assert "old" in context.group().members


def test_a_commit_is_no_sign_of_life(context: MixedContext):
    context.pass_time(SESSION_MS - 1)
    context.group().keep_alive("old", context.coordinator.deadlines, context.timer_ms)
    context.pass_time(1)
    assert "old" not in context.group().members


def test_who_was_told_to_join_and_does_not_is_out_however_often_it_asks(context: MixedContext):
    context.join("newer", "a")
    waited = 0
    while "old" in context.group().members:
        assert context.classic_heartbeat("old", 3) is ErrorCode.REBALANCE_IN_PROGRESS
        context.pass_time(SESSION_MS // 2)
        waited += SESSION_MS // 2
    assert waited == REBALANCE_MS


def test_a_sync_too_early_tells_to_join_and_counts_from_there(context: MixedContext):
    context.join("newer", "a")
    with refused(ErrorCode.REBALANCE_IN_PROGRESS):
        context.start_sync("old", 3)
    for _ in range(6):
        context.pass_time(SESSION_MS - 1)
        context.classic_heartbeat("old", 3)
    context.pass_time(6)
    assert "old" not in context.group().members


def test_who_joins_in_time_has_the_rebalance_timeout_to_sync(context: MixedContext):
    context.join("newer", "a")
    context.classic_heartbeat("old", 3)
    context.pass_time(SESSION_MS - 1)
    answer = context.classic_join("old", owned=context.has("old"))
    for _ in range(REBALANCE_MS // SESSION_MS):
        context.pass_time(SESSION_MS - 1)
        context.classic_heartbeat("old", answer.generation_id)
    context.pass_time(REBALANCE_MS // SESSION_MS)
    assert "old" not in context.group().members


def test_who_has_synced_may_stay(context: MixedContext):
    answer = context.classic_join("old", owned=context.has("old"))
    context.classic_sync("old", answer.generation_id)
    for _ in range(2 * REBALANCE_MS // SESSION_MS):
        context.pass_time(SESSION_MS - 1)
        assert context.classic_heartbeat("old", 3) is ErrorCode.NONE


def test_a_member_lets_go_by_joining_without_what_it_has_lost():
    context = MixedContext(group_consumer_assignors="range")
    context.topic("a", 4)
    context.join("z", "a")
    context.classic_join("m")
    context.classic_sync("m", 3)
    context.follow("z")
    assert context.catch_up("m") == {"a": {0, 1}}
    context.join("a", "a")
    assert context.partitions(context.group().target_of("m")) == {"a": {2}}
    answer = context.classic_join("m", owned={"a": {0, 1}})
    assert answer.generation_id == 3
    assert context.classic_sync("m", 3) == {}
    assert context.classic_heartbeat("m", 3) is ErrorCode.REBALANCE_IN_PROGRESS
    assert context.classic_join("m", owned={"a": {1}}).generation_id == 3
    assert context.classic_join("m", owned={}).generation_id == 4
    context.follow("a", "z")
    assert context.catch_up("m") == {"a": {2}}


def test_a_member_that_waits_for_others_is_only_told_to_join_when_there_is_something():
    context = MixedContext()
    context.topic("a", 2)
    context.join("new", "a")
    context.classic_join("old")
    assert context.classic_sync("old", 3) == {}
    assert context.classic_heartbeat("old", 3) is ErrorCode.NONE
    context.follow("new")
    assert context.classic_heartbeat("old", 3) is ErrorCode.REBALANCE_IN_PROGRESS
    assert len(context.catch_up("old")["a"]) == 1


def test_a_member_changes_its_protocol_and_back_under_its_id(context: MixedContext):
    has = context.has("old")
    context.join("old", "a")
    assert context.member("old").classic is None
    with refused(ErrorCode.UNKNOWN_MEMBER_ID):
        context.classic_heartbeat("old", 3)
    context.classic_join("old", owned=has)
    assert context.member("old").classic is not None
    assert context.classic_heartbeat("old", context.member("old").member_epoch) is ErrorCode.NONE


def test_leaves_of_many_are_one_epoch(context: MixedContext):
    context.classic_join("older")
    epoch = context.group().epoch
    nobody = int(ErrorCode.UNKNOWN_MEMBER_ID)
    assert context.classic_leave("old", "nobody", "older", "old") == [0, nobody, 0, 0]
    assert (context.group().epoch, set(context.group().members)) == (epoch + 1, {"new"})


def test_deadlines_of_those_who_are_gone_are_gone(context: MixedContext):
    context.classic_join("", instance="i")
    first = context.group().static_members["i"]
    second = context.classic_join("", instance="i").member_id
    assert first not in context.group().timers
    context.classic_leave("old", second)
    context.leave("new")
    assert context.coordinator.next_deadline() is None


def test_a_member_that_becomes_classic_has_no_regular_expression_any_more():
    context = MixedContext()
    for name in ("a", "b"):
        context.topic(name, 1)
    context.join("new", "a")
    context.heartbeat("old", 0, topics=["a"], regex="b", owned={}, rebalance_ms=60_000)
    context.follow("new", "old")
    assert context.has("old")["b"] == {0}
    epoch = context.group().epoch
    context.classic_join("old", owned=context.has("old"))
    assert context.member("old").subscribed_topic_regex == ""
    assert context.group().epoch == epoch + 1
    assert "b" not in context.catch_up("old")
    assert not context.group().subscribes("b")


def test_topics_that_come_new_are_before_what_shares_their_bucket():
    """The last of them comes first, and behind them what the member keeps is in the order of its target.

    Kafka puts them into a HashMap by computeIfAbsent. (CurrentAssignmentBuilder; of two topics measured on Kafka 4.4.0)
    """
    context = MixedContext(group_consumer_assignors="range")
    topics = ["a", "b", "c"]
    for at, name in enumerate(topics):
        context.topics.ids[name] = (1 + 16 * at).to_bytes(16)
        context.topics.counts[name] = 1
    context.join("z", "other")
    answer = context.classic_join("m", topics[:2])
    assert told_in_order(context, answer.generation_id) == ["b", "a"]
    answer = context.classic_join("m", topics, owned={"a": {0}, "b": {0}})
    assert told_in_order(context, answer.generation_id) == ["c", "a", "b"]


def told_in_order(context: MixedContext, generation: int) -> list[str]:
    """The topics of m, as a sync tells them."""
    answer: SyncGroupResponse = context.answers.pop(context.start_sync("m", generation))
    assigned = embedded.assignment(bytes(answer.assignment)).assigned_partitions
    return [one.topic for one in assigned]
