"""Members that subscribe by a regular expression (KIP-848)."""

from __future__ import annotations

import pytest

from kafkastub.coordinator.consumer.records import ConsumerGroupRegularExpression
from kafkawire.errors import ErrorCode
from tests.consumer_groups.context import Context, refused


@pytest.fixture
def context() -> Context:
    made = Context()
    for name in ("a1", "a2", "b1"):
        made.topic(name, 1)
    return made


def resolutions(context: Context) -> int:
    """How often something was resolved."""
    return sum(type(record) is ConsumerGroupRegularExpression for record in context.records)


def test_topics_are_found_after_the_answer(context: Context):
    first = context.join("m1", topics=None, regex="a.*")
    assert (first.member_epoch, context.told(first)) == (1, {})
    assert context.state() == ("Assigning", 2, 1)
    then = context.heartbeat("m1", 1)
    assert (then.member_epoch, context.told(then)) == (2, {"a1": {0}, "a2": {0}})


def test_a_whole_name_has_to_match(context: Context):
    context.join("m1", topics=None, regex="a")
    assert context.state() == ("Stable", 1, 1)
    assert context.heartbeat("m1", 1).member_epoch == 1
    assert resolutions(context) == 1


def test_names_come_at_once_and_what_matches_later(context: Context):
    first = context.join("m1", "b1", regex="a1")
    assert (first.member_epoch, context.told(first)) == (2, {"b1": {0}})
    then = context.heartbeat("m1", 2)
    assert (then.member_epoch, context.told(then)) == (3, {"b1": {0}, "a1": {0}})


def test_the_empty_expression_ends_it_and_null_does_not(context: Context):
    context.join("m1", topics=None, regex="a1")
    context.heartbeat("m1", 1)
    assert context.heartbeat("m1", 2).member_epoch == 2
    assert context.has("m1") == {"a1": {0}}
    assert context.told(context.heartbeat("m1", 2, regex="", topics=["b1"])) == {}
    assert context.told(context.heartbeat("m1", 2, owned={})) == {"b1": {0}}
    assert context.group().subscriptions.resolved == {}
    assert not context.group().subscribes("a1")


def test_an_expression_that_somebody_has_is_resolved_already(context: Context):
    context.join("m1", topics=None, regex="a.*")
    context.heartbeat("m1", 1)
    joined = context.join("m2", topics=None, regex="a.*")
    assert joined.member_epoch == 3
    assert resolutions(context) == 1


def test_another_one_within_ten_seconds_has_to_wait(context: Context):
    context.join("m1", topics=None, regex="a1")
    context.heartbeat("m1", 1)
    assert context.join("m2", topics=None, regex="b1").member_epoch == 2
    context.pass_time(10_000)
    context.heartbeat("m2", 2)
    assert resolutions(context) == 1
    context.pass_time(1)
    context.heartbeat("m2", 2)
    assert resolutions(context) == 3
    assert context.told(context.heartbeat("m2", 2)) == {"b1": {0}}


def test_new_topics_are_found_ten_seconds_after_the_last_look(context: Context):
    context.join("m1", topics=None, regex="a.*")
    context.heartbeat("m1", 1)
    context.topic("a3", 1)
    context.heartbeat("m1", 2)
    assert resolutions(context) == 1
    context.pass_time(10_001)
    context.heartbeat("m1", 2)
    assert context.told(context.heartbeat("m1", 2)) == {"a1": {0}, "a2": {0}, "a3": {0}}


def test_topics_that_grow_or_go_are_noticed_without_a_look(context: Context):
    context.join("m1", topics=None, regex="a.*")
    context.heartbeat("m1", 1)
    context.topic("a1", 2)
    assert context.told(context.heartbeat("m1", 2)) == {"a1": {0, 1}, "a2": {0}}
    context.drop("a2")
    assert context.told(context.heartbeat("m1", 3)) == {"a1": {0, 1}}
    assert resolutions(context) == 1


def test_without_any_change_the_topics_are_looked_at_now_and_then(context: Context):
    context.join("m1", topics=None, regex="a.*")
    for _ in range(20):
        context.pass_time(30_000)
        context.heartbeat("m1", context.member("m1").member_epoch)
    assert resolutions(context) == 1
    context.pass_time(1)
    context.heartbeat("m1", 2)
    assert resolutions(context) == 2
    assert context.group().epoch == 2


def test_one_that_is_none_is_refused_with_its_fault(context: Context):
    text = "SubscribedTopicRegex `[` is not a valid regular expression: missing closing ]."
    with refused(ErrorCode.INVALID_REGULAR_EXPRESSION, text):
        context.join("m1", topics=None, regex="[")
    assert context.records == []


def test_topics_that_the_member_may_not_describe_are_not_found(context: Context):
    context.join("m1", topics=None, regex="a.*", may_describe=lambda name: name != "a2")
    assert context.told(context.heartbeat("m1", 1)) == {"a1": {0}}


def test_who_leaves_takes_its_expression_along(context: Context):
    context.join("m1", topics=None, regex="a.*")
    context.join("m2", "b1")
    context.leave("m1")
    assert not context.group().subscribes("a1")
    assert context.group().subscribes("b1")
    context.join("m3", topics=None, regex="a.*")
    assert context.group().subscribes("a1")  # there is no last look any more that it would have to wait for


def test_a_new_coordinator_knows_what_matched_and_looks_again(context: Context):
    context.join("m1", topics=None, regex="a.*")
    context.heartbeat("m1", 1)
    context.pass_time(6_000)
    context = context.restart()
    before = resolutions(context)
    assert context.has("m1") == {"a1": {0}, "a2": {0}}
    context.pass_time(4_000)
    context.heartbeat("m1", 2)
    assert resolutions(context) == before
    context.pass_time(1)
    context.heartbeat("m1", 2)
    assert resolutions(context) == before + 1


def test_many_expressions_and_topics_are_gone_through_in_rounds_between_which_others_have_their_turn():
    context = Context()
    for number in range(3_000):
        context.topics.put(f"a{number}", 1)
    context.coordinator.metadata_changed(context.topics.names())
    for number in range(3):
        context.join(f"m{number}", topics=None, regex=f"a{number}.*")
    context.pass_time(10_001)
    context.rounds = 0
    context.heartbeat("m0", context.member("m0").member_epoch)
    assert context.rounds >= 4
    assert resolutions(context) == 1 + 3
    assert context.group().subscribes("a2999")
