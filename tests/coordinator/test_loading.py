"""A coordinator out of its records, and the end of one."""

from __future__ import annotations

from random import Random

from kafkastub.coordinator import GroupCoordinator, GroupMetadata, MemberMetadata, OffsetCommit, PartitionCommit, Record
from kafkastub.coordinator.classic.states import State
from kafkastub.state.topics import ensure_offsets_topic
from kafkawire.errors import ErrorCode
from tests.coordinator.context import RETENTION_MS, START_MS, CoordinatorTestContext, subscription, take_over


def restarted(context: CoordinatorTestContext, *more: Record) -> CoordinatorTestContext:
    """Another broker with the same configuration and topics, out of the first one's records."""
    other = CoordinatorTestContext(context.state.profile.name)
    other.state.config = context.state.config
    take_over(other.state, GroupCoordinator(context.state.config, context.state.profile, Random(2)))
    other.broker_ms = context.broker_ms
    ensure_offsets_topic(other.state)
    for record in (*context.records, *more):
        other.coordinator.apply(record)
    other.coordinator.loaded(other.broker_ms, other.timer_ms)
    return other


def test_a_stable_group_goes_on_after_a_restart():
    context = CoordinatorTestContext()
    leader, follower = context.stable(2)
    context.commit("g", {"a": {0: 7}}, generation=1, member_id=leader.member_id, metadata="m", epoch=3)
    other = restarted(context)
    assert other.group_state() == "Stable"
    assert other.heartbeat(follower) is ErrorCode.NONE
    assert other.sync(leader).answer.assignment == leader.member_id.encode()
    assert other.fetch() == {("a", 0): (7, 3, "m")}
    assert other.delete_offsets("g", {"a": [0]}).topics[0].partitions[0].error_code == 86


def test_members_that_do_not_come_back_are_out_after_their_session():
    context = CoordinatorTestContext()
    context.stable(2, session=10_000)
    other = restarted(context)
    other.advance(9_999)
    assert other.group_state() == "Stable"
    other.advance(1)
    assert other.group_state() == "Empty"


def test_static_members_are_known_after_a_restart():
    context = CoordinatorTestContext()
    old = context.static("i1", "i2")
    other = restarted(context)
    back = other.join(instance="i2").answer
    assert (back.generation_id, back.leader) == (1, old["i1"].member_id)


def test_a_rebalance_in_progress_is_forgotten():
    context = CoordinatorTestContext()
    leader, _ = context.stable(2)
    context.join(member_id=leader.member_id)
    context.join("new")
    other = restarted(context)
    assert other.group_state() == "Stable"
    assert other.group_state("new") == "Empty"
    assert other.sweep().records[-1].group_id == "new"


def test_an_emptied_groups_age_counts_on():
    context = CoordinatorTestContext()
    (member,) = context.stable()
    context.commit("g", generation=1, member_id=member.member_id)
    context.leave("g", (member.member_id, None))
    other = restarted(context)
    assert other.sweep(RETENTION_MS - 1).records == []
    assert len(other.sweep(1).records) == 2


def test_an_empty_group_without_a_state_timestamp_is_as_old_as_each_commit():
    context = CoordinatorTestContext()
    commit = OffsetCommit("g", "a", [PartitionCommit(0, 1)], START_MS - 5)
    other = restarted(context, GroupMetadata("g", "consumer", 3, None, None, -1), commit)
    assert other.sweep(RETENTION_MS - 6).records == []
    assert len(other.sweep(1).records) == 2


def test_a_group_that_only_has_offsets_is_a_simple_one():
    context = CoordinatorTestContext()
    context.commit("g")
    other = restarted(context)
    assert (other.group_state(), other.describe().protocol_type) == ("Empty", "")
    assert other.coordinator.groups["g"].protocol_type is None


def test_a_group_that_is_too_large_for_the_configuration_rebalances():
    context = CoordinatorTestContext(group_max_size=1)
    members = tuple(MemberMetadata(f"m{i}", None, "c", "/h", -1, 10_000, subscription("a"), b"x") for i in range(2))
    other = restarted(context, GroupMetadata("g", "consumer", 4, "range", "m0", START_MS, members))
    assert other.group_state() == "PreparingRebalance"
    first = other.join(member_id="m1")
    assert not first.answered
    assert other.join(member_id="m0").answer.error_code == ErrorCode.GROUP_MAX_SIZE_REACHED


def test_an_unloaded_coordinator_sends_everybody_away_and_forgets():
    context = CoordinatorTestContext()
    context.commit("offsets")
    _leader, follower = context.joined(2)
    sync = context.sync(follower)
    join = context.join("h", version=3)
    turn = context.coordinator.unload(context.broker_ms, context.timer_ms)
    for token, response in turn.completions:
        token.complete(response)
    assert (sync.answer.error_code, join.answer.error_code) == (ErrorCode.NOT_COORDINATOR,) * 2
    assert context.coordinator.groups == {}
    assert context.coordinator.next_deadline() is None
    assert context.fetch("offsets") == {}


def test_every_group_that_is_removed_is_dead():
    context = CoordinatorTestContext()
    context.commit("g")
    group = context.coordinator.groups["g"]
    context.delete_groups("g")
    assert group.state is State.DEAD
