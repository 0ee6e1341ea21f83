"""Groups go from the classic protocol to the new one and back, as far as the policy lets them (KIP-848)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kafkastub.coordinator.records import GroupMetadata
from kafkawire.errors import ErrorCode
from tests.consumer_groups.context import refused
from tests.consumer_groups.migration_player import subscription
from tests.consumer_groups.mixed import MixedContext

POLICIES = ("disabled", "upgrade", "downgrade", "bidirectional")


def group_of(policy: str) -> MixedContext:
    return MixedContext(group_consumer_migration_policy=policy)


@pytest.mark.behaviour("CG-12")
@pytest.mark.parametrize("policy", POLICIES)
def test_the_policy_says_whether_a_classic_group_is_upgraded(policy: str):
    context = group_of(policy)
    first, _ = context.stable_pair()
    if policy in ("upgrade", "bidirectional"):
        assert context.join("new", "a").member_epoch == 3
        assert context.classic_heartbeat(first, 2) is ErrorCode.REBALANCE_IN_PROGRESS
    else:
        why = "Cannot upgrade classic group g to consumer group because online upgrade is disabled."
        with refused(ErrorCode.GROUP_ID_NOT_FOUND, why):
            context.join("new", "a")
        assert context.classic_heartbeat(first, 2) is ErrorCode.NONE


@pytest.mark.behaviour("JG-25")
@pytest.mark.parametrize("policy", POLICIES)
def test_the_policy_says_whether_a_consumer_group_is_downgraded(policy: str):
    context = group_of(policy)
    context.topic("a", 4)
    context.join("new", "a")
    answer = context.classic_join("old")
    if policy == "disabled":
        assert answer.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        return
    assert answer.error_code == ErrorCode.NONE
    context.leave("new")
    if policy in ("downgrade", "bidirectional"):
        assert context.classic().state_name == "PreparingRebalance"
        assert context.classic_heartbeat("old", 3) is ErrorCode.REBALANCE_IN_PROGRESS
    else:
        assert context.state() == ("Assigning", 4, 3)
        assert context.catch_up("old") == {"a": {0, 1, 2, 3}}


@pytest.mark.parametrize("policy", POLICIES)
def test_empty_groups_go_over_whatever_the_policy(policy: str):
    context = group_of(policy)
    context.topic("a", 1)
    context.join("new", "a")
    context.leave("new")
    old = context.enter().member_id
    assert context.classic().size == 1
    assert context.classic_leave(old) == [ErrorCode.NONE]
    assert context.join("new", "a").member_epoch == 2


@pytest.mark.behaviour("CG-12")
def test_members_of_a_classic_group_keep_what_they_have_through_an_upgrade():
    context = MixedContext()
    first, second = context.stable_pair()
    context.join("new", "a")
    has = [context.catch_up(first), context.catch_up(second)]
    context.follow("new")
    has = [context.catch_up(first), context.catch_up(second), context.has("new")]
    assert sorted(partition for one in has for partition in one["a"]) == [0, 1, 2, 3]
    assert context.state() == ("Stable", 3, 3)


@pytest.mark.behaviour("CG-12")
def test_who_was_parked_in_a_classic_group_joins_again():
    context = MixedContext()
    context.topic("a", 4)
    first = context.enter().member_id
    second = context.classic_join("").member_id
    parked = context.start_join(second)
    context.join("new", "a")
    answer = context.answers.pop(parked)
    assert (answer.error_code, answer.member_id) == (ErrorCode.REBALANCE_IN_PROGRESS, second)
    assert context.classic_heartbeat(first, 1) is ErrorCode.REBALANCE_IN_PROGRESS


@pytest.mark.behaviour("CG-12")
def test_a_refused_upgrade_leaves_everything_as_it_was():
    context = MixedContext(group_consumer_max_size=2)
    first, _ = context.stable_pair()
    written, deadlines = len(context.records), context.coordinator.next_deadline()
    with refused(ErrorCode.GROUP_MAX_SIZE_REACHED):
        context.join("new", "a")
    assert len(context.records) == written
    assert context.classic_heartbeat(first, 2) is ErrorCode.NONE
    assert context.classic().state_name == "Stable"
    assert context.coordinator.next_deadline() == deadlines


def test_an_invalid_expression_does_not_upgrade_a_group():
    context = MixedContext()
    first, _ = context.stable_pair()
    with refused(ErrorCode.INVALID_REGULAR_EXPRESSION):
        context.heartbeat("new", 0, regex="[", owned={}, rebalance_ms=1)
    assert context.classic_heartbeat(first, 2) is ErrorCode.NONE
    context.pass_time(9_999)
    assert context.classic().size == 2


@pytest.mark.behaviour("CG-12")
def test_a_group_that_is_too_large_for_the_new_protocol_stays_classic():
    context = MixedContext(group_consumer_max_size=1)
    context.stable_pair()
    why = "Cannot upgrade classic group g to consumer group because the group size exceeds"
    with refused(ErrorCode.GROUP_ID_NOT_FOUND, why):
        context.join("new", "a")


def test_a_partition_that_two_members_were_assigned_cannot_be_upgraded():
    context = MixedContext()
    first, second = context.stable_pair()
    parked = context.start_join(first)
    context.classic_join(second)
    context.answers.pop(parked)
    context.start_sync(first, 3, {first: {"a": [0, 1]}, second: {"a": [1]}})
    with refused(ErrorCode.UNKNOWN_SERVER_ERROR):
        context.join("new", "a")


def test_a_group_that_is_too_large_for_the_classic_protocol_is_not_downgraded():
    context = MixedContext(group_max_size=1)
    context.topic("a", 4)
    context.join("new", "a")
    context.classic_join("one")
    context.classic_join("two")
    context.leave("new")
    assert context.state()[0] == "Assigning"
    assert sorted(p for one in ("one", "two") for p in context.catch_up(one)["a"]) == [0, 1, 2, 3]


def test_members_without_a_version_in_the_chosen_protocol_keep_a_group_from_being_downgraded():
    context = MixedContext()
    context.topic("a", 4)
    context.join("new", "a")
    context.classic_join("one", protocols={"range": subscription(["a"]), "roundrobin": b""})
    context.classic_join("two", protocols={"roundrobin": subscription(["a"])})
    why = "Cannot downgrade the classic group g"
    with refused(ErrorCode.GROUP_ID_NOT_FOUND, why):
        context.leave("new")
    assert context.state()[0] == "Reconciling"
    context.pass_time(9_999)
    for member in ("one", "two"):
        context.classic_heartbeat(member, context.member(member).member_epoch)
    context.pass_time(35_001)
    assert "new" not in context.group().members


MEASURED = (
    *("BB", "Aa", "a-long-name", "zz", "m0", "m1", "m2", "m3", "m4"),
    *("m5", "m6", "m7", "m8", "m11", "m9", "m10", "m13", "m12"),
)
"""Members of a group that has become classic, in the order of Kafka 4.4.0's DescribeGroups."""


@pytest.mark.parametrize("members", [MEASURED[:7], MEASURED], ids=len)
def test_members_of_a_group_that_becomes_classic_are_in_the_order_of_kafkas_map(members: Sequence[str]):
    context = MixedContext()
    context.topic("a", 4)
    context.join("n1-member", "a")
    for member in (*sorted(members[4:], key=lambda name: int(name[1:])), "a-long-name", "zz", "Aa", "BB"):
        context.classic_join(member)
    context.leave("n1-member")
    described = context.coordinator.classic.describe(context.classic())
    assert described is not None
    assert [member.member_id for member in described.members] == list(members)
    record = next(one for one in reversed(context.records) if isinstance(one, GroupMetadata))
    assert [member.member_id for member in record.members] == list(members)
    assert record.leader == "m0"


def test_a_protocol_that_is_named_twice_may_leave_members_with_none_in_common():
    """It counts twice. Then the last new member cannot leave, in Kafka as here (ClassicGroupMember.vote)."""
    context = MixedContext()
    context.topic("a", 4)
    context.join("new", "a")
    mine = subscription(["a"])
    context.classic_join("one", protocols=[("range", mine), ("range", mine), ("roundrobin", mine)])
    context.classic_join("two", protocols={"roundrobin": mine})
    assert context.classic_join("three", protocols={"range": mine}).error_code == ErrorCode.NONE
    with refused(ErrorCode.UNKNOWN_SERVER_ERROR):
        context.leave("new")
    assert set(context.group().members) == {"new", "one", "two", "three"}


@pytest.mark.behaviour("CG-13")
@pytest.mark.parametrize("by", ["leaving", "session", "rebalance timeout", "LeaveGroup"])
def test_however_the_last_new_member_goes_the_group_becomes_classic(by: str):
    context = MixedContext(group_consumer_session_timeout_ms=50_000)
    context.topic("a", 4)
    context.join("new", "a", rebalance_ms=7_000)
    context.classic_join("old", session_ms=1_000_000)
    if by == "leaving":
        context.leave("new")
    elif by == "LeaveGroup":
        assert context.classic_leave("new") == [ErrorCode.NONE]
    elif by == "rebalance timeout":
        context.heartbeat("new", 2)  # has to let go of half, and does not
        context.pass_time(7_000)
    else:
        context.classic_sync("old", 3)
        context.pass_time(50_000)
    assert context.classic().state_name == "PreparingRebalance"
    answer = context.classic_join("old", session_ms=1_000_000)
    assert (answer.leader, answer.generation_id) == ("old", 4)


@pytest.mark.behaviour("JG-25")
def test_a_classic_member_needs_a_protocol_in_common_and_a_place():
    context = MixedContext(group_consumer_max_size=3)
    context.topic("a", 4)
    context.join("new", "a")
    context.classic_join("one", protocols={"range": subscription(["a"]), "sticky": subscription(["a"])})
    other = {"roundrobin": subscription(["a"])}
    assert context.classic_join("two", protocols=other).error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert context.classic_join("two", protocols={"range": b""}).error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert context.classic_join("two", protocols={"sticky": subscription(["a"])}).error_code == ErrorCode.NONE
    answer = context.classic_join("three", protocols={"sticky": subscription(["a"])})
    assert answer.error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert context.classic_join("two", protocols={"sticky": subscription(["a"])}).error_code == ErrorCode.NONE


@pytest.mark.behaviour("JG-26")
def test_a_downgraded_group_has_the_targets_as_its_assignments():
    context = MixedContext()
    context.topic("a", 4)
    context.join("new", "a", instance="i")
    context.classic_join("old")
    context.classic_sync("old", 3)
    context.follow("new")
    context.catch_up("old")
    answer = context.classic_join("", instance="i")
    assert context.classic().state_name == "Stable"
    assert (answer.error_code, answer.generation_id) == (ErrorCode.NONE, 3)
    has = [context.classic_sync("old", 3), context.classic_sync(answer.member_id, 3, instance="i")]
    assert sorted(partition for one in has for partition in one["a"]) == [0, 1, 2, 3]
    assert context.classic_heartbeat("old", 3) is ErrorCode.NONE


@pytest.mark.parametrize("upgraded", [True, False])
def test_what_was_converted_is_there_after_a_restart(upgraded: bool):
    context = MixedContext()
    first, second = context.stable_pair()
    context.join("new", "a")
    if not upgraded:
        context.leave("new")
    other = context.restart()
    assert isinstance(other, MixedContext)
    if upgraded:
        assert other.shown() == context.shown()
        assert other.catch_up(first)["a"] <= {0, 1}
    else:
        assert set(other.classic().members) == {first, second}
        assert other.classic().generation == context.classic().generation == 3
