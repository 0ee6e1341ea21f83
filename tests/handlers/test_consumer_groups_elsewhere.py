"""What other APIs say of groups of the consumer protocol, and what they do to them; as Kafka 4.4.0 was seen to."""

from __future__ import annotations

from typing import Any

import pytest

from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.add_offsets_to_txn_request import AddOffsetsToTxnRequest
from kafkawire.messages.add_offsets_to_txn_response import AddOffsetsToTxnResponse
from kafkawire.messages.delete_groups_request import DeleteGroupsRequest
from kafkawire.messages.delete_groups_response import DeleteGroupsResponse
from kafkawire.messages.describe_groups_request import DescribeGroupsRequest
from kafkawire.messages.describe_groups_response import DescribeGroupsResponse
from kafkawire.messages.heartbeat_request import HeartbeatRequest
from kafkawire.messages.heartbeat_response import HeartbeatResponse
from kafkawire.messages.init_producer_id_request import InitProducerIdRequest
from kafkawire.messages.init_producer_id_response import InitProducerIdResponse
from kafkawire.messages.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from kafkawire.messages.join_group_response import JoinGroupResponse
from kafkawire.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
from kafkawire.messages.leave_group_response import LeaveGroupResponse
from kafkawire.messages.list_groups_request import ListGroupsRequest
from kafkawire.messages.list_groups_response import ListGroupsResponse
from kafkawire.messages.offset_delete_request import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kafkawire.messages.offset_delete_response import OffsetDeleteResponse
from kafkawire.messages.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from kafkawire.messages.offset_fetch_response import OffsetFetchResponse
from kafkawire.messages.sync_group_request import SyncGroupRequest
from kafkawire.messages.sync_group_response import SyncGroupResponse
from kafkawire.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kafkawire.messages.txn_offset_commit_response import TxnOffsetCommitResponse
from tests.coordinator.context import subscription
from tests.handlers.club import Club
from tests.handlers.desk import answered

NONE = ErrorCode.NONE


@pytest.fixture
def club() -> Club:
    return Club(t=4)


@pytest.mark.behaviour("DG-8")
@pytest.mark.parametrize("version", range(7))
def test_describe_groups_takes_one_for_dead(club: Club, version: int):
    club.beat(topics=["t"])
    (group,) = club.desk.ask(version, DescribeGroupsRequest(["g"]), DescribeGroupsResponse).groups
    assert (group.group_state, list(group.members)) == ("Dead", [])
    code = ErrorCode.GROUP_ID_NOT_FOUND if version == 6 else NONE
    text = "Group g is not a classic group." if version == 6 else None
    assert (group.error_code, group.error_message) == (code, text)


@pytest.mark.behaviour("LS-5")
def test_groups_are_listed_with_their_type_and_state(club: Club):
    club.commit("simple")
    club.beat(topics=["t"])
    club.beat("two", topics=["t"])

    def listed(**filters: Any) -> list[tuple[str, str, str, str]]:
        groups = club.desk.ask(5, ListGroupsRequest(**filters), ListGroupsResponse).groups
        return [(one.group_id, one.protocol_type, one.group_state, one.group_type) for one in groups]

    assert listed(types_filter=["Consumer"]) == [("g", "consumer", "Reconciling", "consumer")]
    assert listed(types_filter=["classic"]) == [("simple", "", "Empty", "classic")]
    assert listed(states_filter=["reconciling"]) == [("g", "consumer", "Reconciling", "consumer")]
    assert listed(states_filter=["Assigning"]) == []
    assert len(listed()) == 2


@pytest.mark.behaviour("GD-8")
def test_a_group_is_deleted_when_it_is_empty(club: Club):
    club.beat(topics=["t"])
    club.commit("g", "m", 2)

    def deleted() -> ErrorCode:
        (result,) = club.desk.ask(3, DeleteGroupsRequest(["g"]), DeleteGroupsResponse).results
        return ErrorCode(result.error_code)

    assert deleted() == ErrorCode.NON_EMPTY_GROUP
    club.beat(epoch=-1)
    assert deleted() == NONE
    assert club.describe()[0].error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert fetched(club) == (NONE, -1)


@pytest.mark.behaviour("OD-8")
def test_offsets_of_topics_that_nobody_subscribes_to_can_be_deleted_meanwhile(club: Club):
    club.desk.topic("u", 1)
    club.beat(topics=["t"])
    topics = [OffsetDeleteRequestTopic(name, [OffsetDeleteRequestPartition(0)]) for name in ("t", "u")]
    answer = club.desk.ask(0, OffsetDeleteRequest("g", topics), OffsetDeleteResponse)
    assert (answer.error_code, [one.partitions[0].error_code for one in answer.topics]) == (
        NONE,
        [ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC, NONE],
    )


@pytest.mark.behaviour("LG-10")
@pytest.mark.parametrize("version", [2, 5])
def test_leave_group_takes_out_members_of_the_new_protocol(club: Club, version: int):
    club.beat(topics=["t"])
    request = LeaveGroupRequest("g", "m") if version < 3 else LeaveGroupRequest("g", members=[MemberIdentity("m")])
    assert club.desk.ask(version, request, LeaveGroupResponse).error_code == NONE
    assert club.describe()[0].group_state == "Empty"


def classic_join(club: Club, member: str = "old", group: str = "g") -> JoinGroupResponse:
    """Who uses the classic protocol joins."""
    protocols = [JoinGroupRequestProtocol("range", subscription("t"))]
    request = JoinGroupRequest(group, 45_000, 60_000, member, None, "consumer", protocols)
    answer = answered(club.desk.outcome(ApiKey.JOIN_GROUP, 9, request), 9, JoinGroupResponse)
    assert answer is not None
    return answer


@pytest.mark.behaviour("JG-24")
def test_a_classic_member_joins_at_once_and_nobody_leads(club: Club):
    club.beat("new", topics=["t"])
    answer = classic_join(club)
    assert (answer.error_code, answer.generation_id, answer.member_id) == (NONE, 3, "old")
    assert (answer.protocol_name, answer.leader, list(answer.members)) == ("range", "", [])
    assert {one.member_id: one.member_type for one in club.describe()[0].members} == {"new": 1, "old": 0}


@pytest.mark.behaviour("JG-24")
def test_an_empty_group_becomes_a_classic_one(club: Club):
    club.beat(topics=["t"])
    club.beat(epoch=-1)
    assert classic_join(club, "").error_code == ErrorCode.MEMBER_ID_REQUIRED
    assert club.describe()[0].error_message == "Group g is not a consumer group."


@pytest.mark.behaviour("HB-7")
@pytest.mark.behaviour("SG-10")
def test_a_classic_member_syncs_and_is_told_to_join_again(club: Club):
    club.beat("new", topics=["t"])
    classic_join(club)

    def heartbeat(member: str, epoch: int) -> int:
        return club.desk.ask(4, HeartbeatRequest("g", epoch, member), HeartbeatResponse).error_code

    def sync(member: str, epoch: int) -> tuple[int, bool]:
        request = SyncGroupRequest("g", epoch, member, None, "consumer", "range")
        outcome = club.desk.outcome(ApiKey.SYNC_GROUP, 5, request)
        if isinstance(outcome, SyncGroupResponse):
            return outcome.error_code, bool(outcome.assignment)
        answer = answered(outcome, 5, SyncGroupResponse)
        assert answer is not None
        return answer.error_code, bool(answer.assignment)

    assert (sync("old", 3), heartbeat("old", 3)) == ((NONE, True), NONE)
    assert sync("old", 2) == (ErrorCode.ILLEGAL_GENERATION, False)
    club.beat("newer", topics=["t"])
    assert heartbeat("old", 3) == ErrorCode.REBALANCE_IN_PROGRESS
    assert heartbeat("new", 2) == ErrorCode.UNKNOWN_MEMBER_ID
    assert sync("new", 2) == (ErrorCode.UNKNOWN_MEMBER_ID, False)


# -- offsets ---------------------------------------------------------------------------------------------------------


def fetched(club: Club, member: str | None = None, epoch: int = -1) -> tuple[int, int | None]:
    """The group's code, and the offset of partition 0."""
    asked = OffsetFetchRequestGroup("g", member, epoch, [OffsetFetchRequestTopics("t", partition_indexes=[0])])
    (group,) = club.desk.ask(9, OffsetFetchRequest(groups=[asked]), OffsetFetchResponse).groups
    return group.error_code, group.topics[0].partitions[0].committed_offset if group.topics else None


@pytest.mark.behaviour("OC-17")
@pytest.mark.parametrize("version", [2, 8, 9])
def test_members_of_the_new_protocol_commit_from_version_9_on(club: Club, version: int):
    club.beat(topics=["t"])
    code = NONE if version == 9 else ErrorCode.UNSUPPORTED_VERSION
    assert club.commit("g", "m", 2, version=version) == [code]
    assert club.commit("g", "nobody", 2, version=version) == [ErrorCode.UNKNOWN_MEMBER_ID]


@pytest.mark.behaviour("OC-18")
def test_an_earlier_epoch_commits_what_was_assigned_in_it(club: Club):
    club.beat("one", topics=["t"])
    club.beat("two", topics=["t"])
    kept = club.places(club.beat("one", 2))
    assert kept is not None
    club.beat("one", 2, owned=kept)
    club.beat("two", 3)
    given = tuple({0, 1, 2, 3} - set(kept["t"]))
    stale = ErrorCode.STALE_MEMBER_EPOCH
    assert club.commit("g", "one", 3, (0, 1, 2, 3)) == [NONE] * 4
    assert club.commit("g", "one", 2, tuple(kept["t"])) == [NONE] * 2
    assert club.commit("g", "one", 2, (0, 1, 2, 3)) == [stale] * 4
    assert club.commit("g", "one", 1, tuple(kept["t"])) == [stale] * 2
    assert club.commit("g", "one", 4, tuple(kept["t"])) == [stale] * 2
    assert club.commit("g", "two", 2, given) == [stale] * 2


@pytest.mark.behaviour("OF-12")
def test_who_says_which_member_it_is_has_to_be_it(club: Club):
    club.beat(topics=["t"])
    club.commit("g", "m", 2)
    assert fetched(club) == (NONE, 5)
    assert fetched(club, "m", 2) == (NONE, 5)
    assert fetched(club, "m", 3) == (ErrorCode.STALE_MEMBER_EPOCH, None)
    assert fetched(club, "m", 1) == (ErrorCode.STALE_MEMBER_EPOCH, None)
    assert fetched(club, "nobody", 2) == (ErrorCode.UNKNOWN_MEMBER_ID, None)
    assert fetched(club, "", -1) == (ErrorCode.UNKNOWN_MEMBER_ID, None)
    assert fetched(club, None, 2) == (ErrorCode.UNKNOWN_SERVER_ERROR, None)


@pytest.mark.behaviour("OF-12")
def test_a_classic_group_is_not_asked_who_reads(club: Club):
    club.commit("g")
    assert fetched(club, "anybody", 7) == (NONE, 5)


@pytest.mark.behaviour("TO-15")
@pytest.mark.parametrize("version", [3, 5, 6])
def test_members_commit_in_transactions_in_their_epoch(club: Club, version: int):
    club.beat(topics=["t"])
    desk, topic = club.desk, club.desk.state.cluster.topics["t"]
    producer = desk.ask(5, InitProducerIdRequest("tx", 60_000), InitProducerIdResponse)
    who = producer.producer_id, producer.producer_epoch
    assert desk.ask(3, AddOffsetsToTxnRequest("tx", *who, "g"), AddOffsetsToTxnResponse).error_code == NONE

    def committed(member: str, epoch: int) -> int:
        asked = TxnOffsetCommitRequestTopic("t", topic.topic_id, [TxnOffsetCommitRequestPartition(0, 1)])
        request = TxnOffsetCommitRequest("tx", "g", *who, epoch, member, None, [asked])
        (answer,) = desk.ask(version, request, TxnOffsetCommitResponse).topics
        return answer.partitions[0].error_code

    stale = ErrorCode.STALE_MEMBER_EPOCH if version == 6 else ErrorCode.ILLEGAL_GENERATION
    assert [committed("m", 2), committed("", -1)] == [NONE, NONE]
    assert [committed("m", 1), committed("m", 3)] == [stale, stale]
    assert committed("nobody", 2) == ErrorCode.UNKNOWN_MEMBER_ID
