"""JoinGroup, from the members' side."""

from __future__ import annotations

import re

import pytest

from kafkastub.coordinator import GroupMetadata
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from tests.coordinator.context import CoordinatorTestContext, Member, subscription

ALL_VERSIONS = range(10)
UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
RANGE, STICKY, BOTH = {"range": b"r"}, {"sticky": b"s"}, {"range": b"r", "sticky": b"s"}


def code(parked) -> ErrorCode:
    return ErrorCode(parked.answer.error_code)


@pytest.mark.behaviour("JG-1", "JG-4")
@pytest.mark.parametrize("version", range(4))
def test_an_old_member_joins_at_once_and_waits_for_the_group_to_meet(version: int):
    context = CoordinatorTestContext()
    first = context.join(version=version)
    context.advance(2_999)
    assert not first.answered
    context.advance(1)
    answer = first.answer
    assert (answer.error_code, answer.generation_id, answer.leader) == (0, 1, answer.member_id)
    assert [m.member_id for m in answer.members] == [answer.member_id]


@pytest.mark.behaviour("JG-2", "JG-3")
@pytest.mark.parametrize("version", range(4, 10))
def test_a_new_dynamic_member_is_given_its_id_first(version: int):
    context = CoordinatorTestContext()
    refused = context.join(version=version)
    assert code(refused) is ErrorCode.MEMBER_ID_REQUIRED
    assert re.fullmatch(f"client-{UUID}", refused.answer.member_id)
    assert refused.answer.generation_id == -1
    second = context.join(member_id=refused.answer.member_id, version=version)
    context.advance(3_000)
    assert second.answer.member_id == refused.answer.member_id


@pytest.mark.behaviour("JG-3")
def test_a_static_members_id_begins_with_its_instance_id():
    context = CoordinatorTestContext()
    parked = context.join(instance="node-7")
    context.advance(3_000)
    assert re.fullmatch(f"node-7-{UUID}", parked.answer.member_id)


def test_a_client_without_an_id_gets_a_member_id():
    context = CoordinatorTestContext()
    context.client_id = None
    assert re.fullmatch(f"-{UUID}", context.join().answer.member_id)


@pytest.mark.behaviour("JG-4")
def test_the_first_rebalance_waits_on_while_members_come_up_to_the_rebalance_timeout():
    context = CoordinatorTestContext()
    parked = [context.join(version=3, rebalance=8_000)]
    for waited in (3_000, 3_000, 2_000):
        parked.append(context.join(version=3, rebalance=8_000))
        assert not any(p.answered for p in parked)
        context.advance(waited)
    assert [p.answer.generation_id for p in parked] == [1, 1, 1, 1]


@pytest.mark.behaviour("JG-4")
def test_the_first_rebalance_does_not_wait_when_nobody_else_comes():
    context = CoordinatorTestContext()
    first = context.join(version=3)
    context.advance(1_000)
    second = context.join(version=3)
    context.advance(2_000)
    assert not first.answered
    context.advance(3_000)
    assert first.answered
    assert second.answered


def test_a_delay_of_zero_ends_the_first_rebalance_at_once():
    context = CoordinatorTestContext(group_initial_rebalance_delay_ms=0)
    parked = context.join(version=3)
    context.advance(0)
    assert parked.answer.generation_id == 1


@pytest.mark.behaviour("JG-5", "JG-6")
def test_a_rebalance_ends_with_the_last_member_that_joins():
    context = CoordinatorTestContext()
    members = context.stable(2)
    third = context.join_twice()
    assert context.group_state() == "PreparingRebalance"
    second = context.join(member_id=members[1].member_id)
    assert not second.answered
    first = context.join(member_id=members[0].member_id)
    answers = [p.answer for p in (first, second, third)]
    assert {a.generation_id for a in answers} == {2}
    assert {a.leader for a in answers} == {members[0].member_id}
    assert [len(a.members) for a in answers] == [3, 0, 0]
    assert {m.metadata for m in answers[0].members} == {subscription("a")}
    assert context.group_state() == "CompletingRebalance"


@pytest.mark.behaviour("JG-5", "JG-6")
def test_who_does_not_join_within_the_rebalance_timeout_is_out_the_leader_too():
    context = CoordinatorTestContext()
    leader, follower = context.stable(2, session=100_000, rebalance=5_000)
    joined = context.join(member_id=follower.member_id, protocols={"range": subscription("b")}, rebalance=5_000)
    context.advance(4_999)
    assert not joined.answered
    context.advance(1)
    assert joined.answer.leader == follower.member_id
    assert [m.member_id for m in joined.answer.members] == [follower.member_id]
    assert context.heartbeat(Member("g", leader.member_id, 2)) is ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.behaviour("JG-7")
@pytest.mark.parametrize(
    ("votes", "selected"),
    [
        ([["range"]], "range"),
        ([["range", "sticky"], ["sticky", "range"], ["sticky", "range"]], "sticky"),
        ([["range", "sticky"], ["sticky"]], "sticky"),
        ([["roundrobin", "range"], ["range", "roundrobin"]], "range"),
        ([["range", "roundrobin"], ["roundrobin", "range"]], "range"),
        ([["a", "b", "c"], ["c", "b"], ["b", "x"]], "b"),
    ],
)
def test_the_protocol_with_the_most_votes_among_those_that_all_support(votes: list[list[str]], selected: str):
    context = CoordinatorTestContext()
    parked = [context.join_twice(protocols={n: n.encode() for n in names}) for names in votes]
    context.advance(60_000)
    assert {p.answer.protocol_name for p in parked} == {selected}
    assert {m.metadata for m in parked[0].answer.members} == {selected.encode()}


@pytest.mark.behaviour("JG-7")
@pytest.mark.parametrize(
    ("named", "selected"), [(["range", "range", "sticky"], "sticky"), (["range", "range"], "range")]
)
def test_a_protocol_that_is_named_twice_is_selected_only_when_there_is_no_other(named: list[str], selected: str):
    context = CoordinatorTestContext(group_initial_rebalance_delay_ms=0)
    protocols = [JoinGroupRequestProtocol(n, b"") for n in named]
    request = JoinGroupRequest("g", 10_000, 60_000, "", None, "consumer", protocols)
    parked = context.call(ApiKey.JOIN_GROUP, 3, request)
    context.advance(0)
    assert parked.answer.protocol_name == selected


@pytest.mark.behaviour("JG-8")
def test_a_protocol_that_is_named_twice_is_still_no_protocol_of_all():
    """Kafka takes the last one in, for there are two of two, and never ends the rebalance."""
    context = CoordinatorTestContext(group_initial_rebalance_delay_ms=3_000)
    joins = []
    for names in (["range", "range", "sticky"], ["sticky"], ["range"]):
        protocols = [JoinGroupRequestProtocol(n, b"") for n in names]
        request = JoinGroupRequest("g", 10_000, 60_000, "", None, "consumer", protocols)
        joins.append(context.call(ApiKey.JOIN_GROUP, 3, request))
    assert code(joins[2]) is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    context.advance(60_000)
    assert [joined.answer.protocol_name for joined in joins[:2]] == ["sticky", "sticky"]


@pytest.mark.behaviour("JG-8")
@pytest.mark.parametrize("version", ALL_VERSIONS)
@pytest.mark.parametrize(
    ("protocol_type", "protocols"), [("connect", RANGE), ("consumer", STICKY), ("consumer", {}), ("", RANGE)]
)
def test_a_join_that_does_not_fit_the_group(version: int, protocol_type: str, protocols: dict[str, bytes]):
    context = CoordinatorTestContext()
    context.stable(protocols=RANGE)
    refused = context.join(protocol_type=protocol_type, protocols=protocols, version=version)
    assert code(refused) is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert refused.answer.member_id == ""


@pytest.mark.behaviour("JG-8")
@pytest.mark.parametrize(("protocol_type", "protocols"), [("consumer", {}), ("", RANGE)])
def test_a_first_join_without_protocols_leaves_an_empty_group_behind(protocol_type: str, protocols: dict[str, bytes]):
    context = CoordinatorTestContext()
    assert code(context.join(protocol_type=protocol_type, protocols=protocols)) is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert context.group_state() == "Empty"


@pytest.mark.behaviour("JG-9")
@pytest.mark.parametrize("version", ALL_VERSIONS)
def test_an_id_that_is_nobodys(version: int):
    context = CoordinatorTestContext()
    assert code(context.join("none", "somebody", version=version)) is ErrorCode.UNKNOWN_MEMBER_ID
    assert context.group_state("none") == "Dead"
    context.stable()
    refused = context.join("g", "somebody", version=version)
    assert (code(refused), refused.answer.member_id) == (ErrorCode.UNKNOWN_MEMBER_ID, "somebody")
    context.commit("empty")
    assert code(context.join("empty", "somebody", version=version)) is ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.behaviour("JG-10")
def test_joining_again_with_the_same_metadata_before_the_assignment():
    context = CoordinatorTestContext()
    leader, follower = context.joined(2)
    again = context.join(member_id=leader.member_id).answer
    assert (again.generation_id, len(again.members)) == (1, 2)
    again = context.join(member_id=follower.member_id).answer
    assert (again.generation_id, len(again.members)) == (1, 0)
    assert not context.join(member_id=follower.member_id, protocols={"range": b"new"}).answered
    assert context.group_state() == "PreparingRebalance"


@pytest.mark.behaviour("JG-10")
def test_a_follower_that_joins_a_stable_group_again_is_told_the_present_generation():
    context = CoordinatorTestContext()
    leader, follower = context.stable(2)
    again = context.join(member_id=follower.member_id).answer
    assert (again.error_code, again.generation_id, again.leader) == (0, 1, leader.member_id)
    assert again.members == ()
    assert context.group_state() == "Stable"


@pytest.mark.behaviour("JG-10")
def test_a_leader_that_joins_a_stable_group_again_makes_it_rebalance():
    context = CoordinatorTestContext()
    leader, follower = context.stable(2)
    assert not context.join(member_id=leader.member_id).answered
    assert context.heartbeat(follower) is ErrorCode.REBALANCE_IN_PROGRESS


@pytest.mark.behaviour("JG-10")
def test_a_follower_with_other_metadata_makes_a_stable_group_rebalance():
    context = CoordinatorTestContext()
    leader, follower = context.stable(2)
    assert not context.join(member_id=follower.member_id, protocols={"range": subscription("b")}).answered
    assert context.heartbeat(leader) is ErrorCode.REBALANCE_IN_PROGRESS


@pytest.mark.behaviour("JG-11")
def test_a_static_follower_that_is_back_takes_its_place_without_a_rebalance():
    context = CoordinatorTestContext()
    old = context.static("i1", "i2")
    back = context.join(instance="i2").answer
    assert (back.error_code, back.generation_id, back.leader) == (0, 1, old["i1"].member_id)
    assert back.member_id != old["i2"].member_id
    assert (back.members, back.skip_assignment) == ((), False)
    assert context.group_state() == "Stable"
    assert context.heartbeat(old["i2"], "i2") is ErrorCode.FENCED_INSTANCE_ID
    assert context.sync(Member("g", back.member_id, 1), instance="i2").answer.assignment == b"i2"
    persisted = context.records[-1]
    assert isinstance(persisted, GroupMetadata)
    shares = {m.member_id: m.assignment for m in persisted.members}
    assert shares == {old["i1"].member_id: b"i1", back.member_id: b"i2"}
    assert persisted.generation == 1


@pytest.mark.behaviour("JG-11")
def test_a_static_member_that_is_back_lives_as_long_as_its_session():
    context = CoordinatorTestContext()
    context.static("i1", "i2", session=10_000)
    context.advance(9_000)
    back = Member("g", context.join(instance="i2", session=10_000).answer.member_id, 1)
    context.advance(9_999)
    assert context.heartbeat(back, "i2") is not ErrorCode.UNKNOWN_MEMBER_ID
    context.advance(10_000)
    assert context.heartbeat(back, "i2") is ErrorCode.UNKNOWN_MEMBER_ID
    assert context.group_state() == "Empty"


@pytest.mark.behaviour("JG-11")
def test_a_static_member_that_is_back_with_another_protocol_selected_makes_the_group_rebalance():
    context = CoordinatorTestContext()
    context.static("i1", protocols=BOTH)
    back = context.join(instance="i1", protocols=STICKY)
    assert back.answer.generation_id == 2
    assert back.answer.protocol_name == "sticky"


@pytest.mark.behaviour("JG-12")
@pytest.mark.parametrize("version", range(5, 10))
def test_a_static_leader_that_is_back_does_not_assign_again(version: int):
    context = CoordinatorTestContext()
    old = context.static("i1", "i2", version=version)
    back = context.join(instance="i1", version=version).answer
    assert back.generation_id == 1
    if version >= 9:
        assert back.skip_assignment
        assert back.leader == back.member_id
        assert {m.group_instance_id for m in back.members} == {"i1", "i2"}
    else:
        assert back.leader == old["i1"].member_id != back.member_id
        assert back.members == ()


@pytest.mark.behaviour("JG-13")
def test_a_static_members_old_id_is_fenced_and_an_unknown_instance_is_unknown():
    context = CoordinatorTestContext()
    old = context.static("i1")["i1"]
    context.join(instance="i1")
    assert code(context.join(member_id=old.member_id, instance="i1")) is ErrorCode.FENCED_INSTANCE_ID
    assert code(context.join(member_id=old.member_id, instance="i9")) is ErrorCode.UNKNOWN_MEMBER_ID
    assert code(context.join(member_id=old.member_id)) is ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.behaviour("JG-13")
def test_a_parked_join_of_a_static_member_that_comes_twice_is_fenced():
    context = CoordinatorTestContext()
    first = context.join(instance="i1")
    second = context.join(instance="i1")
    assert code(first) is ErrorCode.FENCED_INSTANCE_ID
    context.advance(60_000)
    assert second.answer.generation_id == 1


@pytest.mark.behaviour("JG-14", "SG-6")
def test_a_static_member_that_is_back_while_syncs_are_awaited_makes_the_group_rebalance():
    context = CoordinatorTestContext()
    leader, follower = context.join(instance="i1"), context.join(instance="i2")
    context.advance(6_000)
    members = [Member("g", p.answer.member_id, 1) for p in (leader, follower)]
    waiting = context.sync(members[1], instance="i2")
    back = context.join(instance="i2")
    assert code(waiting) is ErrorCode.FENCED_INSTANCE_ID
    assert not back.answered
    assert context.heartbeat(members[0], "i1") is ErrorCode.REBALANCE_IN_PROGRESS
    context.join(member_id=members[0].member_id, instance="i1")
    assert back.answer.generation_id == 2


@pytest.mark.behaviour("JG-15")
def test_a_full_group_turns_new_members_away():
    context = CoordinatorTestContext(group_max_size=2)
    members = context.stable(2)
    assert code(context.join()) is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert code(context.join(instance="i")) is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert context.join(member_id=members[1].member_id).answer.error_code == 0


@pytest.mark.behaviour("JG-15")
def test_during_a_rebalance_the_joins_that_are_parked_count():
    context = CoordinatorTestContext(group_max_size=2)
    first, second = context.join(version=3), context.join(version=3)
    third = context.join(version=3)
    assert (code(third), third.answer.member_id) == (ErrorCode.GROUP_MAX_SIZE_REACHED, "")
    context.advance(6_000)
    assert [first.answer.error_code, second.answer.error_code] == [0, 0]


@pytest.mark.behaviour("JG-15")
def test_the_last_of_too_many_members_to_come_back_is_out():
    context = CoordinatorTestContext(group_max_size=2)
    leader, late = context.stable(2)
    context.join(member_id=leader.member_id)
    new = context.join_twice()
    again = context.join(member_id=leader.member_id)
    assert not again.answered, "who waits already has a place"
    refused = context.join(member_id=late.member_id)
    assert (code(refused), refused.answer.member_id) == (ErrorCode.GROUP_MAX_SIZE_REACHED, "")
    assert context.heartbeat(late) is ErrorCode.UNKNOWN_MEMBER_ID
    context.advance(60_000)
    assert {m.member_id for m in again.answer.members} == {leader.member_id, new.answer.member_id}


@pytest.mark.behaviour("JG-15")
def test_the_last_of_too_many_pending_members_is_turned_away():
    context = CoordinatorTestContext(group_max_size=1)
    ids = [context.join().answer.member_id for _ in range(2)]
    context.join(member_id=ids[0])
    assert code(context.join(member_id=ids[1])) is ErrorCode.GROUP_MAX_SIZE_REACHED


@pytest.mark.behaviour("JG-16")
@pytest.mark.parametrize("session", [5_999, 1_800_001, -1])
def test_a_session_timeout_that_is_not_allowed(session: int):
    context = CoordinatorTestContext()
    refused = context.join(session=session)
    assert code(refused) is ErrorCode.INVALID_SESSION_TIMEOUT
    assert context.group_state() == "Dead"


@pytest.mark.behaviour("JG-16")
def test_the_bounds_of_the_session_timeout_are_configured():
    context = CoordinatorTestContext(group_min_session_timeout_ms=1, group_max_session_timeout_ms=50)
    assert code(context.join(session=50)) is ErrorCode.MEMBER_ID_REQUIRED
    assert code(context.join(session=51)) is ErrorCode.INVALID_SESSION_TIMEOUT


@pytest.mark.behaviour("JG-17")
@pytest.mark.parametrize("profile", ["kips", "kafka"])
@pytest.mark.parametrize("version", ALL_VERSIONS)
def test_the_empty_group_id_is_invalid(profile: str, version: int):
    context = CoordinatorTestContext(profile)
    refused = context.join("", "m", version=version)
    assert (code(refused), refused.answer.member_id) == (ErrorCode.INVALID_GROUP_ID, "m")


@pytest.mark.behaviour("JG-18")
def test_a_rebalance_waits_for_a_pending_member_until_its_session_is_over():
    context = CoordinatorTestContext()
    (member,) = context.stable()
    pending = context.join(session=8_000).answer.member_id
    again = context.join(member_id=member.member_id)
    context.advance(7_999)
    assert not again.answered
    context.advance(1)
    assert again.answer.generation_id == 2
    assert code(context.join(member_id=pending)) is ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.behaviour("JG-18")
def test_a_pending_member_that_comes_as_a_static_one():
    context = CoordinatorTestContext()
    pending = context.join().answer.member_id
    assert code(context.join(member_id=pending, instance="i")) is ErrorCode.UNKNOWN_SERVER_ERROR


@pytest.mark.behaviour("JG-19")
def test_a_new_members_parked_join_lasts_for_five_minutes():
    context = CoordinatorTestContext()
    (member,) = context.stable(session=1_000_000, rebalance=1_000_000)
    new = context.join(version=3, session=6_000, rebalance=1_000_000)
    context.advance(299_999)
    assert not new.answered
    context.advance(1)
    assert (code(new), new.answer.member_id) == (ErrorCode.UNKNOWN_MEMBER_ID, "")
    again = context.join(member_id=member.member_id)
    assert [m.member_id for m in again.answer.members] == [member.member_id]


@pytest.mark.behaviour("JG-20")
def test_version_0_has_its_session_timeout_as_rebalance_timeout():
    context = CoordinatorTestContext()
    (member,) = context.stable(session=100_000, rebalance=100_000)
    context.leave("g", (member.member_id, None))
    first = context.join(version=0, session=7_000, rebalance=100_000)
    for waited in (3_000, 3_000, 999):
        context.join(version=0, session=7_000)
        context.advance(waited)
    assert not first.answered
    context.advance(1)
    assert first.answered


@pytest.mark.behaviour("JG-21")
@pytest.mark.parametrize("version", ALL_VERSIONS)
def test_the_protocol_of_an_error(version: int):
    context = CoordinatorTestContext()
    answer = context.join("none", "somebody", version=version).answer
    assert answer.protocol_name == ("" if version < 7 else None)
    assert (answer.leader, answer.members) == ("", ())


@pytest.mark.behaviour("JG-22")
def test_what_a_group_writes_down():
    context = CoordinatorTestContext()
    (member,) = context.stable()
    context.leave("g", (member.member_id, None))
    first, generation, emptied = (r for r in context.records if isinstance(r, GroupMetadata))
    assert (first.protocol_type, first.generation, first.protocol, first.leader, first.members) == (
        "",
        0,
        None,
        None,
        (),
    )
    assert (generation.protocol_type, generation.generation, generation.protocol) == ("consumer", 1, "range")
    assert generation.leader == member.member_id
    (persisted,) = generation.members
    assert (persisted.client_id, persisted.client_host) == ("client", "/127.0.0.1")
    assert (persisted.session_timeout, persisted.rebalance_timeout) == (10_000, 60_000)
    assert (persisted.subscription, persisted.assignment) == (subscription("a"), member.member_id.encode())
    assert (emptied.protocol_type, emptied.generation, emptied.protocol, emptied.leader) == ("consumer", 2, None, None)
    assert emptied.current_state_timestamp == context.broker_ms


@pytest.mark.behaviour("JG-22")
def test_a_group_that_stored_offsets_before_its_first_join_is_not_written_down_again():
    context = CoordinatorTestContext()
    context.commit("g")
    context.join()
    assert not any(isinstance(r, GroupMetadata) for r in context.records)


@pytest.mark.behaviour("JG-23")
def test_a_rebalance_goes_on_when_only_static_members_are_left_and_none_has_joined():
    context = CoordinatorTestContext()
    old = context.static("i1", session=100_000, rebalance=5_000)
    new = context.join_twice(rebalance=5_000)
    context.leave("g", (new_id(context, old["i1"].member_id), None))
    assert code(new) is ErrorCode.UNKNOWN_MEMBER_ID
    context.advance(20_000)
    assert context.group_state() == "PreparingRebalance"
    back = context.join(instance="i1", rebalance=5_000)
    assert back.answer.generation_id == 2


def new_id(context: CoordinatorTestContext, old_id: str) -> str:
    (found,) = [m for m in context.coordinator.groups["g"].members if m != old_id]
    return found


def test_a_group_whose_only_member_left_during_the_first_rebalance_is_empty_after_the_delay():
    context = CoordinatorTestContext()
    context.join_twice()
    (member,) = context.coordinator.groups["g"].members
    context.leave("g", (member, None))
    assert context.group_state() == "PreparingRebalance"
    context.advance(3_000)
    assert context.group_state() == "Empty"
    assert context.coordinator.groups["g"].generation == 1


def test_groups_do_not_disturb_each_other():
    context = CoordinatorTestContext()
    (one,) = context.stable(group_id="one")
    context.join("two", version=3)
    assert context.heartbeat(one) is ErrorCode.NONE
