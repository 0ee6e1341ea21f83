"""What onlookers are told of a consumer group, and what tests may do to it."""

from __future__ import annotations

import pytest

from kafkastub.coordinator.consumer.records import (
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupMetadata,
    ConsumerGroupPartitionMetadata,
    ConsumerGroupTargetAssignmentMetadata,
)
from kafkastub.coordinator.records import Tombstone
from kafkawire.errors import ErrorCode
from tests.consumer_groups.context import GROUP, Context, refused


@pytest.fixture
def context() -> Context:
    made = Context()
    made.topic("t", 4)
    return made


def test_a_description_has_epochs_members_and_what_they_have_and_are_to_have(context: Context):
    context.join("m1", "t", rack="r", client="c", assignor="range")
    context.join("m2", "t", instance="i2")
    context.heartbeat("m1", 2)
    told = context.described()
    assert (told.group_id, told.group_state, told.group_epoch, told.assignment_epoch) == (GROUP, "Reconciling", 3, 3)
    assert told.assignor_name == "range"
    first, second = sorted(told.members, key=lambda member: member.member_id)
    assert (first.rack_id, first.client_id, first.client_host, first.instance_id) == ("r", "client", "/127.0.0.1", None)
    assert (first.member_epoch, list(first.subscribed_topic_names), first.subscribed_topic_regex) == (2, ["t"], "")
    assert (second.instance_id, second.member_epoch, second.member_type) == ("i2", 3, 1)

    def partitions(one: object) -> list[tuple[str, list[int]]]:
        return [(t.topic_name, list(t.partitions)) for t in one.topic_partitions]  # type: ignore[attr-defined]

    assert partitions(first.assignment) == [("t", [2, 3, 0, 1])]  # behind what it keeps, what it has to let go of
    assert partitions(first.target_assignment) == [("t", [2, 3])]
    assert partitions(second.assignment) == []
    assert partitions(second.target_assignment) == [("t", [0, 1])]


def test_topics_that_are_gone_are_left_out_of_it(context: Context):
    context.join("m1", "t")
    context.drop("t")
    (member,) = context.described().members
    assert member.assignment is not None
    assert member.assignment.topic_partitions == []
    assert member.target_assignment is not None
    assert member.target_assignment.topic_partitions == []


def test_members_are_in_kafka_s_order(context: Context):
    for number in range(5):
        context.join(f"member-{number}", "t")
    assert [m.member_id[-1] for m in context.described().members] == list("30241")
    assert [m.member_id[-1] for m in context.group().described().members] == list("30241")


def test_another_type_of_group_is_not_described(context: Context):
    group = context.coordinator.create("simple", context.broker_ms)
    assert context.coordinator.consumer.describe(group) is None
    with refused(ErrorCode.GROUP_ID_NOT_FOUND, "Group simple is not a consumer group."):
        context.coordinator.consumer.hold_revocation("simple", "m1")


def test_a_group_tells_of_its_members_from_inside(context: Context):
    context.join("m1", "t")
    told = context.group().described()
    assert (told.generation, told.protocol, told.leader) == (2, None, None)
    (member,) = told.members
    assert (member.session_timeout_ms, member.rebalance_timeout_ms, member.subscribed) == (45_000, 60_000, ["t"])


class TestTargets:
    """`set_target`."""

    def test_members_get_what_a_test_gives_them(self, context: Context):
        context.join("m1", "t")
        context.join("m2", "t")
        context.follow("m1", "m2")
        self.set_target(context, {"m1": {"t": [3]}, "m2": {"t": [0, 1]}})
        assert context.state() == ("Reconciling", 4, 4)
        context.follow("m1", "m2")
        assert (context.has("m1"), context.has("m2")) == ({"t": {3}}, {"t": {0, 1}})
        assert context.state() == ("Stable", 4, 4)

    def test_who_is_not_named_has_nothing(self, context: Context):
        context.join("m1", "t")
        self.set_target(context, {})
        context.follow("m1")
        assert context.has("m1") == {}

    def test_it_lasts_until_the_next_epoch(self, context: Context):
        context.join("m1", "t")
        self.set_target(context, {"m1": {"t": [0]}})
        context.follow("m1")
        context.topic("t", 5)
        context.follow("m1")
        assert context.has("m1") == {"t": {0, 1, 2, 3, 4}}

    @pytest.mark.parametrize(
        ("target", "code"),
        [
            ({"m9": {"t": [0]}}, ErrorCode.UNKNOWN_MEMBER_ID),
            ({"m1": {"nope": [0]}}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            ({"m1": {"t": [4]}}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            ({"m1": {"t": [1]}, "m2": {"t": [0, 1]}}, ErrorCode.INVALID_REQUEST),
            ({"m1": {"t": [1, 1]}}, ErrorCode.INVALID_REQUEST),
            ({"m1": {"other": [0]}}, ErrorCode.INVALID_REQUEST),
        ],
    )
    def test_one_that_cannot_be_is_refused(self, context: Context, target: dict, code: ErrorCode):
        context.topic("other", 1)
        context.join("m1", "t")
        context.join("m2", "t")
        before = context.shown()
        with refused(code):
            self.set_target(context, target)
        assert context.shown() == before

    def set_target(self, context: Context, target: dict) -> None:
        consumer = context.coordinator.consumer
        context.took(consumer.set_target(GROUP, target, context.broker_ms, context.timer_ms))


class TestHolds:
    """`hold_revocation`."""

    def test_what_is_held_is_nobody_else_s_before_it_is_released(self, context: Context):
        context.join("m1", "t", rebalance_ms=600_000)
        context.join("m2", "t")
        context.coordinator.consumer.hold_revocation(GROUP, "m1")
        for _ in range(3):
            context.heartbeat("m1", 2, owned=context.has("m1"))
            assert context.told(context.heartbeat("m2", 3, topics=["t"], owned={}, rebalance_ms=60_000)) == {}
        assert context.member("m1").member_epoch == 2
        context.coordinator.consumer.release_revocation(GROUP, "m1")
        context.follow("m1", "m2")
        assert context.state()[0] == "Stable"
        assert len(context.has("m2")["t"]) == 2

    def test_there_has_to_be_such_a_member(self, context: Context):
        context.join("m1", "t")
        with refused(ErrorCode.UNKNOWN_MEMBER_ID):
            context.coordinator.consumer.hold_revocation(GROUP, "m9")
        context.coordinator.consumer.release_revocation(GROUP, "m9")
        context.coordinator.consumer.release_revocation("nope", "m9")

    def test_a_hold_goes_with_its_member(self, context: Context):
        context.join("m1", "t")
        context.coordinator.consumer.hold_revocation(GROUP, "m1")
        context.leave("m1")
        context.join("m1", "t")
        context.join("m2", "t")
        context.follow("m1", "m2")
        assert context.state()[0] == "Stable"

    def test_what_was_said_while_held_counts_afterwards(self, context: Context):
        context.join("m1", "t", rebalance_ms=600_000)
        context.join("m2", "t")
        context.coordinator.consumer.hold_revocation(GROUP, "m1")
        context.heartbeat("m1", 2)
        context.heartbeat("m1", 2, owned=context.has("m1"))
        context.coordinator.consumer.release_revocation(GROUP, "m1")
        context.heartbeat("m1", 2)  # it has said so, and says it no more
        context.follow("m2")
        assert len(context.has("m2")["t"]) == 2


class TestLoading:
    """Groups out of their records."""

    def test_a_state_that_is_not_known_makes_its_member_come_again_without_partitions(self, context: Context):
        context.join("m1", "t")
        last = context.records[-1]
        assert isinstance(last, ConsumerGroupCurrentMemberAssignment)
        odd = ConsumerGroupCurrentMemberAssignment(GROUP, "m1", 2, 1, 77, last.assigned, {})
        context.records.append(odd)
        context = context.restart()
        for owned in (None, {"t": {0, 1, 2, 3}}):
            with refused(ErrorCode.FENCED_MEMBER_EPOCH, "The consumer group member is in a unknown state."):
                context.heartbeat("m1", 2, owned=owned)
        assert context.heartbeat("m1", 2, owned={}).member_epoch == 2
        assert context.state()[0] == "Stable"

    def test_the_old_record_of_partitions_is_ended_with_the_first_look_at_the_topics(self, context: Context):
        context.join("m1", "t")
        context.records.append(ConsumerGroupPartitionMetadata(GROUP, ("t",)))
        context = context.restart()
        context.heartbeat("m1", 2)
        assert context.records[-1] == Tombstone(ConsumerGroupPartitionMetadata, GROUP)
        assert context.group().epoch == 2

    def test_a_group_with_nothing_but_an_epoch_is_empty(self, context: Context):
        context.records.append(ConsumerGroupMetadata(GROUP, 9))
        context.records.append(ConsumerGroupTargetAssignmentMetadata(GROUP, 9, 0))
        context = context.restart()
        assert context.state() == ("Empty", 9, 9)
        assert context.join("m1", "t").member_epoch == 10

    def test_groups_that_move_lose_their_sessions_and_nothing_else(self, context: Context):
        context.join("m1", "t")
        before = context.shown()
        context.pass_time(40_000)
        context.took(context.coordinator.reload([GROUP], context.broker_ms, context.timer_ms))
        assert context.shown() == before
        context.pass_time(44_999)
        assert context.state()[0] == "Stable"
        context.pass_time(1)
        assert context.state()[0] == "Empty"

    def test_unloaded_there_is_nothing_left_to_happen(self, context: Context):
        context.join("m1", topics=None, regex="t.*")
        context.coordinator.unload(context.broker_ms, context.timer_ms)
        assert context.coordinator.groups == {}
        assert context.coordinator.next_deadline() is None
        assert context.coordinator.consumer.context.topics.changed(["t"]) == set()
