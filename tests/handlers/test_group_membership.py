"""SyncGroup, Heartbeat and LeaveGroup, from the members' side."""

from __future__ import annotations

import pytest

from kafkastub.coordinator import GroupMetadata
from kafkawire.errors import ErrorCode
from tests.coordinator.context import CoordinatorTestContext, Member, Parked


def code(answer) -> ErrorCode:
    return ErrorCode((answer.answer if isinstance(answer, Parked) else answer).error_code)


# -- SyncGroup -------------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("SG-1")
@pytest.mark.parametrize("version", range(6))
def test_followers_wait_for_the_leaders_assignment(version: int):
    context = CoordinatorTestContext()
    leader, *followers = context.joined(3)
    waiting = [context.sync(m, version=version) for m in followers]
    assert not any(w.answered for w in waiting)
    shares = {leader.member_id: b"L", followers[0].member_id: b"F"}
    answers = [w.answer for w in (context.sync(leader, shares, version=version), *waiting)]
    assert [a.assignment for a in answers] == [b"L", b"F", b""]
    if version >= 5:
        assert {(a.protocol_type, a.protocol_name) for a in answers} == {("consumer", "range")}
    assert context.group_state() == "Stable"
    persisted = context.records[-1]
    assert isinstance(persisted, GroupMetadata)
    assert {m.member_id: m.assignment for m in persisted.members} == {**shares, followers[1].member_id: b""}
    assert context.coordinator.completed_rebalances == 1


@pytest.mark.behaviour("SG-1")
def test_a_session_does_not_run_out_while_the_sync_is_parked():
    context = CoordinatorTestContext()
    leader, follower = context.joined(2, session=10_000)
    waiting = context.sync(follower)
    for _ in range(3):
        context.advance(9_000)
        assert context.heartbeat(leader) is ErrorCode.NONE
    context.sync(leader, {follower.member_id: b"F"})
    assert waiting.answer.assignment == b"F"


@pytest.mark.behaviour("SG-2")
def test_a_sync_of_a_stable_group_answers_the_members_assignment():
    context = CoordinatorTestContext()
    members = context.stable(2)
    again = [context.sync(m, {members[0].member_id: b"other"}).answer for m in members]
    assert [a.assignment for a in again] == [m.member_id.encode() for m in members]
    assert context.group_state() == "Stable"


@pytest.mark.behaviour("SG-3")
def test_a_sync_while_joins_are_collected():
    context = CoordinatorTestContext()
    leader, follower = context.stable(2)
    context.join(member_id=leader.member_id)
    assert code(context.sync(follower)) is ErrorCode.REBALANCE_IN_PROGRESS


@pytest.mark.behaviour("SG-3")
def test_parked_syncs_are_told_of_a_new_rebalance():
    context = CoordinatorTestContext()
    _, follower = context.joined(2)
    waiting = context.sync(follower)
    context.join_twice()
    answer = waiting.answer
    assert (answer.error_code, answer.assignment) == (ErrorCode.REBALANCE_IN_PROGRESS, b"")
    assert (answer.protocol_type, answer.protocol_name) == (None, None)


@pytest.mark.behaviour("SG-4")
@pytest.mark.parametrize("version", range(6))
def test_a_sync_of_nobody(version: int):
    context = CoordinatorTestContext()
    context.stable()
    context.commit("empty")
    for group in ("g", "empty", "none"):
        assert code(context.sync(Member(group, "nobody", 1), version=version)) is ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.behaviour("SG-5")
def test_a_sync_of_another_generation():
    context = CoordinatorTestContext()
    (member,) = context.stable()
    for generation in (0, 2, -1):
        assert code(context.sync(Member("g", member.member_id, generation))) is ErrorCode.ILLEGAL_GENERATION


@pytest.mark.behaviour("SG-6")
def test_a_sync_of_a_replaced_static_member():
    context = CoordinatorTestContext()
    old = context.static("i1")["i1"]
    context.join(instance="i1")
    assert code(context.sync(old, instance="i1")) is ErrorCode.FENCED_INSTANCE_ID
    assert code(context.sync(old, instance="i9")) is ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.behaviour("SG-7")
@pytest.mark.parametrize(
    ("protocol_type", "protocol"), [("connect", "range"), ("consumer", "sticky"), (None, "range"), ("consumer", None)]
)
def test_a_sync_with_another_protocol(protocol_type: str | None, protocol: str | None):
    context = CoordinatorTestContext()
    (member,) = context.stable()
    answer = context.sync(member, protocol_type=protocol_type, protocol=protocol)
    assert code(answer) is ErrorCode.INCONSISTENT_GROUP_PROTOCOL


@pytest.mark.behaviour("SG-7")
def test_a_missing_protocol_comes_before_everything_else():
    context = CoordinatorTestContext()
    assert code(context.sync(Member("", "", 0), protocol=None)) is ErrorCode.INCONSISTENT_GROUP_PROTOCOL


@pytest.mark.behaviour("SG-8")
def test_who_does_not_sync_in_time_is_out():
    context = CoordinatorTestContext()
    leader, follower, silent = context.joined(3, session=100_000, rebalance=20_000)
    context.sync(leader)
    context.sync(follower)
    context.advance(19_999)
    assert context.group_state() == "Stable"
    context.advance(1)
    assert context.group_state() == "PreparingRebalance"
    assert context.heartbeat(silent) is ErrorCode.UNKNOWN_MEMBER_ID
    parked = [context.join(member_id=m.member_id) for m in (leader, follower)]
    assert {p.answer.generation_id for p in parked} == {2}


@pytest.mark.behaviour("SG-8")
def test_a_leader_that_does_not_sync_in_time_is_out_and_the_parked_syncs_are_told():
    context = CoordinatorTestContext()
    _, follower = context.joined(2, session=100_000, rebalance=20_000)
    waiting = context.sync(follower)
    context.advance(20_000)
    assert code(waiting) is ErrorCode.REBALANCE_IN_PROGRESS
    assert context.join(member_id=follower.member_id).answer.leader == follower.member_id


@pytest.mark.behaviour("SG-9")
@pytest.mark.parametrize("version", range(6))
def test_a_sync_of_the_empty_group_id(version: int):
    context = CoordinatorTestContext()
    assert code(context.sync(Member("", "m", 1), version=version)) is ErrorCode.INVALID_GROUP_ID


# -- Heartbeat -------------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("HB-1")
@pytest.mark.parametrize("version", range(5))
def test_heartbeats_keep_a_member_alive(version: int):
    context = CoordinatorTestContext()
    (member,) = context.stable(session=10_000)
    for _ in range(5):
        context.advance(9_999)
        assert context.heartbeat(member, version=version) is ErrorCode.NONE
    context.advance(9_999)
    assert context.group_state() == "Stable"
    context.advance(1)
    assert context.group_state() == "Empty"
    assert context.heartbeat(member, version=version) is ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.behaviour("HB-1")
def test_a_lost_member_makes_the_group_rebalance():
    context = CoordinatorTestContext()
    leader, _lost = context.stable(2, session=10_000)
    context.advance(9_000)
    context.heartbeat(leader)
    context.advance(1_000)
    assert context.heartbeat(leader) is ErrorCode.REBALANCE_IN_PROGRESS
    again = context.join(member_id=leader.member_id)
    assert [m.member_id for m in again.answer.members] == [leader.member_id]


def test_moving_broker_time_alone_throws_nobody_out():
    context = CoordinatorTestContext()
    (member,) = context.stable()
    context.broker_ms += 10**9
    context.state.expire(context.broker_ms, context.timer_ms)
    assert context.heartbeat(member) is ErrorCode.NONE


@pytest.mark.behaviour("HB-2")
def test_heartbeats_during_a_rebalance():
    context = CoordinatorTestContext()
    leader, follower = context.stable(2, session=10_000)
    context.join(member_id=leader.member_id)
    for _ in range(4):
        context.advance(9_000)
        assert context.heartbeat(follower) is ErrorCode.REBALANCE_IN_PROGRESS
    context.join(member_id=follower.member_id)
    assert context.heartbeat(Member("g", follower.member_id, 2)) is ErrorCode.NONE


def test_a_session_does_not_run_out_while_the_join_is_parked():
    context = CoordinatorTestContext()
    leader, follower = context.stable(2, session=10_000)
    waiting = context.join(member_id=leader.member_id)
    for _ in range(5):
        context.advance(9_000)
        context.heartbeat(follower)
    assert not waiting.answered
    context.join(member_id=follower.member_id)
    assert waiting.answer.generation_id == 2


@pytest.mark.behaviour("HB-3")
@pytest.mark.parametrize("version", range(5))
def test_a_heartbeat_of_nobody(version: int):
    context = CoordinatorTestContext()
    context.stable()
    context.commit("empty")
    for group in ("g", "empty", "none"):
        assert context.heartbeat(Member(group, "nobody", 1), version=version) is ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.behaviour("HB-4")
def test_a_heartbeat_of_another_generation():
    context = CoordinatorTestContext()
    (member,) = context.stable()
    for generation in (0, 2, -1):
        assert context.heartbeat(Member("g", member.member_id, generation)) is ErrorCode.ILLEGAL_GENERATION


@pytest.mark.behaviour("HB-5")
def test_a_heartbeat_of_a_replaced_static_member():
    context = CoordinatorTestContext()
    old = context.static("i1")["i1"]
    new = Member("g", context.join(instance="i1").answer.member_id, 1)
    assert context.heartbeat(old, "i1") is ErrorCode.FENCED_INSTANCE_ID
    assert context.heartbeat(old) is ErrorCode.UNKNOWN_MEMBER_ID
    assert context.heartbeat(new, "i9") is ErrorCode.UNKNOWN_MEMBER_ID
    assert context.heartbeat(new, "i1") is ErrorCode.NONE
    assert context.heartbeat(new) is ErrorCode.NONE


@pytest.mark.behaviour("HB-6")
@pytest.mark.parametrize("version", range(5))
def test_a_heartbeat_of_the_empty_group_id(version: int):
    context = CoordinatorTestContext()
    assert context.heartbeat(Member("", "m", 1), version=version) is ErrorCode.INVALID_GROUP_ID


# -- LeaveGroup ------------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("LG-1")
@pytest.mark.parametrize("version", range(6))
def test_a_member_leaves(version: int):
    context = CoordinatorTestContext()
    leader, follower = context.stable(2)
    assert context.leave("g", (leader.member_id, None), version=version).error_code == 0
    assert context.heartbeat(follower) is ErrorCode.REBALANCE_IN_PROGRESS
    assert context.join(member_id=follower.member_id).answer.leader == follower.member_id


@pytest.mark.behaviour("LG-1")
def test_the_last_member_leaves_an_empty_group():
    context = CoordinatorTestContext()
    (member,) = context.stable()
    context.leave("g", (member.member_id, None))
    assert context.group_state() == "Empty"
    emptied = context.records[-1]
    assert isinstance(emptied, GroupMetadata)
    assert (emptied.generation, emptied.members) == (2, ())


@pytest.mark.behaviour("LG-2", "LG-4", "LG-5", "LG-6")
@pytest.mark.parametrize("version", range(3, 6))
def test_a_batch_leaves_each_judged_by_itself(version: int):
    context = CoordinatorTestContext()
    old = context.static("i1", "i2", "i3")
    answer = context.leave(
        "g", (old["i1"].member_id, "i1"), ("", "i2"), ("nobody", None), ("", "i9"), ("", None), ("x", "i3"),
        version=version,
    )  # fmt: skip
    assert answer.error_code == 0
    assert [(m.member_id, m.group_instance_id, m.error_code) for m in answer.members] == [
        (old["i1"].member_id, "i1", 0),
        ("", "i2", 0),
        ("nobody", None, ErrorCode.UNKNOWN_MEMBER_ID),
        ("", "i9", ErrorCode.UNKNOWN_MEMBER_ID),
        ("", None, ErrorCode.UNKNOWN_MEMBER_ID),
        ("x", "i3", ErrorCode.FENCED_INSTANCE_ID),
    ]
    again = context.join(member_id=old["i3"].member_id, instance="i3").answer
    assert again.generation_id == 2
    assert [m.group_instance_id for m in again.members] == ["i3"]


@pytest.mark.behaviour("LG-3", "LG-6")
@pytest.mark.parametrize("version", range(3))
def test_before_version_3_the_members_error_is_the_answers(version: int):
    context = CoordinatorTestContext()
    context.stable()
    assert code(context.leave("g", ("nobody", None), version=version)) is ErrorCode.UNKNOWN_MEMBER_ID
    assert code(context.leave("none", ("nobody", None), version=version)) is ErrorCode.UNKNOWN_MEMBER_ID
    assert context.group_state() == "Stable"


@pytest.mark.behaviour("LG-6")
@pytest.mark.parametrize("version", range(3, 6))
def test_leaving_a_group_that_does_not_exist(version: int):
    context = CoordinatorTestContext()
    answer = context.leave("none", ("m", None), ("", "i"), version=version)
    assert answer.error_code == 0
    assert [(m.member_id, m.group_instance_id, m.error_code) for m in answer.members] == [
        ("m", None, ErrorCode.UNKNOWN_MEMBER_ID),
        ("", "i", ErrorCode.UNKNOWN_MEMBER_ID),
    ]


@pytest.mark.behaviour("LG-7")
def test_a_pending_member_gives_up_and_the_rebalance_goes_on():
    context = CoordinatorTestContext()
    (member,) = context.stable()
    pending = context.join().answer.member_id
    waiting = context.join(member_id=member.member_id)
    assert not waiting.answered
    assert context.leave("g", (pending, None)).members[0].error_code == 0
    assert waiting.answer.generation_id == 2


@pytest.mark.behaviour("LG-8")
def test_a_parked_join_of_a_member_that_leaves():
    context = CoordinatorTestContext()
    leader, follower = context.stable(2)
    waiting = context.join(member_id=leader.member_id)
    context.leave("g", (leader.member_id, None))
    assert (code(waiting), waiting.answer.member_id) == (ErrorCode.UNKNOWN_MEMBER_ID, "")
    assert context.join(member_id=follower.member_id).answer.leader == follower.member_id


@pytest.mark.behaviour("LG-9")
@pytest.mark.parametrize("version", range(6))
def test_leaving_the_empty_group_id(version: int):
    context = CoordinatorTestContext()
    assert code(context.leave("", ("m", None), version=version)) is ErrorCode.INVALID_GROUP_ID


def test_a_static_member_stays_when_it_is_silent_only_until_its_session_is_over():
    context = CoordinatorTestContext()
    old = context.static("i1", "i2", session=10_000)
    context.advance(9_999)
    context.heartbeat(old["i1"], "i1")
    context.advance(1)
    assert context.heartbeat(old["i1"], "i1") is ErrorCode.REBALANCE_IN_PROGRESS
    assert context.leave("g", ("", "i2")).members[0].error_code == ErrorCode.UNKNOWN_MEMBER_ID
