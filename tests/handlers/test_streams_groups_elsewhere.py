"""What other APIs say of streams groups, and what becomes of them; as Kafka 4.4.0 was seen to answer."""

from __future__ import annotations

from typing import Any

import pytest

from kafkawire.errors import ErrorCode
from kafkawire.messages.add_offsets_to_txn_request import AddOffsetsToTxnRequest
from kafkawire.messages.add_offsets_to_txn_response import AddOffsetsToTxnResponse
from kafkawire.messages.consumer_group_describe_request import ConsumerGroupDescribeRequest
from kafkawire.messages.consumer_group_describe_response import ConsumerGroupDescribeResponse
from kafkawire.messages.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest
from kafkawire.messages.consumer_group_heartbeat_response import ConsumerGroupHeartbeatResponse
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
from kafkawire.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafkawire.messages.offset_commit_response import OffsetCommitResponse
from kafkawire.messages.offset_delete_request import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kafkawire.messages.offset_delete_response import OffsetDeleteResponse
from kafkawire.messages.offset_fetch_request import OffsetFetchRequest, OffsetFetchRequestGroup
from kafkawire.messages.offset_fetch_response import OffsetFetchResponse
from kafkawire.messages.share_group_heartbeat_request import ShareGroupHeartbeatRequest
from kafkawire.messages.share_group_heartbeat_response import ShareGroupHeartbeatResponse
from kafkawire.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kafkawire.messages.txn_offset_commit_response import TxnOffsetCommitResponse
from tests.handlers.desk import answered
from tests.handlers.streams_club import StreamsClub, topology

NONE, NOT_FOUND = ErrorCode.NONE, ErrorCode.GROUP_ID_NOT_FOUND
STALE, UNKNOWN = ErrorCode.STALE_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID
DAY = 86_400_000


@pytest.fixture
def club() -> StreamsClub:
    """Group "g" has a member."""
    club = StreamsClub(orders=4, customers=3)
    club.beat()
    return club


# -- groups of other types --------------------------------------------------------------------------------------------


@pytest.mark.behaviour("DG-8")
@pytest.mark.parametrize("version", [5, 6])
def test_describe_groups_takes_one_for_dead(club: StreamsClub, version: int):
    (group,) = club.desk.ask(version, DescribeGroupsRequest(["g"]), DescribeGroupsResponse).groups
    found = group.group_state, group.error_code, group.error_message
    assert found == (("Dead", NONE, None), ("Dead", NOT_FOUND, "Group g is not a classic group."))[version - 5]


@pytest.mark.behaviour("CG-6")
@pytest.mark.behaviour("CD-2")
@pytest.mark.behaviour("GH-5")
@pytest.mark.parametrize("empty", [False, True])
def test_it_is_no_consumer_and_no_share_group(club: StreamsClub, empty: bool):
    if empty:
        club.beat(epoch=-1)
    joining = ConsumerGroupHeartbeatRequest(
        "g", "m", 0, rebalance_timeout_ms=1, subscribed_topic_names=["orders"], topic_partitions=[]
    )
    answer: Any = club.desk.ask(1, joining, ConsumerGroupHeartbeatResponse)
    assert (answer.error_code, answer.error_message) == (NOT_FOUND, "Group g is not a consumer group.")
    (group,) = club.desk.ask(1, ConsumerGroupDescribeRequest(["g"]), ConsumerGroupDescribeResponse).groups
    assert (group.error_code, group.error_message) == (NOT_FOUND, "Group g is not a consumer group.")
    sharing = ShareGroupHeartbeatRequest("g", "m", 0, None, ["orders"])
    answer = club.desk.ask(1, sharing, ShareGroupHeartbeatResponse)
    assert (answer.error_code, answer.error_message) == (NOT_FOUND, "Group g is not a share group.")


@pytest.mark.behaviour("TH-10")
@pytest.mark.parametrize("kind", ["consumer", "share"])
@pytest.mark.parametrize("epoch", [0, 1, -1])
def test_a_group_of_another_type_is_no_streams_group(club: StreamsClub, kind: str, epoch: int):
    if kind == "consumer":
        joining = ConsumerGroupHeartbeatRequest(
            "other", "m", 0, rebalance_timeout_ms=1, subscribed_topic_names=["orders"], topic_partitions=[]
        )
        club.desk.ask(1, joining, ConsumerGroupHeartbeatResponse)
    else:
        sharing = ShareGroupHeartbeatRequest("other", "m", 0, None, ["orders"])
        club.desk.ask(1, sharing, ShareGroupHeartbeatResponse)
    answer = club.beat(epoch=epoch, group="other")
    assert (answer.error_code, answer.error_message) == (NOT_FOUND, "Group other is not a streams group.")


def join(club: StreamsClub, group: str = "g", member: str = "") -> JoinGroupResponse:
    protocols = [JoinGroupRequestProtocol("range", b"")]
    request = JoinGroupRequest(group, 10_000, 10_000, member, protocol_type="consumer", protocols=protocols)
    outcome = club.desk.outcome(request.API_KEY, 3, request)
    club.desk.wait_until(club.desk.timer_ms + 3_000)
    answer = answered(outcome, 3, JoinGroupResponse)
    assert answer is not None
    return answer


@pytest.mark.behaviour("TH-12")
def test_a_classic_member_cannot_join_a_group_that_has_members(club: StreamsClub):
    answer = join(club)
    assert (answer.error_code, answer.member_id) == (ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "")
    beat = club.desk.ask(4, HeartbeatRequest("g", 2, "m"), HeartbeatResponse)
    assert beat.error_code == UNKNOWN
    left = club.desk.ask(5, LeaveGroupRequest("g", members=[MemberIdentity("m")]), LeaveGroupResponse)
    assert [one.error_code for one in left.members] == [UNKNOWN]


@pytest.mark.behaviour("TH-12")
def test_an_empty_group_becomes_classic_and_keeps_its_offsets(club: StreamsClub):
    commit(club, "m", 2)
    club.beat(epoch=-1)
    answer = join(club)
    assert answer.error_code == NONE
    assert club.describe()[0].error_message == "Group g is not a streams group."
    assert club.beat().error_code == NOT_FOUND, "as long as somebody is there"
    assert fetched(club) == 5
    club.desk.ask(3, LeaveGroupRequest("g", answer.member_id, [MemberIdentity(answer.member_id)]), LeaveGroupResponse)
    assert club.beat().member_epoch == 2
    assert fetched(club) == 5
    (listed,) = club.desk.ask(5, ListGroupsRequest(), ListGroupsResponse).groups
    assert (listed.group_type, listed.protocol_type, listed.group_state) == ("streams", "streams", "Stable")


@pytest.mark.behaviour("TH-12")
def test_a_group_that_only_stores_offsets_becomes_a_streams_group(club: StreamsClub):
    commit(club, "", -1, group="simple")
    assert club.beat(group="simple").member_epoch == 2
    assert fetched(club, "simple") == 5


# -- offsets -----------------------------------------------------------------------------------------------------------


def commit(
    club: StreamsClub, member: str, epoch: int, topic: str = "orders", partition: int = 0, version: int = 9,
    group: str = "g",
) -> int:  # fmt: skip
    topics = [OffsetCommitRequestTopic(topic, partitions=[OffsetCommitRequestPartition(partition, 5, -1, "")])]
    request = OffsetCommitRequest(group, epoch, member, topics=topics)
    return club.desk.ask(version, request, OffsetCommitResponse).topics[0].partitions[0].error_code


def fetched(club: StreamsClub, group: str = "g", member: str | None = None, epoch: int = -1) -> int:
    """The offset; below 0 the error."""
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group, member, epoch, None)])
    (one,) = club.desk.ask(9, request, OffsetFetchResponse).groups
    return -one.error_code if one.error_code else one.topics[0].partitions[0].committed_offset


@pytest.mark.behaviour("OC-19")
def test_members_commit_in_their_epoch(club: StreamsClub):
    assert commit(club, "m", 2) == NONE
    assert commit(club, "m", 3) == STALE
    assert commit(club, "m", 2, version=8) == ErrorCode.UNSUPPORTED_VERSION
    assert commit(club, "x", 2) == UNKNOWN
    assert commit(club, "", -1) == UNKNOWN
    club.beat(epoch=-1)
    assert commit(club, "", -1) == NONE


@pytest.mark.behaviour("OC-19")
def test_in_an_earlier_epoch_members_commit_for_tasks_that_they_have_had_since(club: StreamsClub):
    club.beat("n")
    club.beat("m", 2, tasks={"one": [0, 1, 2, 3]})
    club.beat("m", 2, tasks={"one": [0, 1]})
    club.beat("n", 3)
    assert club.member("m").member_epoch == 3
    assert [commit(club, "m", 2, partition=number) for number in range(4)] == [NONE, NONE, STALE, STALE]
    assert [commit(club, "n", 2, partition=number) for number in range(4)] == [STALE] * 4
    assert commit(club, "m", 2, topic="customers") == STALE, "the topology does not read it"
    assert commit(club, "m", 3, topic="customers") == NONE


@pytest.mark.behaviour("OC-19")
def test_what_has_to_be_let_go_of_can_still_be_committed(club: StreamsClub):
    club.beat("n")
    club.beat("m", 2, tasks={"one": [0, 1, 2, 3]})
    assert club.member("m").member_epoch == 2
    assert [commit(club, "m", 1, partition=number) for number in (0, 3)] == [STALE, STALE]
    assert [commit(club, "m", 2, partition=number) for number in (0, 3)] == [NONE, NONE]


@pytest.mark.behaviour("TO-17")
@pytest.mark.parametrize("version", [3, 5, 6])
def test_members_commit_in_transactions_in_their_epoch(club: StreamsClub, version: int):
    desk, topic = club.desk, club.desk.state.cluster.topics["orders"]
    producer = desk.ask(5, InitProducerIdRequest("tx", 60_000), InitProducerIdResponse)
    who = producer.producer_id, producer.producer_epoch
    assert desk.ask(3, AddOffsetsToTxnRequest("tx", *who, "g"), AddOffsetsToTxnResponse).error_code == NONE

    def committed(member: str, epoch: int) -> int:
        asked = TxnOffsetCommitRequestTopic("orders", topic.topic_id, [TxnOffsetCommitRequestPartition(0, 1)])
        request = TxnOffsetCommitRequest("tx", "g", *who, epoch, member, None, [asked])
        (answer,) = desk.ask(version, request, TxnOffsetCommitResponse).topics
        return answer.partitions[0].error_code

    stale = STALE if version == 6 else ErrorCode.ILLEGAL_GENERATION
    assert [committed("m", 2), committed("", -1)] == [NONE, NONE]
    assert [committed("m", 1), committed("m", 3)] == [stale, stale]
    assert committed("nobody", 2) == UNKNOWN


@pytest.mark.behaviour("OF-13")
def test_members_fetch_in_their_epoch(club: StreamsClub):
    commit(club, "m", 2)
    assert fetched(club, member="m", epoch=2) == 5
    assert fetched(club) == 5
    assert fetched(club, member="m", epoch=1) == -STALE
    assert fetched(club, member="x", epoch=2) == -UNKNOWN


@pytest.mark.behaviour("OD-9")
def test_offsets_of_what_the_topology_reads_stay_while_somebody_is_there(club: StreamsClub):
    def delete(topic: str) -> int:
        topics = [OffsetDeleteRequestTopic(topic, [OffsetDeleteRequestPartition(0)])]
        (told,) = club.desk.ask(0, OffsetDeleteRequest("g", topics), OffsetDeleteResponse).topics
        return told.partitions[0].error_code

    commit(club, "m", 2)
    commit(club, "m", 2, topic="customers")
    assert (delete("orders"), delete("customers")) == (ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC, NONE)
    club.beat(epoch=-1)
    assert delete("orders") == NONE


def test_offsets_expire_of_topics_that_nobody_reads(club: StreamsClub):
    """Those of the topology's sources while there is a member; each has its own age."""
    commit(club, "m", 2)
    commit(club, "m", 2, topic="customers")
    club.desk.broker_ms += 8 * DAY
    club.desk.state.expire_offsets(club.desk.broker_ms)
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", None, -1, None)])
    (group,) = club.desk.ask(9, request, OffsetFetchResponse).groups
    assert [topic.name for topic in group.topics] == ["orders"]
    club.beat(epoch=-1)
    club.desk.state.expire_offsets(club.desk.broker_ms)
    assert club.describe()[0].error_code == NOT_FOUND, "its offset is as old as it is"


# -- lists and the end -------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("LS-7")
def test_it_is_listed_by_its_states(club: StreamsClub):
    club.beat(group="lost", topology=topology(one="lost"))

    def listed(*states: str, types: tuple[str, ...] = ()) -> list[tuple[str, str]]:
        answer = club.desk.ask(5, ListGroupsRequest([*states], [*types]), ListGroupsResponse)
        assert {(one.group_type, one.protocol_type) for one in answer.groups} <= {("streams", "streams")}
        return sorted((one.group_id, one.group_state) for one in answer.groups)

    both = [("g", "Stable"), ("lost", "NotReady")]
    assert listed() == listed(types=("Streams",)) == listed("stable", "NOT_READY ") == both
    assert listed("NotReady") == []
    assert listed(types=("share",)) == []


@pytest.mark.behaviour("GD-11")
def test_it_can_be_deleted_once_it_is_empty(club: StreamsClub):
    def delete() -> int:
        return club.desk.ask(2, DeleteGroupsRequest(["g"]), DeleteGroupsResponse).results[0].error_code

    commit(club, "m", 2)
    assert delete() == ErrorCode.NON_EMPTY_GROUP
    club.beat(epoch=-1)
    assert delete() == NONE
    assert club.describe()[0].error_code == NOT_FOUND
    assert delete() == NOT_FOUND
    assert not club.desk.state.coordinator.knows("g")
