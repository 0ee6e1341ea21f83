"""Members of the consumer protocol come, are given partitions, take them over from one another, and go."""

from __future__ import annotations

import pytest

from kafkastub.coordinator.consumer.member import MemberState
from kafkastub.coordinator.consumer.records import (
    ConsumerGroupMetadata,
    ConsumerGroupTargetAssignmentMember,
    ConsumerGroupTargetAssignmentMetadata,
)
from kafkastub.coordinator.modern.assignment import Assignment, GroupSpec, TopicDescriber
from kafkastub.coordinator.modern.settings import GroupConfig
from kafkastub.steps import Pace, no_pause
from kafkawire.errors import ErrorCode
from tests.consumer_groups.context import Context, refused


@pytest.fixture
def context() -> Context:
    made = Context()
    made.topic("t", 4)
    return made


def test_the_first_member_is_given_everything_in_the_answer_to_its_join(context: Context):
    reply = context.join("m1", "t")
    assert (reply.member_id, reply.member_epoch, reply.heartbeat_interval_ms) == ("m1", 2, 5_000)
    assert context.told(reply) == {"t": {0, 1, 2, 3}}
    assert context.state() == ("Stable", 2, 2)


def test_a_member_without_topics_is_in_the_first_epoch(context: Context):
    reply = context.join("m1")
    assert (reply.member_epoch, context.told(reply)) == (1, {})
    assert context.state() == ("Stable", 1, 1)


def test_a_topic_that_does_not_exist_makes_an_epoch_and_nothing_else(context: Context):
    reply = context.join("m1", "nope")
    assert (reply.member_epoch, context.told(reply)) == (2, {})


def test_a_second_member_gets_what_the_first_has_let_go_of(context: Context):
    context.join("m1", "t")
    late = context.join("m2", "t")
    assert (late.member_epoch, context.told(late)) == (3, {})
    assert context.state() == ("Reconciling", 3, 3)
    assert context.member("m2").state is MemberState.UNRELEASED_PARTITIONS

    first = context.heartbeat("m1", 2)
    keeps = context.told(first)
    assert first.member_epoch == 2
    assert keeps is not None
    assert len(keeps["t"]) == 2
    assert context.heartbeat("m1", 2).assignment is None
    assert context.told(context.heartbeat("m1", 2, owned={"t": {0, 1, 2, 3}})) is None
    assert context.told(context.heartbeat("m2", 3)) is None

    assert context.heartbeat("m1", 2, owned=keeps).member_epoch == 3
    gets = context.told(context.heartbeat("m2", 3))
    assert gets == {"t": {0, 1, 2, 3} - keeps["t"]}
    assert context.state() == ("Stable", 3, 3)


def test_a_heartbeat_that_says_nothing_new_writes_nothing(context: Context):
    context.join("m1", "t")
    written = len(context.records)
    for owned in (None, {"t": {0, 1, 2, 3}}):
        reply = context.heartbeat("m1", 2, owned=owned)
        assert (reply.member_epoch, reply.assignment, reply.heartbeat_interval_ms) == (2, None, 5_000)
    assert len(context.records) == written


def test_a_full_heartbeat_is_told_everything_again(context: Context):
    context.join("m1", "t")
    again = context.heartbeat("m1", 2, topics=["t"], owned={}, rebalance_ms=60_000)
    assert context.told(again) == {"t": {0, 1, 2, 3}}
    assert again.member_epoch == 2


def test_names_in_another_order_are_the_same_subscription(context: Context):
    context.topic("u", 1)
    context.join("m1", "t", "u")
    assert context.heartbeat("m1", 2, topics=["u", "t", "u"]).member_epoch == 2
    assert context.heartbeat("m1", 2, topics=["u"]).member_epoch == 2  # it has not let go of the other one
    assert context.state() == ("Reconciling", 3, 3)
    assert context.has("m1") == {"u": {0}}


def test_a_member_that_stays_in_an_old_epoch_is_told_apart_from_one_that_lost_its_answer(context: Context):
    context.join("m1", "t")
    context.join("m2", "t")
    context.follow("m1", "m2")
    context.topic("t", 8)
    context.heartbeat("m1", 3)
    assert context.member("m1").member_epoch == 4
    with refused(ErrorCode.FENCED_MEMBER_EPOCH, "The consumer group member has a smaller member epoch (3) than"):
        context.heartbeat("m1", 3)
    with refused(ErrorCode.FENCED_MEMBER_EPOCH):
        context.heartbeat("m1", 3, owned={"t": {0, 1, 2, 3, 4, 5, 6, 7}})
    assert context.heartbeat("m1", 3, owned=context.has("m1")).member_epoch == 4
    with refused(ErrorCode.FENCED_MEMBER_EPOCH, "The consumer group member has a greater member epoch (9) than"):
        context.heartbeat("m1", 9)


def test_who_is_not_known_is_told_so(context: Context):
    with refused(ErrorCode.GROUP_ID_NOT_FOUND, "Consumer group g not found."):
        context.heartbeat("m1", 1)
    with refused(ErrorCode.GROUP_ID_NOT_FOUND, "Group g not found."):
        context.leave("m1")
    context.join("m1", "t")
    for epoch in (1, -1):
        with refused(ErrorCode.UNKNOWN_MEMBER_ID, "Member m2 is not a member of group g."):
            context.heartbeat("m2", epoch)


def test_a_full_group_takes_nobody_in(context: Context):
    context = Context(group_consumer_max_size=1)
    context.join("m1", "t")
    text = "The consumer group has reached its maximum capacity of 1 members."
    with refused(ErrorCode.GROUP_MAX_SIZE_REACHED, text):
        context.join("m2", "t")
    with refused(ErrorCode.GROUP_MAX_SIZE_REACHED, text):
        context.heartbeat("m2", 5)
    assert context.join("m1", "t").member_epoch == 2


def test_the_broker_makes_an_id_for_a_member_of_version_0(context: Context):
    reply = context.join("", "t", version=0)
    assert reply.member_id is not None
    assert len(reply.member_id) == 22
    assert reply.member_id[0] != "-"
    assert list(context.group().members) == [reply.member_id]
    other = context.join("", "t", version=0)
    assert other.member_id != reply.member_id


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        ({"member": "", "epoch": 0}, "MemberId can't be empty."),
        ({"group": " ", "epoch": 1}, "GroupId can't be empty."),
        ({"instance": "", "epoch": 1}, "InstanceId can't be empty."),
        ({"rack": "", "epoch": 1}, "RackId can't be empty."),
        ({"epoch": 0, "topics": ["t"], "owned": {}}, "RebalanceTimeoutMs must be provided in first request."),
        ({"epoch": 0, "topics": ["t"], "rebalance_ms": 1}, "TopicPartitions must be empty when (re-)joining."),
        ({"epoch": 0, "owned": {}, "rebalance_ms": 1}, "Either SubscribedTopicNames or SubscribedTopicRegex must be"),
        ({"epoch": -2}, "InstanceId can't be null."),
        ({"epoch": -3}, "MemberEpoch is invalid."),
    ],
)
def test_what_cannot_be_said_is_refused_with_its_name(context: Context, request_: dict[str, object], text: str):
    with refused(ErrorCode.INVALID_REQUEST, text):
        context.heartbeat(**{"member": "m", **request_})  # type: ignore[arg-type]
    assert context.records == []


def test_an_assignor_has_to_be_one_of_the_configured(context: Context):
    with refused(
        ErrorCode.UNSUPPORTED_ASSIGNOR, "ServerAssignor nope is not supported. Supported assignors: uniform, r"
    ):
        context.join("m", "t", assignor="nope")


def test_most_members_choose_the_assignor_and_of_equals_the_first_in_a_map(context: Context):
    context.join("m1", "t")
    assert context.described().assignor_name == "uniform"
    context.join("m2", "t", assignor="range")
    assert context.described().assignor_name == "range"
    epoch = context.group().epoch
    context.join("m3", "t", assignor="uniform")
    assert context.described().assignor_name == "uniform"
    context.heartbeat("m3", context.member("m3").member_epoch, assignor="range")
    assert context.group().epoch == epoch + 2  # for the join, and for the change of mind


def test_topics_that_grow_come_or_go_are_noticed_with_a_heartbeat(context: Context):
    context.join("m1", "t", "later")
    context.topic("t", 5)
    assert context.state() == ("Stable", 2, 2)
    grown = context.heartbeat("m1", 2)
    assert (grown.member_epoch, context.told(grown)) == (3, {"t": {0, 1, 2, 3, 4}})

    context.topic("later", 1)
    assert context.told(context.heartbeat("m1", 3)) == {"t": {0, 1, 2, 3, 4}, "later": {0}}

    gone = context.id_of("later")
    context.drop("later")
    less = context.heartbeat("m1", 4)
    assert (less.member_epoch, context.told(less)) == (4, {"t": {0, 1, 2, 3, 4}})
    assert gone in context.member("m1").pending_revocation
    assert context.heartbeat("m1", 4, owned={"t": {0, 1, 2, 3, 4}}).member_epoch == 5
    assert context.state() == ("Stable", 5, 5)


def test_a_topic_that_nobody_subscribes_to_may_change(context: Context):
    context.join("m1", "t")
    context.topic("other", 3)
    assert context.heartbeat("m1", 2).member_epoch == 2
    assert context.group().epoch == 2


def test_the_last_to_leave_leaves_the_group_empty(context: Context):
    context.join("m1", "t")
    context.join("m2", "t")
    left = context.leave("m1")
    assert (left.member_id, left.member_epoch, left.heartbeat_interval_ms) == ("m1", -1, 0)
    assert context.state() == ("Assigning", 4, 3)
    assert context.told(context.heartbeat("m2", 3)) == {"t": {0, 1, 2, 3}}
    context.leave("m2")
    assert context.state() == ("Empty", 5, 5)
    assert context.join("m3", "t").member_epoch == 6


def test_before_4_4_the_target_of_a_group_without_members_is_not_computed():
    context = Context(kafkastub_as_version="4.3")
    context.topic("t", 4)
    context.join("m1", "t")
    context.leave("m1")
    assert context.state() == ("Empty", 3, 2)
    assert context.join("m2", "t").member_epoch == 4


def test_before_4_4_another_assignor_is_asked_with_the_next_epoch():
    context = Context(kafkastub_as_version="4.3")
    context.topic("t", 4)
    context.join("m1", "t")
    assert context.heartbeat("m1", 2, assignor="range").member_epoch == 2
    assert context.state() == ("Stable", 2, 2)
    assert context.described().assignor_name == "range"


def test_a_member_that_joins_again_counts_as_having_let_go_of_everything(context: Context):
    context.join("m1", "t")
    context.join("m2", "t")
    assert context.heartbeat("m1", 2).member_epoch == 2
    again = context.join("m1", "t")
    keeps = context.told(again)
    assert again.member_epoch == 3
    assert keeps is not None
    assert context.told(context.heartbeat("m2", 3)) == {"t": {0, 1, 2, 3} - keeps["t"]}


def test_partitions_of_a_topic_that_a_member_drops_are_gone_before_there_is_a_new_target():
    context = Context(group_consumer_assignment_interval_ms=1_000)
    context.topic("t", 2)
    context.topic("u", 2)
    context.join("m1", "t", "u")
    reply = context.heartbeat("m1", 2, topics=["u"])
    assert (reply.member_epoch, context.told(reply)) == (2, {"u": {0, 1}})
    assert context.state() == ("Assigning", 3, 2)
    assert context.partitions(context.member("m1").pending_revocation) == {"t": {0, 1}}
    context.heartbeat("m1", 2, owned={"u": {0, 1}})
    context.pass_time(1_000)
    assert context.heartbeat("m1", 2).member_epoch == 3


class TestBetweenAssignments:
    """`group.consumer.assignment.interval.ms`."""

    def test_members_wait_for_the_next_one(self):
        context = Context(group_consumer_assignment_interval_ms=1_000)
        context.topic("t", 2)
        context.join("m1", "t")
        late = context.join("m2", "t")
        assert (late.member_epoch, context.told(late)) == (2, {})
        assert context.state() == ("Assigning", 3, 2)
        context.pass_time(999)
        assert context.heartbeat("m1", 2).assignment is None
        context.join("m3", "t")
        context.pass_time(1)
        assert context.told(context.heartbeat("m1", 2)) == {"t": context.has("m1")["t"]}
        assert context.state() == ("Reconciling", 4, 4)

    def test_an_empty_group_waits_for_nothing(self):
        context = Context(group_consumer_assignment_interval_ms=1_000)
        context.topic("t", 2)
        context.join("m1", "t")
        context.leave("m1")
        assert context.told(context.join("m2", "t")) == {"t": {0, 1}}

    def test_a_group_has_its_own(self):
        context = Context(group_consumer_assignment_interval_ms=1_000)
        context.configs["g"] = GroupConfig(assignment_interval_ms=0, heartbeat_interval_ms=6_000)
        context.topic("t", 2)
        assert context.join("m1", "t").heartbeat_interval_ms == 6_000
        assert context.join("m2", "t").member_epoch == 3

    def test_it_runs_while_the_broker_s_clock_stands(self):
        context = Context(group_consumer_assignment_interval_ms=1_000)
        context.topic("t", 2)
        context.join("m1", "t")
        context.join("m2", "t")
        context.timer_ms += 1_000
        context.heartbeat("m1", 2)
        assert context.state()[0] == "Reconciling"

    def test_a_new_coordinator_goes_on_counting(self):
        context = Context(group_consumer_assignment_interval_ms=1_000)
        context.topic("t", 2)
        context.join("m1", "t")
        context.pass_time(600)
        context = context.restart()
        context.join("m2", "t")
        assert context.state()[0] == "Assigning"
        context.pass_time(399)
        context.heartbeat("m1", 2)
        assert context.state()[0] == "Assigning"
        context.pass_time(1)
        context.heartbeat("m1", 2)
        assert context.state()[0] == "Reconciling"


def test_an_empty_simple_group_becomes_a_consumer_group(context: Context):
    context.coordinator.create("g", context.broker_ms)
    with refused(ErrorCode.GROUP_ID_NOT_FOUND, "Group g is not a consumer group."):
        context.heartbeat("m1", 1)
    assert context.join("m1", "t").member_epoch == 2
    assert type(context.records[0]).__name__ == "GroupTombstone"


def test_a_refused_join_leaves_no_group(context: Context):
    with refused(ErrorCode.INVALID_REGULAR_EXPRESSION):
        context.join("m1", topics=None, regex="[")
    assert context.coordinator.groups == {}
    assert context.coordinator.next_deadline() is None


def test_what_a_first_join_writes(context: Context):
    context.join("m1", "t")
    assert [type(record).__name__ for record in context.records] == [
        "ConsumerGroupMemberMetadata",
        "ConsumerGroupMetadata",
        "ConsumerGroupTargetAssignmentMember",
        "ConsumerGroupTargetAssignmentMetadata",
        "ConsumerGroupCurrentMemberAssignment",
    ]
    assert isinstance(context.records[1], ConsumerGroupMetadata)
    assert context.records[1].epoch == 2
    assert context.records[3] == ConsumerGroupTargetAssignmentMetadata("g", 2, context.broker_ms)


def test_what_it_has_let_go_of_and_is_to_have_again_a_member_gets_at_once(context: Context):
    context.join("m1", "t")
    context.join("m2", "t")
    keeps = context.told(context.heartbeat("m1", 2))
    context.leave("m2")
    again = context.heartbeat("m1", 2, owned=keeps)
    assert (again.member_epoch, context.told(again)) == (4, {"t": {0, 1, 2, 3}})


def test_a_member_that_is_to_have_nothing_has_a_target_too(context: Context):
    context.topic("one", 1)
    context.join("m1", "one")
    context.join("m2", "one")
    targets = [one for one in context.records if isinstance(one, ConsumerGroupTargetAssignmentMember)]
    assert {one.member_id: bool(one.partitions) for one in targets} == {"m1": True, "m2": False}


def test_a_member_without_partitions_that_subscribes_to_nothing_any_more_is_past_its_last_epoch():
    context = Context(group_consumer_assignment_interval_ms=1_000)
    context.join("m1", "nope")
    assert context.member("m1").previous_member_epoch == 0
    context.heartbeat("m1", 2, topics=[])
    assert context.member("m1").previous_member_epoch == 2


def test_a_static_member_finds_its_place_in_a_full_group():
    context = Context(group_consumer_max_size=1)
    context.join("m1", "t", instance="i1")
    context.leave("m1", -2, instance="i1")
    assert context.join("m2", "t", instance="i1").member_epoch == 2


class TestWhatAnAssignorIsTold:
    @pytest.fixture
    def told(self, context: Context) -> list[GroupSpec]:
        """What the assignor was given, each time."""
        given: list[GroupSpec] = []
        uniform = context.coordinator.consumer.context.assignors["uniform"]

        class Listening:
            name = "uniform"

            def assign(self, spec: GroupSpec, topics: TopicDescriber, pace: Pace = no_pause) -> dict[str, Assignment]:
                given.append(spec)
                return uniform.assign(spec, topics)

        context.coordinator.consumer.context.assignors["uniform"] = Listening()
        return given

    def test_whether_all_subscribe_to_the_same(self, context: Context, told: list[GroupSpec]):
        context.topic("u", 1)
        for member, topics in (("m1", "t"), ("m2", "t"), ("m3", "u")):
            context.join(member, topics)
        context.leave("m3")
        context.heartbeat("m1", context.member("m1").member_epoch)
        assert [spec.homogeneous for spec in told] == [True, True, False, True]

    def test_the_members_with_what_they_were_to_have(self, context: Context, told: list[GroupSpec]):
        context.topic("u", 1)
        context.join("m1", "t", "u", "nope", rack="r")
        context.join("m2", "t", instance="i2")
        assert set(told[1].members) == {"m1", "m2"}
        first, second = told[1].members["m1"], told[1].members["m2"]
        assert (first.rack_id, first.instance_id, second.rack_id, second.instance_id) == ("r", None, None, "i2")
        assert set(first.topic_ids) == {context.id_of("t"), context.id_of("u")}
        assert context.partitions(first.assigned) == {"t": {0, 1, 2, 3}, "u": {0}}
        assert second.assigned == {}

    def test_a_static_member_that_returns_with_what_its_instance_was_to_have(
        self, context: Context, told: list[GroupSpec]
    ):
        context.topic("u", 1)
        context.join("m1", "t", instance="i1")
        context.leave("m1", -2, instance="i1")
        context.join("m2", "t", "u", instance="i1")
        assert set(told[1].members) == {"m2"}
        assert context.partitions(told[1].members["m2"].assigned) == {"t": {0, 1, 2, 3}}
