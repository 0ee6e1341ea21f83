"""A commit that is refused whole leaves a group behind, and no record: who only reads does not see it yet."""

from __future__ import annotations

import pytest

from kafkastub.coordinator import partition_for
from kafkawire.errors import ErrorCode
from kafkawire.messages.delete_groups_request import DeleteGroupsRequest
from kafkawire.messages.delete_groups_response import DeleteGroupsResponse
from kafkawire.messages.describe_groups_request import DescribeGroupsRequest
from kafkawire.messages.describe_groups_response import DescribeGroupsResponse
from kafkawire.messages.heartbeat_request import HeartbeatRequest
from kafkawire.messages.heartbeat_response import HeartbeatResponse
from kafkawire.messages.list_groups_request import ListGroupsRequest
from kafkawire.messages.list_groups_response import ListGroupsResponse
from kafkawire.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafkawire.messages.offset_commit_response import OffsetCommitResponse
from tests.handlers.desk import Desk

SAME = [name for name in map("group-{}".format, range(30)) if partition_for(name, 3) == 0]
OTHER = next(name for name in map("group-{}".format, range(30)) if partition_for(name, 3) == 1)
TOO_LARGE = "x" * 5000


@pytest.fixture
def desk() -> Desk:
    desk = Desk({"offsets.topic.num.partitions": 3})
    desk.topic("orders")
    return desk


def commit(desk: Desk, group: str, metadata: str = "") -> int:
    topics = [OffsetCommitRequestTopic("orders", partitions=[OffsetCommitRequestPartition(0, 5, -1, metadata)])]
    answer = desk.ask(8, OffsetCommitRequest(group, topics=topics), OffsetCommitResponse)
    return answer.topics[0].partitions[0].error_code


def described(desk: Desk, group: str) -> tuple[int, str, int, str]:
    """Error code and state of versions 5 and 6."""
    five, six = (desk.ask(v, DescribeGroupsRequest([group]), DescribeGroupsResponse).groups[0] for v in (5, 6))
    return five.error_code, five.group_state, six.error_code, six.group_state


def listed(desk: Desk) -> list[str]:
    return [group.group_id for group in desk.ask(4, ListGroupsRequest(), ListGroupsResponse).groups]


UNKNOWN = (0, "Dead", ErrorCode.GROUP_ID_NOT_FOUND, "Dead")


@pytest.mark.behaviour("DG-7", "LS-4")
def test_a_group_of_a_refused_commit_is_seen_with_the_next_record_of_its_partition(desk: Desk):
    """As 4.3.1 does, asked the same."""
    first, second, third = SAME[:3]
    for group in (first, second):
        assert commit(desk, group, TOO_LARGE) == ErrorCode.OFFSET_METADATA_TOO_LARGE
    assert described(desk, first) == UNKNOWN
    assert listed(desk) == []
    # it is there all the same for whoever writes
    heartbeat = desk.ask(3, HeartbeatRequest(first, 1, "m"), HeartbeatResponse)
    assert heartbeat.error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert commit(desk, OTHER) == 0
    assert described(desk, first) == UNKNOWN, "a record of another partition"
    assert listed(desk) == [OTHER]
    assert commit(desk, third) == 0
    assert described(desk, first) == described(desk, second) == (0, "Empty", 0, "Empty")
    assert listed(desk) == [first, second, OTHER, third]


@pytest.mark.behaviour("DG-7")
def test_such_a_group_can_be_deleted(desk: Desk):
    first, second = SAME[:2]
    for group in (first, second):
        commit(desk, group, TOO_LARGE)
    deleted = desk.ask(2, DeleteGroupsRequest([first, "nope"]), DeleteGroupsResponse).results
    assert {one.group_id: one.error_code for one in deleted} == {first: 0, "nope": ErrorCode.GROUP_ID_NOT_FOUND}
    assert described(desk, first) == UNKNOWN
    # its tombstone was a record of the other's partition
    assert listed(desk) == [second]
    assert desk.state.coordinator.unseen == set()


def test_a_crowd_of_such_groups_is_shown_rather_than_looked_through_at_each_write(desk: Desk):
    for number in range(150):
        commit(desk, f"refused-{number}", TOO_LARGE)
    commit(desk, "another")
    assert len(listed(desk)) == 151
    assert len(desk.state.coordinator.unseen) == 0
