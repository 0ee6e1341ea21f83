"""Members of streams groups that stay, come back, tell an address, or go; as Kafka 4.4.0 was seen to answer."""

from __future__ import annotations

from typing import Any

import pytest

from kafkawire.errors import ErrorCode
from tests.handlers.streams_club import StreamsClub, statuses, topology

NONE, FENCED, UNKNOWN = ErrorCode.NONE, ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID
NOT_FOUND = ErrorCode.GROUP_ID_NOT_FOUND


@pytest.fixture
def club() -> StreamsClub:
    return StreamsClub(orders=4, customers=3)


def told(answer: Any) -> tuple[Any, ...]:
    """What stands at the top of an answer."""
    return answer.error_code, answer.error_message, answer.member_id, answer.member_epoch


# -- leaving ---------------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("TH-9")
def test_the_last_member_leaves_the_group_empty(club: StreamsClub):
    club.beat()
    answer = club.beat(epoch=-1)
    assert told(answer) == (NONE, None, "m", -1)
    assert (answer.heartbeat_interval_ms, answer.acceptable_recovery_lag, statuses(answer)) == (0, -1, [])
    (group,) = club.describe()
    assert (group.group_state, group.group_epoch, group.assignment_epoch) == ("Empty", 3, 3)
    assert list(group.members) == []


@pytest.mark.behaviour("TH-9")
def test_an_empty_group_without_offsets_goes_with_the_next_sweep(club: StreamsClub):
    club.beat()
    club.beat(epoch=-1)
    club.desk.state.expire_offsets(club.desk.broker_ms)
    assert club.describe()[0].error_code == NOT_FOUND


@pytest.mark.behaviour("TH-9")
def test_what_a_static_member_had_is_kept_for_the_next_one(club: StreamsClub):
    club.beat("a", instance_id="i")
    club.beat("b")
    club.settle("b")
    epoch = club.member("a").member_epoch
    club.beat("a", epoch, tasks={"one": [0, 1, 2, 3]}, instance_id="i")
    assert told(club.beat("a", -2, instance_id="i")) == (NONE, None, "a", -2)
    assert (club.member("a").member_epoch, club.state()) == (-2, "Reconciling")
    assert club.tasks(club.member("a").assignment.active_tasks) == {"one": [0, 1]}
    answer = club.beat("next", instance_id="i", process_id="a")
    assert (told(answer), club.tasks(answer.active_tasks)) == ((NONE, None, "next", 3), {"one": [0, 1]})
    assert {one.member_id for one in club.describe()[0].members} == {"next", "b"}
    assert club.describe()[0].group_epoch == 3, "nothing has to be assigned anew"


@pytest.mark.behaviour("TH-9")
def test_another_process_of_the_instance_asks_for_a_new_target(club: StreamsClub):
    club.beat("a", instance_id="i")
    club.beat("a", -2, instance_id="i")
    assert told(club.beat("next", instance_id="i"))[3] == 3


@pytest.mark.behaviour("TH-9")
def test_a_static_member_that_does_not_come_back_is_out_when_its_session_is_over(club: StreamsClub):
    club.beat("a", instance_id="i")
    club.desk.wait_until(40_000)
    club.beat("a", -2, instance_id="i")
    club.desk.wait_until(44_999)
    assert club.state() != "Empty"
    club.desk.wait_until(45_000)
    assert club.state() == "Empty"


# -- who is not known ------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("TH-10")
def test_who_is_not_known_is_told_what_is_not(club: StreamsClub):
    assert told(club.beat(epoch=1))[:2] == (NOT_FOUND, "Streams group g not found.")
    assert told(club.beat(epoch=-1))[:2] == (NOT_FOUND, "Group g not found.")
    club.beat()
    for epoch in (1, -1):
        assert told(club.beat("x", epoch))[:2] == (UNKNOWN, "Member x is not a member of group g.")
        answer = club.beat("x", epoch, instance_id="i")
        assert told(answer)[:2] == (UNKNOWN, "Instance id i is unknown.")


@pytest.mark.behaviour("TH-10")
def test_another_epoch_is_fenced(club: StreamsClub):
    club.beat()
    text = "The streams group member has a {} member epoch ({}) than the one known by the group coordinator (2). "
    text += "The member must abandon all its partitions and rejoin."
    assert told(club.beat(epoch=3))[:2] == (FENCED, text.format("greater", 3))
    assert told(club.beat(epoch=1))[:2] == (FENCED, text.format("smaller", 1))


@pytest.mark.behaviour("TH-10")
def test_the_epoch_before_is_all_right_for_who_tells_tasks_that_it_has(club: StreamsClub):
    club.beat("a")
    club.beat("b")
    club.settle("a", "b")
    assert club.member("a").member_epoch == 3
    assert told(club.beat("a", 2, tasks={"one": [0, 1]})) == (NONE, None, "a", 3)
    for tasks in (None, {"one": [0, 2]}, {"two": []}):
        assert told(club.beat("a", 2, tasks=tasks))[0] in (FENCED, ErrorCode.INVALID_REQUEST)


@pytest.mark.behaviour("TH-10")
def test_an_instance_is_its_members(club: StreamsClub):
    club.beat("a", instance_id="i")
    text = "Static member b with instance id i cannot join the group because the instance id is owned by a member."
    assert told(club.beat("b", instance_id="i"))[:2] == (ErrorCode.UNRELEASED_INSTANCE_ID, text)
    text = "Static member b with instance id i was fenced by member a."
    for epoch in (2, -1, -2):
        assert told(club.beat("b", epoch, instance_id="i"))[:2] == (ErrorCode.FENCED_INSTANCE_ID, text)


@pytest.mark.behaviour("TH-11")
def test_a_member_too_many_is_refused():
    club = StreamsClub({"group.streams.max.size": 2}, orders=4)
    club.beat("a", instance_id="i")
    club.beat("b")
    text = "The streams group has reached its maximum capacity of 2 members."
    assert told(club.beat("c"))[:2] == (ErrorCode.GROUP_MAX_SIZE_REACHED, text)
    assert told(club.beat("b"))[0] == NONE
    club.beat("a", -2, instance_id="i")
    assert told(club.beat("c", instance_id="i"))[0] == NONE


# -- time ------------------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("TH-15")
def test_a_session_that_is_over_takes_its_member_out(club: StreamsClub):
    club.beat("a")
    club.beat("b")
    club.desk.wait_until(44_000)
    club.beat("b", 3)
    club.desk.wait_until(45_000)
    (group,) = club.describe()
    assert ([one.member_id for one in group.members], group.group_epoch) == (["b"], 4)
    assert club.settle("b") == {"b": {"one": [0, 1, 2, 3]}}


@pytest.mark.behaviour("TH-15")
def test_who_does_not_let_go_of_tasks_in_time_is_out(club: StreamsClub):
    club.beat("a", rebalance_timeout_ms=10_000)
    club.beat("b")
    club.beat("a", 2)
    for now in (5_000, 9_999):
        club.desk.wait_until(now)
        assert told(club.beat("a", 2))[0] == NONE
    club.desk.wait_until(10_000)
    assert told(club.beat("a", 2))[:2] == (UNKNOWN, "Member a is not a member of group g.")


@pytest.mark.behaviour("TH-15")
def test_who_has_let_go_in_time_stays(club: StreamsClub):
    club.beat("a", rebalance_timeout_ms=10_000)
    club.beat("b")
    club.beat("a", 2, tasks={"one": [0, 1, 2, 3]})
    club.beat("a", 2, tasks={"one": [0, 1]})
    club.desk.wait_until(10_000)
    assert told(club.beat("a", 3))[0] == NONE


# -- addresses -------------------------------------------------------------------------------------------------------


def addresses(answer: Any) -> dict[tuple[str, int], list[tuple[str, list[int]]]] | None:
    """Where active partitions are."""
    if answer.partitions_by_user_endpoint is None:
        return None
    return {
        (one.user_endpoint.host, one.user_endpoint.port): [(t.topic, [*t.partitions]) for t in one.active_partitions]
        for one in answer.partitions_by_user_endpoint
    }


@pytest.mark.behaviour("TH-13")
def test_members_are_told_where_partitions_can_be_asked_for(club: StreamsClub):
    answer = club.beat("a", endpoint=("a", 1))
    assert (answer.endpoint_information_epoch, addresses(answer)) == (0, {("a", 1): [("orders", [0, 1, 2, 3])]})
    answer = club.beat("a", 2)
    assert (answer.endpoint_information_epoch, addresses(answer)) == (0, None), "a new group begins to count anew"
    answer = club.beat("b", endpoint=("b", 65_535))
    assert (answer.endpoint_information_epoch, addresses(answer)) == (
        1,
        {("a", 1): [("orders", [0, 1, 2, 3])], ("b", 65_535): []},
    )
    club.settle("a", "b")
    answer = club.beat("a", 3, endpoint_information_epoch=3)
    assert (answer.endpoint_information_epoch, addresses(answer)) == (3, None)
    answer = club.beat("b", 3, endpoint_information_epoch=2)
    assert addresses(answer) == {("a", 1): [("orders", [0, 1])], ("b", 65_535): [("orders", [2, 3])]}


@pytest.mark.behaviour("TH-13")
def test_who_joins_again_without_an_address_has_none(club: StreamsClub):
    club.beat("a", endpoint=("a", 1))
    assert club.member("a").user_endpoint.host == "a"
    club.beat("a", 2)
    assert club.member("a").user_endpoint.port == 1
    club.beat("a")
    assert club.member("a").user_endpoint is None


# -- the end of the application ---------------------------------------------------------------------------------------


@pytest.mark.behaviour("TH-14")
def test_a_shutdown_is_told_to_all_until_the_group_is_empty(club: StreamsClub):
    text = "Streams group member {} encountered a fatal error and requested a shutdown for the entire application."
    club.beat("a")
    club.beat("b")
    assert statuses(club.beat("b", 3, shutdown_application=True)) == [(4, text.format("b"))]
    assert statuses(club.beat("a", 2, shutdown_application=True)) == [(4, text.format("b"))]
    club.beat("b", -1)
    assert statuses(club.beat("a", 2)) == [(4, text.format("b"))]
    club.beat("a", -1)
    assert statuses(club.beat("a")) == []


@pytest.mark.behaviour("TH-14")
def test_who_leaves_can_ask_for_it_too(club: StreamsClub):
    club.beat("a")
    assert told(club.beat("nobody", -1, shutdown_application=True))[0] == UNKNOWN
    assert [code for code, _ in statuses(club.beat("a", 2))] == [4]


def test_a_topology_without_a_subtopology_is_one(club: StreamsClub):
    answer = club.beat(topology=topology())
    assert (told(answer), statuses(answer), club.tasks(answer.active_tasks)) == ((NONE, None, "m", 2), [], {})
    assert club.state() == "Stable"
