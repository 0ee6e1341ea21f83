"""What other APIs say of share groups; as Kafka 4.4.0 was seen to."""

from __future__ import annotations

import pytest

from kafkawire.errors import ErrorCode
from kafkawire.messages.consumer_group_describe_request import ConsumerGroupDescribeRequest
from kafkawire.messages.consumer_group_describe_response import ConsumerGroupDescribeResponse
from kafkawire.messages.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest
from kafkawire.messages.consumer_group_heartbeat_response import ConsumerGroupHeartbeatResponse
from kafkawire.messages.describe_groups_request import DescribeGroupsRequest
from kafkawire.messages.describe_groups_response import DescribeGroupsResponse
from kafkawire.messages.heartbeat_request import HeartbeatRequest
from kafkawire.messages.heartbeat_response import HeartbeatResponse
from kafkawire.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
from kafkawire.messages.leave_group_response import LeaveGroupResponse
from kafkawire.messages.offset_delete_request import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kafkawire.messages.offset_delete_response import OffsetDeleteResponse
from kafkawire.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kafkawire.messages.txn_offset_commit_response import TxnOffsetCommitResponse
from tests.handlers.share_club import ShareClub

NONE, NOT_FOUND = ErrorCode.NONE, ErrorCode.GROUP_ID_NOT_FOUND


@pytest.fixture(params=[False, True], ids=["alive", "empty"])
def club(request: pytest.FixtureRequest) -> ShareClub:
    """Group "g" has a member, or had one."""
    club = ShareClub(t=1)
    club.beat(topics=["t"])
    if request.param:
        club.beat(epoch=-1)
    return club


@pytest.mark.behaviour("DG-8")
@pytest.mark.parametrize("version", [5, 6])
def test_describe_groups_takes_one_for_dead(club: ShareClub, version: int):
    (group,) = club.desk.ask(version, DescribeGroupsRequest(["g"]), DescribeGroupsResponse).groups
    found = group.group_state, group.error_code, group.error_message
    assert found == (("Dead", NONE, None), ("Dead", NOT_FOUND, "Group g is not a classic group."))[version - 5]


@pytest.mark.behaviour("CG-6")
@pytest.mark.behaviour("CD-2")
def test_it_is_no_consumer_group(club: ShareClub):
    joining = ConsumerGroupHeartbeatRequest(
        "g", "m", 0, rebalance_timeout_ms=1, subscribed_topic_names=["t"], topic_partitions=[]
    )
    answer = club.desk.ask(1, joining, ConsumerGroupHeartbeatResponse)
    assert (answer.error_code, answer.error_message) == (NOT_FOUND, "Group g is not a consumer group.")
    (group,) = club.desk.ask(1, ConsumerGroupDescribeRequest(["g"]), ConsumerGroupDescribeResponse).groups
    assert (group.error_code, group.error_message) == (NOT_FOUND, "Group g is not a consumer group.")


@pytest.mark.behaviour("GH-5")
def test_the_classic_protocol_does_not_know_its_members(club: ShareClub):
    beat = club.desk.ask(4, HeartbeatRequest("g", 2, "m"), HeartbeatResponse)
    assert beat.error_code == ErrorCode.UNKNOWN_MEMBER_ID
    left = club.desk.ask(5, LeaveGroupRequest("g", members=[MemberIdentity("m")]), LeaveGroupResponse)
    assert [one.error_code for one in left.members] == [ErrorCode.UNKNOWN_MEMBER_ID]


@pytest.mark.behaviour("GH-5")
def test_it_has_no_offsets_to_be_deleted_or_committed(club: ShareClub):
    topics = [OffsetDeleteRequestTopic("t", [OffsetDeleteRequestPartition(0)])]
    answer = club.desk.ask(0, OffsetDeleteRequest("g", topics), OffsetDeleteResponse)
    assert (answer.error_code, list(answer.topics)) == (NOT_FOUND, [])
    offsets = [TxnOffsetCommitRequestTopic("t", partitions=[TxnOffsetCommitRequestPartition(0, 5)])]
    request = TxnOffsetCommitRequest("txn", "g", 0, 0, topics=offsets)
    (topic,) = club.desk.ask(5, request, TxnOffsetCommitResponse).topics
    assert [one.error_code for one in topic.partitions] != [NONE]
