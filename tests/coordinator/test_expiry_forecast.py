"""Why an offset goes, or stays: each rule. That the moments are the sweep's, tests/expiry shows with every move."""

from __future__ import annotations

from kafkastub.coordinator.expiry import NEVER
from kafkastub.coordinator.expiry_forecast import Foreseen, OfTopic, Rule
from tests.coordinator.context import RETENTION_MS, CoordinatorTestContext


def foreseen(context: CoordinatorTestContext, topic: str = "a", partition: int = 0) -> Foreseen:
    found = context.coordinator
    columns = found.offsets.topic("g", topic)
    assert columns is not None
    of_topic = OfTopic(found.expiry, found.groups["g"], found.offsets, topic, columns)
    return of_topic.at(partition, columns.slot(partition))


def test_of_a_group_that_never_had_members_each_goes_by_its_own_age() -> None:
    context = CoordinatorTestContext()
    context.commit("g", {"a": {0: 1}})
    assert foreseen(context) == (context.broker_ms + RETENTION_MS, Rule.SIMPLE)


def test_what_is_subscribed_stays_and_what_is_not_goes() -> None:
    context = CoordinatorTestContext()
    (member,) = context.stable()
    context.commit("g", {"a": {0: 1}, "b": {0: 1}}, generation=1, member_id=member.member_id)
    rules = {foreseen(context, topic).rule: foreseen(context, topic).at for topic in ("a", "b")}
    assert rules == {Rule.SUBSCRIBED: NEVER, Rule.NOT_SUBSCRIBED: context.broker_ms + RETENTION_MS}


def test_of_an_empty_group_they_go_together() -> None:
    context = CoordinatorTestContext()
    (member,) = context.stable()
    context.commit("g", {"a": {0: 1}}, generation=1, member_id=member.member_id)
    context.broker_ms += 1000
    context.leave("g", (member.member_id, None))
    assert foreseen(context) == (context.broker_ms + RETENTION_MS, Rule.GROUP_EMPTY)


def test_while_members_come_none_goes() -> None:
    context = CoordinatorTestContext()
    (member,) = context.stable()
    context.commit("g", {"b": {0: 1}}, generation=1, member_id=member.member_id)
    context.join_twice("g")
    assert foreseen(context, "b") == (NEVER, Rule.ACTIVE)


def test_a_pending_offset_keeps_the_one_before_it() -> None:
    context = CoordinatorTestContext()
    context.commit("g", {"a": {0: 1}})
    context.pend("g", {"a": {0: 2}})
    assert foreseen(context) == (NEVER, Rule.PENDING)
    context.end(commit=False)
    assert foreseen(context).rule is Rule.SIMPLE


def test_a_commit_may_say_itself_how_long_it_is_kept() -> None:
    context = CoordinatorTestContext()
    context.commit("g", {"a": {0: 1}}, retention=5000, version=2)
    assert foreseen(context) == (context.broker_ms + 5000, Rule.OWN_RETENTION)


def test_for_ever() -> None:
    context = CoordinatorTestContext(offsets_retention_minutes=-1)
    context.commit("g", {"a": {0: 1}})
    assert foreseen(context) == (NEVER, Rule.KEPT_FOR_EVER)
