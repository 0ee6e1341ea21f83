"""Sessions and rebalance timeouts of the consumer protocol."""

from __future__ import annotations

import pytest

from kafkastub.coordinator.modern.settings import GroupConfig
from kafkawire.errors import ErrorCode
from tests.consumer_groups.context import Context, refused

SESSION_MS = 45_000


@pytest.fixture
def context() -> Context:
    made = Context()
    made.topic("t", 4)
    return made


def test_who_is_silent_for_a_session_is_out(context: Context):
    context.join("m1", "t")
    context.pass_time(SESSION_MS - 1)
    context.join("m2", "t")
    assert set(context.group().members) == {"m1", "m2"}
    context.pass_time(1)
    assert set(context.group().members) == {"m2"}
    assert context.state() == ("Assigning", 4, 3)
    with refused(ErrorCode.UNKNOWN_MEMBER_ID):
        context.heartbeat("m1", 2)


def test_every_heartbeat_begins_a_session(context: Context):
    context.join("m1", "t")
    for _ in range(3):
        context.pass_time(SESSION_MS - 1)
        context.heartbeat("m1", 2)
    context.pass_time(SESSION_MS)
    assert context.state() == ("Empty", 3, 3)


def test_a_refused_heartbeat_begins_none(context: Context):
    context.join("m1", "t")
    context.pass_time(SESSION_MS - 1)
    with refused(ErrorCode.FENCED_MEMBER_EPOCH):
        context.heartbeat("m1", 7)
    context.pass_time(1)
    assert context.group().members == {}


def test_a_group_has_its_own_session_timeout(context: Context):
    context.configs["g"] = GroupConfig(session_timeout_ms=60_000)
    context.join("m1", "t")
    context.pass_time(59_999)
    assert set(context.group().members) == {"m1"}
    context.pass_time(1)
    assert context.group().members == {}


def test_who_does_not_let_go_of_partitions_in_time_is_out(context: Context):
    context.join("m1", "t", rebalance_ms=20_000)
    context.join("m2", "t")
    context.heartbeat("m1", 2)
    for _ in range(3):
        context.pass_time(6_666)
        context.heartbeat("m1", 2)
        context.heartbeat("m2", 3)
    context.pass_time(2)
    assert set(context.group().members) == {"m2"}
    assert context.told(context.heartbeat("m2", 3)) == {"t": {0, 1, 2, 3}}


def test_who_has_let_go_of_them_is_not(context: Context):
    context.join("m1", "t", rebalance_ms=20_000)
    context.join("m2", "t")
    context.heartbeat("m1", 2)
    context.heartbeat("m1", 2, owned=context.has("m1"))
    context.pass_time(20_000)
    assert set(context.group().members) == {"m1", "m2"}


def test_who_left_has_no_deadlines(context: Context):
    context.join("m1", "t", rebalance_ms=20_000)
    context.join("m2", "t")
    context.heartbeat("m1", 2)
    context.leave("m1")
    context.leave("m2")
    assert context.coordinator.next_deadline() is None


def test_a_deleted_group_has_no_deadlines(context: Context):
    context.join("m1", "t")
    context.leave("m1")
    context.took(context.coordinator.delete_group("g", context.broker_ms))
    assert context.coordinator.groups == {}
    assert context.coordinator.hard.consumer == {}
    context.join("m1", "t")
    assert context.state() == ("Stable", 2, 2)


def test_sessions_and_rebalances_begin_anew_with_another_coordinator(context: Context):
    context.join("m1", "t", rebalance_ms=20_000)
    context.join("m2", "t")
    context.heartbeat("m1", 2)
    context.pass_time(15_000)
    context = context.restart()
    context.pass_time(19_999)
    assert set(context.group().members) == {"m1", "m2"}
    context.pass_time(1)
    assert set(context.group().members) == {"m2"}
    context.pass_time(SESSION_MS - 20_000)
    assert context.group().members == {}


def test_ten_thousand_members_that_fell_silent_held_everybody_up(context: Context):
    """Some of them are lost at a time, and others are served between; in the end all are."""
    for number in range(200):
        context.join(f"m{number}", "t")
    context.timer_ms += SESSION_MS
    coordinator, left = context.coordinator, [len(context.group().members)]
    while (at := coordinator.next_deadline()) is not None and at <= context.timer_ms:
        context.took(coordinator.expire(context.broker_ms, context.timer_ms))
        left.append(len(context.group().members))
    assert left == [200, 150, 100, 50, 0]
    assert context.state()[0] == "Empty"
