"""StreamsGroupDescribe, through its handler; as Kafka 4.4.0 was seen to answer."""

from __future__ import annotations

import pytest

from kafkastub.security.operations import GROUP_OPERATIONS
from kafkastub.state.topics import add_partitions
from kafkawire.errors import ErrorCode
from kafkawire.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafkawire.messages.offset_commit_response import OffsetCommitResponse
from tests.handlers.streams_club import StreamsClub, repartitioned

NONE, NOT_FOUND = ErrorCode.NONE, ErrorCode.GROUP_ID_NOT_FOUND


@pytest.fixture
def club() -> StreamsClub:
    return StreamsClub({"offsets.topic.num.partitions": 2}, orders=4, customers=3)


def commit(club: StreamsClub, group: str) -> None:
    """A record of another group."""
    topics = [OffsetCommitRequestTopic("orders", partitions=[OffsetCommitRequestPartition(0, 5, -1, "")])]
    club.desk.ask(9, OffsetCommitRequest(group, topics=topics), OffsetCommitResponse)


@pytest.mark.behaviour("KS-1")
def test_a_group_is_told_with_all_that_its_members_said_and_have(club: StreamsClub):
    club.beat("a", endpoint=("host", 9), tags=[("zone", "z")], instance_id="i", rack_id="r", process_id="p")
    club.beat("b")
    club.beat("a", 2, instance_id="i")
    (group,) = club.describe()
    about = group.error_code, group.group_state, group.group_epoch, group.assignment_epoch, group.assignor_name
    assert about == (NONE, "Reconciling", 3, 3, "sticky")
    one = club.member("a")
    assert (one.member_epoch, one.instance_id, one.rack_id, one.client_id, one.client_host) == (
        2, "i", "r", "test", "/127.0.0.1",
    )  # fmt: skip
    assert (one.topology_epoch, one.process_id, one.is_classic) == (0, "p", False)
    assert (one.user_endpoint.host, one.user_endpoint.port) == ("host", 9)
    assert [(tag.key, tag.value) for tag in one.client_tags] == [("zone", "z")]
    assert club.tasks(one.assignment.active_tasks) == {"one": [0, 1]}
    assert club.tasks(one.target_assignment.active_tasks) == {"one": [0, 1]}
    other = club.member("b")
    assert (club.tasks(other.assignment.active_tasks), other.user_endpoint) == ({}, None)
    assert club.tasks(other.target_assignment.active_tasks) == {"one": [2, 3]}


def told(club: StreamsClub, group: str = "g") -> list[int]:
    """The partitions of the internal topics of the second subtopology, as they are told."""
    topology = club.describe(group)[0].topology
    assert topology is not None
    one = topology.subtopologies[1]
    return [topic.partitions for topic in (*one.repartition_source_topics, *one.state_changelog_topics)]


@pytest.mark.behaviour("KS-2")
def test_the_topology_is_told_as_it_was_sent_until_its_topics_are_there(club: StreamsClub):
    answer = club.beat(topology=repartitioned())
    assert told(club) == [0, 0]
    answer = club.beat(epoch=answer.member_epoch)
    assert told(club) == [3, 3]
    (group,) = club.describe()
    assert group.topology is not None
    assert [one.subtopology_id for one in group.topology.subtopologies] == ["0", "1"]
    assert list(group.topology.subtopologies[0].repartition_sink_topics) == ["app-by-customer-repartition"]
    (kept,) = group.topology.subtopologies[1].state_changelog_topics
    assert (kept.name, [(one.key, one.value) for one in kept.topic_configs]) == (
        "app-join-changelog",
        [("cleanup.policy", "compact")],
    )


@pytest.mark.behaviour("KS-2")
def test_what_came_without_a_record_is_told_with_the_next_one_of_the_partition(club: StreamsClub):
    club.beat(topology=repartitioned())
    club.beat(epoch=2)
    answer = club.beat("x", group="x", topology=repartitioned())
    assert (answer.status, told(club, "x")) == ((), [0, 0]), "what a new group's first heartbeat finds is lost in Kafka"
    club.beat("x", answer.member_epoch, group="x")
    assert told(club, "x") == [0, 0], "nothing had to be written"
    for number in range(20):
        commit(club, f"group-{number}")  # one of them is in its partition
    assert told(club, "x") == [3, 3]


@pytest.mark.behaviour("KS-2")
def test_a_topology_that_no_longer_fits_is_told_as_it_was_sent(club: StreamsClub):
    club.beat(topology=repartitioned())
    club.beat(epoch=2)
    add_partitions(club.desk.state, "customers", 2)
    club.beat(epoch=3)
    assert (club.state(), told(club)) == ("NotReady", [0, 0])


@pytest.mark.behaviour("KS-3")
@pytest.mark.behaviour("KS-4")
@pytest.mark.behaviour("KS-5")
def test_what_is_no_streams_group_is_said_and_the_nameless_come_first(club: StreamsClub):
    commit(club, "simple")
    club.beat()
    answer = club.describe("g", "none", "", "simple", "g", "")
    assert [(one.group_id, one.error_code) for one in answer[:2]] == [("", ErrorCode.INVALID_GROUP_ID)] * 2
    assert sorted((one.group_id, one.error_code, one.error_message) for one in answer[2:] if one.error_code) == [
        ("none", NOT_FOUND, "Group none not found."),
        ("simple", NOT_FOUND, "Group simple is not a streams group."),
    ]
    assert [one.group_id for one in answer].count("g") == 2


@pytest.mark.behaviour("KS-9")
@pytest.mark.parametrize("count", [3, 300])
def test_many_unknown_groups_are_told_like_few(club: StreamsClub, count: int):
    club.beat()
    names = [f"none-{number}" for number in range(count)]
    found = {one.group_id: (one.error_code, one.error_message) for one in club.describe(*names, "g")}
    assert found == {name: (NOT_FOUND, f"Group {name} not found.") for name in names} | {"g": (NONE, None)}


@pytest.mark.behaviour("KS-6")
def test_operations_are_told_where_asked_for(club: StreamsClub):
    club.beat()
    lowest = -(2**31)
    assert club.describe()[0].authorized_operations == lowest
    asked = club.describe("g", "none", include_authorized_operations=True)
    assert {one.group_id: one.authorized_operations for one in asked} == {"g": GROUP_OPERATIONS, "none": lowest}


@pytest.mark.behaviour("KS-7")
def test_switched_off_every_group_is_refused():
    club = StreamsClub({"group.coordinator.rebalance.protocols": "classic"})
    answer = club.describe("g", "", "g")
    assert [(one.group_id, one.error_code) for one in answer] == [
        (name, ErrorCode.UNSUPPORTED_VERSION) for name in ("g", "", "g")
    ]


@pytest.mark.behaviour("KS-8")
def test_no_description_of_a_topology_is_kept(club: StreamsClub):
    club.beat()
    assert club.describe()[0].topology_description_status == 0
    asked = club.describe("g", "none", include_topology_description=True)
    assert {one.group_id: one.topology_description_status for one in asked} == {"g": 1, "none": 0}
    assert [one.topology_description for one in asked] == [None, None]
