"""ConsumerGroupHeartbeat and ConsumerGroupDescribe, through their handlers; as Kafka 4.4.0 was seen to answer."""

from __future__ import annotations

from typing import Any

import pytest

from kafkastub.security import Acl, Operation, PatternType, Permission, ResourceType
from kafkastub.security.operations import GROUP_OPERATIONS
from kafkastub.state.configs.broker_changes import change_broker
from kafkastub.state.features import update_features
from kafkastub.state.leadership import move_leader
from kafkastub.state.topics import add_partitions
from kafkawire.errors import ErrorCode
from tests.handlers.club import Club

NONE = ErrorCode.NONE


@pytest.fixture
def club() -> Club:
    return Club(t=4)


def told(answer: Any) -> tuple[Any, ...]:
    """What stands at the top of an answer."""
    return answer.error_code, answer.error_message, answer.member_id, answer.member_epoch, answer.heartbeat_interval_ms


# -- heartbeats ------------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("CG-1")
@pytest.mark.parametrize(
    ("request_", "text"),
    [
        ({"member": ""}, "MemberId can't be empty."),
        ({"group": ""}, "GroupId can't be empty."),
        ({"rebalance_timeout_ms": -1}, "RebalanceTimeoutMs must be provided in first request."),
        ({"owned": {"t": [0]}}, "TopicPartitions must be empty when (re-)joining."),
        ({"epoch": -2}, "InstanceId can't be null."),
        ({"epoch": -3}, "MemberEpoch is invalid."),
    ],
)
@pytest.mark.parametrize("loading", [False, True])
def test_what_cannot_be_is_refused_before_the_coordinator_is_looked_for(
    club: Club, request_: dict[str, Any], text: str, loading: bool
):
    if loading:
        club.desk.state.refusal = ErrorCode.NOT_COORDINATOR
    assert told(club.beat(**request_)) == (ErrorCode.INVALID_REQUEST, text, None, 0, 0)
    club.desk.state.refusal = None
    assert club.describe()[0].error_code == ErrorCode.GROUP_ID_NOT_FOUND


@pytest.mark.behaviour("CG-1")
def test_an_assignor_that_is_not_configured_is_refused_with_those_that_are(club: Club):
    answer = club.beat(server_assignor="sticky")
    text = "ServerAssignor sticky is not supported. Supported assignors: uniform, range."
    assert (answer.error_code, answer.error_message) == (ErrorCode.UNSUPPORTED_ASSIGNOR, text)


@pytest.mark.behaviour("CG-2")
@pytest.mark.parametrize("version", [0, 1])
def test_who_joins_is_told_its_epoch_and_its_assignment(club: Club, version: int):
    answer = club.beat(topics=["t"], version=version)
    assert told(answer) == (NONE, None, "m", 2, 5000)
    assert club.places(answer) == {"t": [0, 1, 2, 3]}
    again = club.beat(epoch=2, version=version)
    assert (told(again), club.places(again)) == ((NONE, None, "m", 2, 5000), None)


@pytest.mark.behaviour("CG-2")
def test_a_second_member_gets_what_the_first_has_let_go_of(club: Club):
    club.beat("one", topics=["t"])
    assert club.places(club.beat("two", topics=["t"])) == {}
    kept = club.places(club.beat("one", 2))
    assert kept is not None
    assert len(kept["t"]) == 2
    assert told(club.beat("one", 2, owned=kept))[3] == 3
    given = club.places(club.beat("two", 3))
    assert given is not None
    assert sorted(kept["t"] + given["t"]) == [0, 1, 2, 3]


@pytest.mark.behaviour("CG-3")
def test_version_0_gives_who_has_no_member_id_one(club: Club):
    answer = club.beat("", topics=["t"], version=0)
    assert answer.error_code == NONE
    assert answer.member_id is not None
    assert len(answer.member_id) == 22
    assert club.beat(answer.member_id, 2).error_code == NONE


@pytest.mark.behaviour("CG-4")
def test_the_last_member_leaves_the_group_empty(club: Club):
    club.beat(topics=["t"])
    assert told(club.beat(epoch=-1)) == (NONE, None, "m", -1, 0)
    (group,) = club.describe()
    assert (group.group_state, group.group_epoch, list(group.members)) == ("Empty", 3, [])


@pytest.mark.behaviour("CG-5")
def test_a_static_member_comes_back_to_what_is_its(club: Club):
    club.beat("one", topics=["t"], instance_id="i")
    assert told(club.beat("one", -2, instance_id="i")) == (NONE, None, "one", -2, 0)
    answer = club.beat("two", topics=["t"], instance_id="i")
    assert (answer.member_epoch, club.places(answer)) == (2, {"t": [0, 1, 2, 3]})
    fenced = club.beat("one", 2, instance_id="i")
    assert fenced.error_code == ErrorCode.FENCED_INSTANCE_ID


@pytest.mark.behaviour("CG-6")
def test_who_is_not_known_is_told_what_is_not():
    club = Club(t=1)
    nobody = club.beat(epoch=1)
    assert (nobody.error_code, nobody.error_message) == (
        ErrorCode.GROUP_ID_NOT_FOUND,
        "Consumer group g not found.",
    )
    club.beat(topics=["t"])
    stranger = club.beat("other", 1)
    assert (stranger.error_code, stranger.error_message) == (
        ErrorCode.UNKNOWN_MEMBER_ID,
        "Member other is not a member of group g.",
    )


@pytest.mark.behaviour("CG-6")
def test_another_epoch_is_fenced_but_for_the_one_before(club: Club):
    club.beat("one", topics=["t"])
    club.beat("two", topics=["t"])
    assert club.beat("one", 3).error_code == ErrorCode.FENCED_MEMBER_EPOCH
    kept = club.places(club.beat("one", 2))
    assert club.beat("one", 2, owned=kept).member_epoch == 3
    assert club.beat("one", 2, owned=kept).member_epoch == 3  # the answer may have been lost
    assert club.beat("one", 1).error_code == ErrorCode.FENCED_MEMBER_EPOCH


@pytest.mark.behaviour("CG-7")
def test_a_regular_expression_does_not_see_what_its_member_may_not_describe():
    club = Club({"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"}, seen=1, secret=1)
    authorizer = club.desk.state.authorizer
    assert authorizer is not None
    authorizer.replace(
        Acl(kind, name, PatternType.LITERAL, "User:ANONYMOUS", "*", operation, Permission.ALLOW)
        for kind, name, operation in (
            (ResourceType.GROUP, "g", Operation.READ),
            (ResourceType.TOPIC, "seen", Operation.DESCRIBE),
        )
    )
    club.beat(subscribed_topic_regex="s.*")
    club.desk.wait_until(club.desk.timer_ms)
    assert club.places(club.beat(epoch=1)) == {"seen": [0]}


@pytest.mark.behaviour("CG-8")
@pytest.mark.behaviour("CD-8")
def test_the_protocol_can_be_switched_off_by_the_configuration():
    club = Club({"group.coordinator.rebalance.protocols": "classic"}, t=1)
    assert told(club.beat("", group="")) == (ErrorCode.UNSUPPORTED_VERSION, None, None, 0, 0)
    assert [(one.group_id, one.error_code) for one in club.describe("g", "")] == [
        ("g", ErrorCode.UNSUPPORTED_VERSION),
        ("", ErrorCode.UNSUPPORTED_VERSION),
    ]


@pytest.mark.behaviour("CG-8")
def test_the_protocol_can_be_switched_off_by_the_cluster(club: Club):
    assert club.beat(topics=["t"]).error_code == NONE
    update_features(club.desk.state, [("group.version", 0, 2)])
    assert club.beat(epoch=2).error_code == ErrorCode.UNSUPPORTED_VERSION


@pytest.mark.behaviour("CG-8")
@pytest.mark.parametrize(
    ("release", "protocols", "code"),
    [
        ("3.7", None, ErrorCode.UNSUPPORTED_VERSION),
        ("3.9", None, ErrorCode.UNSUPPORTED_VERSION),
        ("3.9", "classic,consumer", NONE),
        ("4.0", None, NONE),
        ("4.4", "classic,consumer", NONE),
    ],
)
def test_brokers_before_4_have_to_be_told_of_the_protocol(release: str, protocols: str | None, code: ErrorCode):
    config: dict[str, object] = {"kafkastub.as.version": release}
    if protocols is not None:
        config["group.coordinator.rebalance.protocols"] = protocols
    assert Club(config, t=1).beat(topics=["t"], version=0).error_code == code


@pytest.mark.behaviour("CG-9")
def test_a_group_goes_by_its_own_configuration(club: Club):
    club.desk.state.cluster.group_configs["g"] = {"consumer.heartbeat.interval.ms": "6000"}
    assert club.beat(topics=["t"]).heartbeat_interval_ms == 6000
    assert club.beat(topics=["t"], group="other").heartbeat_interval_ms == 5000
    del club.desk.state.cluster.group_configs["g"]
    assert club.beat(epoch=2).heartbeat_interval_ms == 5000


@pytest.mark.behaviour("CG-9")
def test_sessions_last_as_long_as_the_group_is_configured_for(club: Club):
    club.desk.state.cluster.group_configs["g"] = {"consumer.session.timeout.ms": "60000"}
    for group in ("g", "other"):
        club.beat(topics=["t"], group=group)
    club.desk.wait_until(45_000)
    assert {one.group_id: one.group_state for one in club.describe("g", "other")} == {"g": "Stable", "other": "Empty"}
    club.desk.wait_until(60_000)
    assert club.describe()[0].group_state == "Empty"


@pytest.mark.behaviour("CG-10")
def test_a_topic_that_grows_or_comes_is_noticed_with_the_next_heartbeat(club: Club):
    club.beat(topics=["t", "u"])
    add_partitions(club.desk.state, "t", 1)
    answer = club.beat(epoch=2)
    assert (answer.member_epoch, club.places(answer)) == (3, {"t": [0, 1, 2, 3, 4]})
    club.desk.topic("u", 1)
    answer = club.beat(epoch=3)
    assert (answer.member_epoch, club.places(answer)) == (4, {"t": [0, 1, 2, 3, 4], "u": [0]})


@pytest.mark.behaviour("CG-10")
@pytest.mark.behaviour("CD-7")
def test_a_topic_that_goes_is_taken_away_with_the_next_heartbeat(club: Club):
    club.desk.topic("u", 1)
    club.beat(topics=["t", "u"])
    club.desk.delete("u")
    answer = club.beat(epoch=2)
    assert (answer.member_epoch, club.places(answer)) == (2, {"t": [0, 1, 2, 3]})
    (group,) = club.describe()
    (member,) = group.members
    assert group.group_epoch == 3
    assert [[one.topic_name for one in each.topic_partitions] for each in (member.assignment, member.target_assignment)]
    assert {one.topic_name for one in member.assignment.topic_partitions} == {"t"}
    assert {one.topic_name for one in member.target_assignment.topic_partitions} == {"t"}


@pytest.mark.behaviour("CG-10")
def test_a_new_leader_is_no_change_to_a_group():
    club = Club(nodes=2)
    topic = club.desk.topic("t", 1)
    club.beat(topics=["t"])
    other = 3 - topic.partitions[0].leader
    move_leader(club.desk.state, topic, 0, other, (club.desk.broker_ms, club.desk.timer_ms))
    answer = club.beat(epoch=2)
    assert (answer.member_epoch, club.describe()[0].group_epoch) == (2, 2)


@pytest.mark.behaviour("CG-11")
def test_an_error_has_nothing_beside_its_code_and_text(club: Club):
    club.beat(topics=["t"])
    answer = club.beat(epoch=7)
    assert told(answer)[0] == ErrorCode.FENCED_MEMBER_EPOCH
    assert told(answer)[2:] == (None, 0, 0)
    assert answer.assignment is None


# -- descriptions ----------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("CD-1")
@pytest.mark.behaviour("CD-6")
@pytest.mark.parametrize(("version", "member_type"), [(0, -1), (1, 1)])
def test_a_group_is_described_with_its_members(club: Club, version: int, member_type: int):
    club.beat("one", topics=["t"], rack_id="r", instance_id="i")
    club.beat("two", topics=["t"], server_assignor="range")
    (group,) = club.describe(version=version)
    assert (group.error_code, group.group_id, group.group_state) == (NONE, "g", "Reconciling")
    assert (group.group_epoch, group.assignment_epoch, group.assignor_name) == (3, 3, "range")
    one, two = sorted(group.members, key=lambda member: member.member_id)
    assert (one.member_id, one.instance_id, one.rack_id, one.member_epoch) == ("one", "i", "r", 2)
    assert (two.client_id, two.client_host, list(two.subscribed_topic_names)) == ("test", "/127.0.0.1", ["t"])
    assert (two.subscribed_topic_regex, two.member_type) == ("", member_type)
    assert [sorted(each.partitions) for each in one.assignment.topic_partitions] == [[0, 1, 2, 3]]
    assert [list(each.partitions) for each in two.assignment.topic_partitions] == []
    assert [(each.topic_name, sorted(each.partitions)) for each in two.target_assignment.topic_partitions] == [
        ("t", [2, 3])
    ]


@pytest.mark.behaviour("CD-2")
@pytest.mark.behaviour("CD-3")
@pytest.mark.behaviour("CD-4")
def test_what_is_no_consumer_group_is_said_and_the_nameless_come_first(club: Club):
    club.commit("simple")
    club.beat(topics=["t"])
    answer = club.describe("g", "none", "", "simple", "g", "")
    assert [(one.group_id, one.error_code) for one in answer[:2]] == [("", ErrorCode.INVALID_GROUP_ID)] * 2
    assert sorted((one.group_id, one.error_code, one.error_message) for one in answer[2:] if one.error_code) == [
        ("none", ErrorCode.GROUP_ID_NOT_FOUND, "Group none not found."),
        ("simple", ErrorCode.GROUP_ID_NOT_FOUND, "Group simple is not a consumer group."),
    ]
    assert [one.group_id for one in answer].count("g") == 2


@pytest.mark.behaviour("CD-2")
@pytest.mark.parametrize("count", [3, 300])
def test_many_unknown_groups_are_told_like_few(club: Club, count: int):
    club.beat(topics=["t"])
    names = [f"none-{number}" for number in range(count)]
    told = {
        one.group_id: (one.error_code, one.error_message, one.authorized_operations) for one in club.describe(*names)
    }
    assert told == {name: (ErrorCode.GROUP_ID_NOT_FOUND, f"Group {name} not found.", -(2**31)) for name in names}


@pytest.mark.behaviour("CD-5")
def test_operations_are_told_where_asked_for(club: Club):
    club.beat(topics=["t"])
    lowest = -(2**31)
    assert club.describe()[0].authorized_operations == lowest
    asked = {one.group_id: one.authorized_operations for one in club.describe("g", "none", operations=True)}
    assert asked == {"g": GROUP_OPERATIONS, "none": lowest}


def configured(club: Club, **changes: str) -> None:
    """The configuration of all brokers changes while they run."""
    wanted = [(f"group.consumer.{name.replace('_', '.')}", 0, text) for name, text in changes.items()]
    change_broker(club.desk.state, 1, "", wanted, replace=False, validate_only=False)


@pytest.mark.behaviour("CG-9")
def test_how_often_groups_are_assigned_changes_while_the_broker_runs():
    club = Club(t=2)
    club.beat("one", topics=["t"])
    configured(club, assignment_interval_ms="1000")
    assert club.beat("two", topics=["t"]).member_epoch == 2  # that of the last assignment: the next is a second away
    assert club.describe()[0].group_state == "Assigning"
    configured(club, assignment_interval_ms="0")
    assert club.beat("two", 2).member_epoch == 3


def test_a_coordinator_made_later_goes_by_what_was_changed_before():
    club = Club(t=2)
    configured(club, assignment_interval_ms="1000")
    club.beat("one", topics=["t"])
    assert club.beat("two", topics=["t"]).member_epoch == 2


def test_the_rebalances_of_groups_are_counted(club: Club):
    state = club.desk.state
    assert state.meters()["consumer-group-rebalances"] == 0
    club.beat("one", topics=["t"])
    club.beat("two", topics=["t"])
    club.beat("two", 3)
    assert state.meters()["consumer-group-rebalances"] == 2
