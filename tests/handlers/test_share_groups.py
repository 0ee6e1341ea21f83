"""ShareGroupHeartbeat and ShareGroupDescribe, through their handlers; as Kafka 4.4.0 was seen to answer."""

from __future__ import annotations

from typing import Any

import pytest

from kafkastub.security.operations import GROUP_OPERATIONS
from kafkastub.state.configs.broker_changes import change_broker
from kafkastub.state.features import update_features
from kafkastub.state.topics import add_partitions
from kafkawire.errors import ErrorCode
from kafkawire.messages.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from kafkawire.messages.join_group_response import JoinGroupResponse
from kafkawire.messages.list_groups_request import ListGroupsRequest
from kafkawire.messages.list_groups_response import ListGroupsResponse
from kafkawire.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafkawire.messages.offset_commit_response import OffsetCommitResponse
from kafkawire.messages.offset_fetch_request import OffsetFetchRequest, OffsetFetchRequestGroup
from kafkawire.messages.offset_fetch_response import OffsetFetchResponse
from kafkawire.messages.share_group_heartbeat_request import ShareGroupHeartbeatRequest
from tests.handlers.share_club import ShareClub

NONE = ErrorCode.NONE


@pytest.fixture
def club() -> ShareClub:
    return ShareClub(t=4)


def told(answer: Any) -> tuple[Any, ...]:
    """What stands at the top of an answer."""
    return answer.error_code, answer.error_message, answer.member_id, answer.member_epoch, answer.heartbeat_interval_ms


# -- heartbeats ------------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("GH-1")
@pytest.mark.parametrize(
    ("request_", "text"),
    [
        ({"member": ""}, None),
        ({"member": "m" * 37}, None),
        ({"member": " "}, "MemberId can't be empty."),
        ({"group": ""}, "GroupId can't be empty."),
        ({"rack_id": ""}, "RackId can't be empty."),
        ({"topics": []}, "SubscribedTopicNames must be set in first request."),
        ({"topics": None}, "SubscribedTopicNames must be set in first request."),
        ({"epoch": -2}, "MemberEpoch is invalid."),
    ],
)
@pytest.mark.parametrize("elsewhere", [False, True])
def test_what_cannot_be_is_refused_before_the_coordinator_is_looked_for(
    club: ShareClub, request_: dict[str, Any], text: str | None, elsewhere: bool
):
    if elsewhere:
        club.desk.state.refusal = ErrorCode.NOT_COORDINATOR
    assert told(club.beat(**{"topics": ["t"], **request_})) == (ErrorCode.INVALID_REQUEST, text, None, 0, 0)
    club.desk.state.refusal = None
    assert club.describe()[0].error_code == ErrorCode.GROUP_ID_NOT_FOUND


@pytest.mark.behaviour("GH-2")
@pytest.mark.behaviour("GH-3")
def test_who_joins_is_told_its_epoch_and_gets_partitions_once_their_state_is_there(club: ShareClub):
    answer = club.beat(topics=["t"])
    assert (told(answer), club.places(answer.assignment)) == ((NONE, None, "m", 2, 5000), {})
    answer = club.beat(epoch=2)
    assert (told(answer), club.places(answer.assignment)) == ((NONE, None, "m", 3, 5000), {"t": [0, 1, 2, 3]})
    answer = club.beat(epoch=3)
    assert (told(answer), answer.assignment) == ((NONE, None, "m", 3, 5000), None)


@pytest.mark.behaviour("GH-2")
def test_who_joins_again_is_told_all_that_it_has(club: ShareClub):
    club.beat(topics=["t"])
    club.beat(epoch=2)
    answer = club.beat(topics=["t"])
    assert (told(answer)[3], club.places(answer.assignment)) == (3, {"t": [0, 1, 2, 3]})
    answer = club.beat(epoch=3, topics=["t"])
    assert (told(answer)[3], club.places(answer.assignment)) == (3, {"t": [0, 1, 2, 3]})


@pytest.mark.behaviour("GH-3")
def test_the_share_coordinator_knows_new_partitions_by_the_groups_epoch(club: ShareClub):
    club.beat(topics=["t"])
    persister = club.desk.state.share_partitions.persister
    topic = club.desk.state.cluster.topics["t"]
    summary = persister.summary("g", topic.topic_id, 3)
    assert (summary.state_epoch, summary.start_offset) == (2, -1)
    add_partitions(club.desk.state, "t", 1)
    club.beat(epoch=2)
    summary = persister.summary("g", topic.topic_id, 4)
    assert (summary.state_epoch, summary.start_offset) == (3, 0), "new in a topic that the group knew before"


@pytest.mark.behaviour("GH-4")
def test_the_last_member_leaves_the_group_empty_and_there(club: ShareClub):
    club.beat(topics=["t"])
    assert told(club.beat(epoch=-1)) == (NONE, None, "m", -1, 0)
    (group,) = club.describe()
    assert (group.group_state, group.group_epoch, group.assignment_epoch) == ("Empty", 3, 3)
    assert list(group.members) == []
    club.desk.state.expire_offsets(club.desk.broker_ms + 365 * 86_400_000)
    assert club.describe()[0].group_state == "Empty"


@pytest.mark.behaviour("GH-4")
def test_who_comes_back_to_an_empty_group_has_its_partitions_at_once(club: ShareClub):
    club.beat(topics=["t"])
    club.beat(epoch=-1)
    answer = club.beat("other", topics=["t"])
    assert club.places(answer.assignment) == {"t": [0, 1, 2, 3]}


@pytest.mark.behaviour("GH-5")
def test_who_is_not_known_is_told_what_is_not(club: ShareClub):
    not_found = ErrorCode.GROUP_ID_NOT_FOUND
    assert told(club.beat(epoch=1))[:2] == (not_found, "Share group g not found.")
    assert told(club.beat(epoch=-1))[:2] == (not_found, "Group g not found.")
    club.beat(topics=["t"])
    for epoch in (1, -1):
        assert told(club.beat("other", epoch))[:2] == (
            ErrorCode.UNKNOWN_MEMBER_ID,
            "Member other is not a member of group g.",
        )


@pytest.mark.behaviour("GH-5")
@pytest.mark.parametrize("epoch", [0, -1, 1])
def test_a_group_of_another_type_is_no_share_group(club: ShareClub, epoch: int):
    commit(club, "classic")
    answer = club.beat(epoch=epoch, group="classic", topics=["t"])
    assert told(answer)[:2] == (ErrorCode.GROUP_ID_NOT_FOUND, "Group classic is not a share group.")


@pytest.mark.behaviour("GH-5")
def test_another_epoch_is_fenced_but_for_the_one_before(club: ShareClub):
    club.beat(topics=["t"])
    club.beat(epoch=2)
    rejoin = "The member must abandon all its partitions and rejoin."
    assert told(club.beat(epoch=4))[:2] == (
        ErrorCode.FENCED_MEMBER_EPOCH,
        "The share group member has a greater member epoch (4) than the one known by the group coordinator (3). "
        + rejoin,
    )
    assert told(club.beat(epoch=1))[:2] == (
        ErrorCode.FENCED_MEMBER_EPOCH,
        "The share group member has a smaller member epoch (1) than the one known by the group coordinator (3), and it "
        "does not match the previous member epoch (2). " + rejoin,
    )
    assert told(club.beat(epoch=2))[3] == 3  # the answer may have been lost


@pytest.mark.behaviour("GH-6")
def test_a_member_too_many_is_refused():
    club = ShareClub({"group.share.max.size": 1}, t=1)
    club.beat("one", topics=["t"])
    assert told(club.beat("two", topics=["t"])) == (
        ErrorCode.GROUP_MAX_SIZE_REACHED,
        "The share group has reached its maximum capacity of 1 members.",
        None,
        0,
        0,
    )
    assert club.beat("one", topics=["t"]).error_code == NONE


@pytest.mark.behaviour("GH-8")
@pytest.mark.behaviour("SD-7")
def test_share_groups_can_be_switched_off_by_the_cluster(club: ShareClub):
    assert club.beat(topics=["t"]).error_code == NONE
    update_features(club.desk.state, [("share.version", 0, 2)])
    assert told(club.beat("", 2)) == (ErrorCode.UNSUPPORTED_VERSION, None, None, 0, 0)
    assert [(one.group_id, one.error_code) for one in club.describe("g", "")] == [
        ("g", ErrorCode.UNSUPPORTED_VERSION),
        ("", ErrorCode.UNSUPPORTED_VERSION),
    ]


@pytest.mark.behaviour("GH-8")
@pytest.mark.parametrize(
    ("release", "code"), [("4.1", ErrorCode.UNSUPPORTED_VERSION), ("4.2", NONE), ("4.3", NONE), ("4.4", NONE)]
)
def test_the_cluster_of_a_release_has_share_groups_or_not(release: str, code: ErrorCode):
    assert ShareClub({"kafkastub.as.version": release}, t=1).beat(topics=["t"]).error_code == code


@pytest.mark.behaviour("GH-9")
def test_a_group_goes_by_its_own_configuration(club: ShareClub):
    configs = club.desk.state.cluster.group_configs
    configs["g"] = {"share.heartbeat.interval.ms": "6000", "share.session.timeout.ms": "60000"}
    assert club.beat(topics=["t"]).heartbeat_interval_ms == 6000
    assert club.beat(topics=["t"], group="other").heartbeat_interval_ms == 5000
    club.desk.wait_until(45_000)
    assert {one.group_id: one.group_state for one in club.describe("g", "other")} == {"g": "Stable", "other": "Empty"}
    club.desk.wait_until(60_000)
    assert club.describe()[0].group_state == "Empty"


@pytest.mark.behaviour("GH-10")
def test_a_topic_that_grows_or_comes_is_noticed_with_the_next_heartbeat(club: ShareClub):
    club.beat(topics=["t", "u"])
    club.beat(epoch=2)
    add_partitions(club.desk.state, "t", 1)
    answer = club.beat(epoch=3)
    assert (answer.member_epoch, answer.assignment) == (4, None), "their state is not there yet"
    answer = club.beat(epoch=4)
    assert (answer.member_epoch, club.places(answer.assignment)) == (5, {"t": [0, 1, 2, 3, 4]})
    club.desk.topic("u", 1)
    assert club.settle("m") == {"m": {"t": [0, 1, 2, 3, 4], "u": [0]}}


@pytest.mark.behaviour("GH-10")
@pytest.mark.behaviour("GH-15")
@pytest.mark.behaviour("SD-6")
def test_a_topic_that_goes_and_comes_again_begins_anew(club: ShareClub):
    club.desk.topic("u", 1)
    club.beat(topics=["t", "u"])
    assert club.settle("m") == {"m": {"t": [0, 1, 2, 3], "u": [0]}}
    club.desk.delete("u")
    (member,) = club.describe()[0].members
    assert club.places(member.assignment) == {"t": [0, 1, 2, 3]}
    assert [*member.subscribed_topic_names] == ["t", "u"]
    assert club.settle("m") == {"m": {"t": [0, 1, 2, 3]}}
    assert set(club.desk.state.coordinator.share.initialized_partitions("g")) == {
        club.desk.state.cluster.topics["t"].topic_id
    }
    topic = club.desk.topic("u", 2)
    assert club.settle("m") == {"m": {"t": [0, 1, 2, 3], "u": [0, 1]}}
    assert club.desk.state.share_partitions.persister.summary("g", topic.topic_id, 0).start_offset == -1


@pytest.mark.behaviour("GH-11")
def test_partitions_are_divided_and_shared_where_there_are_more_members():
    club = ShareClub(t=2)
    club.beat("one", topics=["t"])
    club.beat("two", topics=["t"])
    assert sorted(one["t"] for one in club.settle("one", "two").values() if one) == [[0], [1]]
    club.beat("three", topics=["t"])
    places = club.settle("one", "two", "three")
    found = [partition for one in places.values() if one for partition in one["t"]]
    assert all(places.values())
    assert set(found) == {0, 1}
    club.beat("one", -1)
    club.beat("two", -1)
    assert club.settle("three") == {"three": {"t": [0, 1]}}


@pytest.mark.behaviour("GH-11")
def test_the_next_target_is_computed_when_the_interval_is_over():
    club = ShareClub({"group.share.assignment.interval.ms": 1000}, t=1)
    club.beat(topics=["t"])
    assert told(club.beat(epoch=2))[3] == 2
    assert (club.describe()[0].group_epoch, club.describe()[0].assignment_epoch) == (3, 2)
    club.desk.timer_ms += 999
    assert told(club.beat(epoch=2))[3] == 2
    club.desk.timer_ms += 1
    answer = club.beat(epoch=2)
    assert (answer.member_epoch, club.places(answer.assignment)) == (3, {"t": [0]})


@pytest.mark.behaviour("GH-9")
def test_how_often_groups_are_assigned_changes_while_the_broker_runs(club: ShareClub):
    club.beat(topics=["t"])
    wanted = [("group.share.assignment.interval.ms", 0, "1000")]
    change_broker(club.desk.state, 1, "", wanted, replace=False, validate_only=False)
    assert told(club.beat(epoch=2))[3] == 2
    club.desk.timer_ms += 1000
    assert told(club.beat(epoch=2))[3] == 3


@pytest.mark.behaviour("GH-12")
def test_a_session_that_is_over_takes_its_member_out(club: ShareClub):
    club.beat("one", topics=["t"])
    club.desk.wait_until(30_000)
    club.beat("two", topics=["t"])
    club.desk.wait_until(45_000)
    (group,) = club.describe()
    assert [one.member_id for one in group.members] == ["two"]
    assert club.beat("one", 2).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    club.desk.wait_until(75_000)
    assert club.describe()[0].group_state == "Empty"


@pytest.mark.behaviour("GH-13")
def test_state_that_is_not_made_in_time_is_asked_for_again(club: ShareClub):
    share = club.desk.state.coordinator.share

    def asked(epoch: int, timer_ms: int) -> dict[int, int] | None:
        """The start offsets of what the share coordinator is to be asked for, which it never answers."""
        request = ShareGroupHeartbeatRequest("g", "m", epoch, None, ["t"])
        found = share.heartbeat(request, 1, "", "", 0, timer_ms).reply.follow_up
        return None if found is None else dict(*found.start_offsets.values())

    assert asked(0, 0) == dict.fromkeys(range(4), -1)
    assert asked(2, 29_999) is None
    assert asked(2, 30_000) == dict.fromkeys(range(4), 0)
    assert asked(2, 30_001) is None


@pytest.mark.behaviour("GH-14")
def test_an_error_has_nothing_beside_its_code_and_text(club: ShareClub):
    club.beat(topics=["t"])
    answer = club.beat(epoch=7)
    assert told(answer)[2:] == (None, 0, 0)
    assert answer.assignment is None


# -- other APIs ------------------------------------------------------------------------------------------------------


def commit(club: ShareClub, group: str) -> list[int]:
    asked = [OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, 5)])]
    answer = club.desk.ask(9, OffsetCommitRequest(group, -1, "", topics=asked), OffsetCommitResponse)
    return [one.error_code for one in answer.topics[0].partitions]


@pytest.mark.behaviour("GH-5")
@pytest.mark.parametrize("leave", [False, True])
def test_members_of_other_protocols_do_not_get_in(club: ShareClub, leave: bool):
    club.beat(topics=["t"])
    if leave:
        club.beat(epoch=-1)
    join = JoinGroupRequest("g", 10_000, 10_000, "", None, "consumer", [JoinGroupRequestProtocol("range", b"")])
    answer = club.desk.ask(9, join, JoinGroupResponse)
    assert (answer.error_code, answer.member_id) == (ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "")
    assert commit(club, "g") == [ErrorCode.GROUP_ID_NOT_FOUND]
    fetched = club.desk.ask(9, OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g")]), OffsetFetchResponse)
    assert [(one.error_code, list(one.topics)) for one in fetched.groups] == [(NONE, [])]
    assert club.describe()[0].error_code == NONE


@pytest.mark.behaviour("LS-6")
def test_a_share_group_is_listed_as_such(club: ShareClub):
    club.beat(topics=["t"])
    commit(club, "classic")

    def listed(**asked: Any) -> list[tuple[str, str, str, str]]:
        groups = club.desk.ask(5, ListGroupsRequest(**asked), ListGroupsResponse).groups
        return [(one.group_id, one.protocol_type, one.group_state, one.group_type) for one in groups]

    assert ("g", "share", "Stable", "share") in listed()
    assert listed(types_filter=["Share"]) == [("g", "share", "Stable", "share")]
    club.beat(epoch=-1)
    assert listed(states_filter=["empty"], types_filter=["share"]) == [("g", "share", "Empty", "share")]


# -- descriptions ----------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("SD-1")
def test_a_group_is_described_with_its_members(club: ShareClub):
    club.beat("one", topics=["t"], rack_id="r")
    club.settle("one")
    (group,) = club.describe()
    assert (group.error_code, group.group_id, group.group_state) == (NONE, "g", "Stable")
    assert (group.group_epoch, group.assignment_epoch, group.assignor_name) == (3, 3, "simple")
    (one,) = group.members
    assert (one.member_id, one.rack_id, one.member_epoch, one.client_id) == ("one", "r", 3, "test")
    assert (one.client_host, list(one.subscribed_topic_names)) == ("/127.0.0.1", ["t"])
    assert [(each.topic_name, list(each.partitions)) for each in one.assignment.topic_partitions] == [
        ("t", [0, 1, 2, 3])
    ]


@pytest.mark.behaviour("SD-2")
@pytest.mark.behaviour("SD-3")
@pytest.mark.behaviour("SD-4")
def test_what_is_no_share_group_is_said_and_the_nameless_come_first(club: ShareClub):
    commit(club, "simple")
    club.beat(topics=["t"])
    answer = club.describe("g", "none", "", "simple", "g", "")
    assert [(one.group_id, one.error_code) for one in answer[:2]] == [("", ErrorCode.INVALID_GROUP_ID)] * 2
    assert sorted((one.group_id, one.error_code, one.error_message) for one in answer[2:] if one.error_code) == [
        ("none", ErrorCode.GROUP_ID_NOT_FOUND, "Group none not found."),
        ("simple", ErrorCode.GROUP_ID_NOT_FOUND, "Group simple is not a share group."),
    ]
    assert [one.group_id for one in answer].count("g") == 2


@pytest.mark.behaviour("SD-9")
@pytest.mark.parametrize("count", [3, 300])
def test_many_unknown_groups_are_told_like_few(club: ShareClub, count: int):
    club.beat(topics=["t"])
    names = [f"none-{number}" for number in range(count)]
    found = {
        one.group_id: (one.error_code, one.error_message, one.authorized_operations) for one in club.describe(*names)
    }
    assert found == {name: (ErrorCode.GROUP_ID_NOT_FOUND, f"Group {name} not found.", -(2**31)) for name in names}


@pytest.mark.behaviour("SD-5")
def test_operations_are_told_where_asked_for(club: ShareClub):
    club.beat(topics=["t"])
    lowest = -(2**31)
    assert club.describe()[0].authorized_operations == lowest
    asked = {one.group_id: one.authorized_operations for one in club.describe("g", "none", operations=True)}
    assert asked == {"g": GROUP_OPERATIONS, "none": lowest}
