"""Static members of the consumer protocol (KIP-345, KIP-848)."""

from __future__ import annotations

import pytest

from kafkawire.errors import ErrorCode
from tests.consumer_groups.context import Context, refused


@pytest.fixture
def context() -> Context:
    made = Context()
    made.topic("t", 4)
    made.join("m1", "t", instance="i1")
    made.join("m2", "t", instance="i2")
    made.follow("m1", "m2")
    return made


def test_one_that_comes_back_has_what_its_instance_had(context: Context):
    had = context.has("m1")
    reply = context.leave("m1", -2, instance="i1")
    assert (reply.member_id, reply.member_epoch) == ("m1", -2)
    assert context.state() == ("Reconciling", 3, 3)
    assert context.told(context.heartbeat("m2", 3, owned=context.has("m2"))) is None

    back = context.join("m3", "t", instance="i1")
    assert (back.member_epoch, context.told(back)) == (3, had)
    assert context.state() == ("Stable", 3, 3)
    assert set(context.group().members) == {"m2", "m3"}
    with refused(ErrorCode.UNKNOWN_MEMBER_ID):
        context.heartbeat("m1", 3)
    with refused(ErrorCode.FENCED_INSTANCE_ID, "Static member m1 with instance id i1 was fenced by member m3."):
        context.heartbeat("m1", 3, instance="i1")


def test_one_that_comes_back_with_other_topics_is_given_others(context: Context):
    context.topic("u", 1)
    context.leave("m1", -2, instance="i1")
    back = context.join("m3", "u", instance="i1")
    assert (back.member_epoch, context.told(back)) == (4, {"u": {0}})
    assert context.told(context.heartbeat("m2", 3)) == {"t": {0, 1, 2, 3}}


def test_one_that_does_not_come_back_in_its_session_is_out(context: Context):
    context.leave("m1", -2, instance="i1")
    context.pass_time(44_000)
    context.heartbeat("m2", 3)
    context.pass_time(1_000)
    assert set(context.group().members) == {"m2"}
    assert context.told(context.heartbeat("m2", 3)) == {"t": {0, 1, 2, 3}}


def test_an_instance_that_is_there_is_not_given_away(context: Context):
    text = "Static member m3 with instance id i1 cannot join the group because the instance id is owned by m1 member."
    with refused(ErrorCode.UNRELEASED_INSTANCE_ID, text):
        context.join("m3", "t", instance="i1")
    with refused(ErrorCode.UNRELEASED_INSTANCE_ID):
        context.join("m1", "t", instance="i1")


def test_an_instance_that_nobody_has_is_unknown(context: Context):
    for epoch in (3, -1, -2):
        with refused(ErrorCode.UNKNOWN_MEMBER_ID, "Instance id i9 is unknown."):
            context.heartbeat("m1", epoch, instance="i9")
    with refused(ErrorCode.FENCED_INSTANCE_ID):
        context.leave("m2", -2, instance="i1")


def test_one_that_is_away_is_in_no_epoch(context: Context):
    context.leave("m1", -2, instance="i1")
    with refused(
        ErrorCode.FENCED_MEMBER_EPOCH, "The consumer group member has a greater member epoch (3) than the one"
    ):
        context.heartbeat("m1", 3, instance="i1")
    assert context.leave("m1", -2, instance="i1").member_epoch == -2


def test_one_that_leaves_for_good_is_gone(context: Context):
    context.leave("m1", instance="i1")
    assert set(context.group().members) == {"m2"}
    assert context.join("m3", "t", instance="i1").member_epoch == 5


def test_what_it_had_to_let_go_of_is_free_while_it_is_away():
    context = Context()
    context.topic("t", 4)
    context.join("m1", "t", instance="i1")
    context.join("m2", "t")
    context.heartbeat("m1", 2)
    keeps = context.has("m1")["t"]
    context.leave("m1", -2, instance="i1")
    assert context.told(context.heartbeat("m2", 3)) == {"t": {0, 1, 2, 3} - keeps}


def test_a_member_may_become_static_and_stays_so(context: Context):
    context.join("m3", "t")
    context.follow("m1", "m2", "m3")
    context.join("m3", "t", instance="i3")
    assert context.member("m3").instance_id == "i3"
    context.join("m3", "t")
    assert context.member("m3").instance_id == "i3"
    context.join("m3", "t", instance="i4")
    assert context.group().static_members == {"i1": "m1", "i2": "m2", "i4": "m3"}


def test_its_return_survives_another_coordinator(context: Context):
    had = context.has("m1")
    context.leave("m1", -2, instance="i1")
    context = context.restart()
    assert context.told(context.join("m3", "t", instance="i1")) == had
