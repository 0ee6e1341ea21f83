"""StreamsGroupHeartbeat, through its handler; as Kafka 4.4.0 was seen to answer."""

from __future__ import annotations

from typing import Any

import pytest

from kafkastub.state.configs.broker_changes import change_broker
from kafkastub.state.features import update_features
from kafkastub.state.topics import add_partitions
from kafkawire.errors import ErrorCode
from kafkawire.messages.streams_group_heartbeat_request import (
    Subtopology,
    TaskIds,
    TaskOffset,
    TopicInfo,
)
from kafkawire.messages.streams_group_topology_description_update_request import (
    StreamsGroupTopologyDescriptionUpdateRequest,
)
from kafkawire.messages.streams_group_topology_description_update_response import (
    StreamsGroupTopologyDescriptionUpdateResponse,
)
from tests.handlers.streams_club import ORDERS, StreamsClub, statuses, subtopology, topology

NONE, INVALID, FENCED = ErrorCode.NONE, ErrorCode.INVALID_REQUEST, ErrorCode.FENCED_MEMBER_EPOCH
INITIAL = (5, "Assignment delayed due to the configured initial rebalance delay.")
INTERVAL = (5, "Assignment delayed due to the configured assignment interval.")


@pytest.fixture
def club() -> StreamsClub:
    return StreamsClub(orders=4, customers=3)


def told(answer: Any) -> tuple[Any, ...]:
    """What stands at the top of an answer."""
    return answer.error_code, answer.error_message, answer.member_id, answer.member_epoch


def refused(answer: Any) -> tuple[Any, ...]:
    """Code and text of an answer that has nothing else."""
    assert told(answer)[2:] == ("", 0)
    assert (answer.heartbeat_interval_ms, list(answer.status), answer.active_tasks) == (0, [], None)
    return told(answer)[:2]


# -- what can be said ------------------------------------------------------------------------------------------------


def changelog(partitions: int) -> Any:
    one = Subtopology("one", source_topics=["orders"], state_changelog_topics=[TopicInfo("log", partitions)])
    return {"topology": type(ORDERS)(0, [one])}


@pytest.mark.behaviour("TH-1")
@pytest.mark.parametrize(
    ("request_", "text"),
    [
        ({"member": ""}, "MemberId can't be empty."),
        ({"member": " \n"}, "MemberId can't be empty."),
        ({"group": ""}, "GroupId can't be empty."),
        ({"instance_id": ""}, "InstanceId can't be empty."),
        ({"rack_id": " "}, "RackId can't be empty."),
        ({"rebalance_timeout_ms": -1}, "RebalanceTimeoutMs must be provided in first request."),
        ({"tasks": {"one": [0]}}, "ActiveTasks must be empty when (re-)joining."),
        ({"active_tasks": None}, "ActiveTasks must be empty when (re-)joining."),
        ({"standby_tasks": [TaskIds("one", [])]}, "StandbyTasks must be empty when (re-)joining."),
        ({"warmup_tasks": None}, "WarmupTasks must be empty when (re-)joining."),
        ({"topology": None}, "Topology must be non-null when (re-)joining."),
        ({"epoch": 1, "topology": ORDERS}, "Topology can only be provided when (re-)joining."),
        ({"epoch": 1, "active_tasks": []}, "If one task-type is non-null, all must be non-null."),
        ({"epoch": -2}, "InstanceId can't be null."),
        ({"epoch": -3}, "MemberEpoch is -3, but must be greater than or equal to -2."),
        (
            {"topology": type(ORDERS)(0, [Subtopology("one", source_topic_regex=["o.*"])])},
            "Regular expressions for source topics are not supported yet.",
        ),
    ],
)
@pytest.mark.parametrize("elsewhere", [False, True])
def test_what_cannot_be_is_refused_before_the_coordinator_is_looked_for(
    club: StreamsClub, request_: dict[str, Any], text: str, elsewhere: bool
):
    if elsewhere:
        club.desk.state.refusal = ErrorCode.NOT_COORDINATOR
    assert refused(club.beat(**request_)) == (INVALID, text)
    club.desk.state.refusal = None
    assert club.describe()[0].error_code == ErrorCode.GROUP_ID_NOT_FOUND


@pytest.mark.behaviour("TH-1")
def test_a_changelog_must_not_say_how_many_partitions_it_has(club: StreamsClub):
    text = "Changelog topic log must have an undefined partition count, but it is set to 3."
    assert refused(club.beat(**changelog(3))) == (ErrorCode.STREAMS_INVALID_TOPOLOGY, text)


@pytest.mark.behaviour("TH-2")
@pytest.mark.parametrize(
    ("sources", "text"),
    [
        (
            "orders __consumer_offsets -__share_group_state",
            "Use of Kafka internal topics __consumer_offsets,__share_group_state in a Kafka Streams topology is "
            "prohibited.",
        ),
        ("orders b$d .. good", "Topic names b$d,.. are not valid topic names."),
        ("b$d __transaction_state", "Use of Kafka internal topics __transaction_state in a Kafka Streams topology is "
         "prohibited."),
    ],
)  # fmt: skip
@pytest.mark.parametrize("more", [{}, {"member": ""}, {"epoch": 3}])
def test_names_that_no_topic_of_an_application_may_have_are_refused_first(
    club: StreamsClub, sources: str, text: str, more: dict[str, Any]
):
    answer = club.beat(**{"topology": topology(one=sources), **more})
    assert refused(answer) == (ErrorCode.STREAMS_INVALID_TOPOLOGY, text)


@pytest.mark.behaviour("TH-21")
@pytest.mark.parametrize(
    "more",
    [
        {"topology": topology(-1, one="orders")},
        {"topology": type(ORDERS)(0, [subtopology("one", "orders"), subtopology("one", "customers")])},
        {"topology": topology(one="lost"), "endpoint": ("host", 1)},
    ],
)
def test_what_kafka_fails_at_is_an_unknown_error_without_a_text(club: StreamsClub, more: dict[str, Any]):
    assert refused(club.beat(**more)) == (ErrorCode.UNKNOWN_SERVER_ERROR, None)
    assert club.describe()[0].error_code == ErrorCode.GROUP_ID_NOT_FOUND


@pytest.mark.behaviour("TH-20")
def test_switched_off_there_is_no_such_group(club: StreamsClub):
    club.beat()
    update_features(club.desk.state, [("streams.version", 0, 3)])
    assert refused(club.beat(epoch=2)) == (ErrorCode.UNSUPPORTED_VERSION, None)
    assert refused(club.beat(member="")) == (ErrorCode.UNSUPPORTED_VERSION, None)
    assert [one.error_code for one in club.describe("g", "")] == [ErrorCode.UNSUPPORTED_VERSION] * 2
    update_features(club.desk.state, [("streams.version", 1, 1)])
    assert told(club.beat(epoch=2)) == (NONE, None, "m", 2)


@pytest.mark.behaviour("TH-20")
def test_the_configuration_can_leave_the_protocol_out():
    club = StreamsClub({"group.coordinator.rebalance.protocols": "classic,consumer"}, orders=1)
    assert refused(club.beat()) == (ErrorCode.UNSUPPORTED_VERSION, None)


# -- members come ----------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("TH-3")
def test_who_joins_is_told_its_epoch_its_tasks_and_how_often_to_beat(club: StreamsClub):
    answer = club.beat(topology=topology(one="orders", two="customers"))
    assert told(answer) == (NONE, None, "m", 2)
    times = answer.heartbeat_interval_ms, answer.task_offset_interval_ms, answer.acceptable_recovery_lag
    assert times == (5_000, 60_000, 10_000)
    assert club.tasks(answer.active_tasks) == {"one": [0, 1, 2, 3], "two": [0, 1, 2]}
    assert (club.tasks(answer.standby_tasks), club.tasks(answer.warmup_tasks)) == ({}, {})
    assert (statuses(answer), answer.topology_description_required) == ([], False)
    answer = club.beat(epoch=2)
    assert (told(answer), answer.active_tasks, answer.standby_tasks) == ((NONE, None, "m", 2), None, None)


@pytest.mark.behaviour("TH-3")
def test_who_joins_again_is_told_all_that_it_has(club: StreamsClub):
    club.beat()
    answer = club.beat()
    assert (told(answer)[3], club.tasks(answer.active_tasks)) == (2, {"one": [0, 1, 2, 3]})


@pytest.mark.behaviour("TH-3")
def test_version_0_has_no_recovery_lag(club: StreamsClub):
    answer = club.beat(version=0)
    assert (told(answer), answer.acceptable_recovery_lag_legacy) == ((NONE, None, "m", 2), 0)


@pytest.mark.behaviour("TH-4")
def test_the_first_members_wait_for_others_and_then_have_their_share():
    club = StreamsClub({"group.streams.initial.rebalance.delay.ms": 3_000}, orders=4)
    answer = club.beat("a")
    assert (told(answer)[3], statuses(answer), club.tasks(answer.active_tasks)) == (1, [INITIAL], {})
    club.desk.wait_until(2_999)
    answer = club.beat("b")
    assert (told(answer)[3], statuses(answer)) == (1, [INITIAL])
    assert club.state() == "Assigning"
    club.desk.wait_until(3_000)
    (group,) = club.describe()
    assert (group.group_state, group.group_epoch, group.assignment_epoch) == ("Reconciling", 3, 3)
    for member in "ab":
        answer = club.beat(member, 1)
        assert (told(answer)[3], statuses(answer), len(club.tasks(answer.active_tasks)["one"])) == (3, [], 2)


@pytest.mark.behaviour("TH-4")
def test_one_member_that_beats_no_more_gets_nothing_when_the_wait_is_over():
    club = StreamsClub({"group.streams.initial.rebalance.delay.ms": 3_000}, orders=4)
    club.beat()
    club.desk.wait_until(3_000)
    assert club.describe()[0].assignment_epoch == 1, "Kafka does not know the topics yet"
    answer = club.beat(epoch=1)
    assert (told(answer)[3], club.tasks(answer.active_tasks)) == (2, {"one": [0, 1, 2, 3]})


@pytest.mark.behaviour("TH-4")
def test_a_group_that_is_empty_again_waits_again():
    club = StreamsClub({"group.streams.initial.rebalance.delay.ms": 3_000}, orders=4)
    club.beat()
    club.desk.wait_until(3_000)
    club.beat(epoch=1)
    club.beat(epoch=-1)
    assert statuses(club.beat()) == [INITIAL]


@pytest.mark.behaviour("TH-4")
def test_a_target_is_computed_once_in_the_interval():
    club = StreamsClub({"group.streams.assignment.interval.ms": 1_000}, orders=4)
    club.beat("a")
    answer = club.beat("b")
    assert (told(answer)[3], statuses(answer), club.tasks(answer.active_tasks)) == (2, [INTERVAL], {})
    club.desk.wait_until(999)
    assert statuses(club.beat("a", 2)) == [INTERVAL]
    club.desk.wait_until(1_000)
    answer = club.beat("a", 2, tasks={"one": [0, 1, 2, 3]})
    assert (told(answer)[3], statuses(answer), club.tasks(answer.active_tasks)) == (2, [], {"one": [0, 1]})


@pytest.mark.behaviour("TH-4")
def test_the_interval_can_be_changed_while_the_broker_runs():
    club = StreamsClub({"group.streams.assignment.interval.ms": 1_000}, orders=4)
    club.beat("a")
    wanted = [("group.streams.assignment.interval.ms", 0, "0")]
    change_broker(club.desk.state, 1, "", wanted, replace=False, validate_only=False)
    assert statuses(club.beat("b")) == []


@pytest.mark.behaviour("TH-22")
def test_the_first_heartbeat_is_answered_after_its_code_was_brought_in(club: StreamsClub):
    assert not club.desk.state.coordinator.has_streams
    assert told(club.beat()) == (NONE, None, "m", 2)
    assert club.desk.state.coordinator.has_streams
    assert club.desk.state.coordinator.streams_rebalances == 1


# -- the topology ----------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("TH-5")
def test_a_group_whose_source_is_missing_is_not_ready_until_it_is_there(club: StreamsClub):
    lost = topology(one="orders lost")
    answer = club.beat(topology=lost)
    assert statuses(answer) == [(1, "Source topics lost are missing.")]
    assert (told(answer)[3], club.tasks(answer.active_tasks), club.state()) == (2, {}, "NotReady")
    club.desk.topic("lost", 5)
    answer = club.beat(epoch=2)
    assert (told(answer)[3], statuses(answer), club.tasks(answer.active_tasks)) == (3, [], {"one": [0, 1, 2, 3, 4]})
    assert club.state() == "Stable"


@pytest.mark.behaviour("TH-7")
def test_the_group_keeps_its_topology(club: StreamsClub):
    club.beat(topology=topology(3, one="orders"))
    text = "Topology updates are not supported yet."
    for other in (topology(3, one="customers"), topology(4, one="orders"), topology(3, one="orders", two="customers")):
        assert refused(club.beat("other", topology=other)) == (INVALID, text)
    answer = club.beat("old", topology=topology(2, two="customers"))
    assert statuses(answer) == [(0, "The member's topology epoch 2 is behind the group's topology epoch 3.")]
    assert statuses(club.beat("old", answer.member_epoch)) == statuses(answer)
    assert [one.topology_epoch for one in sorted(club.describe()[0].members, key=lambda m: m.member_id)] == [3, 2]


@pytest.mark.behaviour("TH-7")
def test_the_order_of_subtopologies_is_no_difference(club: StreamsClub):
    club.beat("a", topology=topology(one="orders", two="customers"))
    assert told(club.beat("b", topology=topology(two="customers", one="orders")))[0] == NONE


@pytest.mark.behaviour("TH-16")
def test_a_topic_that_grows_is_noticed_with_the_next_heartbeat(club: StreamsClub):
    club.beat()
    add_partitions(club.desk.state, "orders", 2)
    answer = club.beat(epoch=2)
    assert (told(answer)[3], club.tasks(answer.active_tasks)) == (3, {"one": [0, 1, 2, 3, 4, 5]})


@pytest.mark.behaviour("TH-16")
def test_a_topic_that_goes_and_comes_again_is_noticed(club: StreamsClub):
    club.beat()
    club.desk.delete("orders")
    answer = club.beat(epoch=2, tasks={})
    assert (statuses(answer), club.tasks(answer.active_tasks)) == ([(1, "Source topics orders are missing.")], {})
    club.desk.topic("orders", 1)
    answer = club.beat(epoch=answer.member_epoch)
    assert club.tasks(answer.active_tasks) == {"one": [0]}


# -- tasks -----------------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("TH-8")
def test_a_member_gets_tasks_once_the_other_has_let_go_of_them(club: StreamsClub):
    club.beat("a")
    answer = club.beat("b")
    assert (told(answer)[3], club.tasks(answer.active_tasks)) == (3, {})
    answer = club.beat("a", 2, tasks={"one": [0, 1, 2, 3]})
    assert (told(answer)[3], club.tasks(answer.active_tasks)) == (2, {"one": [0, 1]})
    answer = club.beat("b", 3)
    assert (told(answer)[3], answer.active_tasks, club.state()) == (3, None, "Reconciling")
    answer = club.beat("a", 2, tasks={"one": [0, 1]})
    assert (told(answer)[3], answer.active_tasks) == (3, None)
    answer = club.beat("b", 3)
    assert (told(answer)[3], club.tasks(answer.active_tasks), club.state()) == (3, {"one": [2, 3]}, "Stable")


@pytest.mark.behaviour("TH-8")
@pytest.mark.parametrize(
    ("tasks", "text"),
    [
        ({"two": [0]}, "Subtopology two does not exist in the topology."),
        ({"one": [0, 4]}, "Task 4 for subtopology one is invalid. Number of tasks for this subtopology: 4"),
        ({"one": [-1]}, "Task -1 for subtopology one is invalid. Number of tasks for this subtopology: 4"),
    ],
)
def test_tasks_that_there_are_not_are_refused(club: StreamsClub, tasks: dict[str, list[int]], text: str):
    club.beat()
    assert refused(club.beat(epoch=2, tasks=tasks)) == (INVALID, text)
    assert refused(club.beat(epoch=2, tasks={}, warmup_tasks=[TaskIds(*one) for one in tasks.items()]))[1] == text


@pytest.mark.behaviour("TH-17")
def test_standby_replicas_are_asked_for_by_the_groups_configuration(club: StreamsClub):
    kept = topology(one="orders -kept")
    for member in "ab":
        club.beat(member, topology=kept)
    has = club.settle("a", "b")
    epoch = club.member("a").member_epoch
    configure(club, **{"streams.num.standby.replicas": "1"})
    answer = club.beat("a", epoch)
    assert (told(answer)[3], club.tasks(answer.standby_tasks)) == (epoch + 1, has["b"])
    assert club.tasks(club.beat("b", epoch).standby_tasks) == has["a"]
    configure(club)
    club.beat("a", epoch + 1)
    answer = club.beat("a", epoch + 1, tasks=has["a"])
    assert (told(answer)[3], club.tasks(club.member("a").assignment.standby_tasks)) == (epoch + 2, {})


@pytest.mark.behaviour("TH-17")
def test_the_groups_configuration_goes_before_the_brokers(club: StreamsClub):
    configure(
        club,
        **{
            "streams.heartbeat.interval.ms": "6000",
            "streams.session.timeout.ms": "50000",
            "streams.task.offset.interval.ms": "30000",
            "streams.acceptable.recovery.lag": "7",
            "streams.initial.rebalance.delay.ms": "10",
        },
    )
    answer = club.beat()
    times = answer.heartbeat_interval_ms, answer.task_offset_interval_ms, answer.acceptable_recovery_lag
    assert (times, statuses(answer)) == ((6_000, 30_000, 7), [INITIAL])
    club.desk.wait_until(49_999)
    assert club.describe()[0].group_state != "Empty"
    club.desk.wait_until(50_000)
    assert club.describe()[0].group_state == "Empty"


def configure(club: StreamsClub, **configs: str) -> None:
    """The group's own configuration, whole."""
    club.desk.state.cluster.group_configs["g"] = configs


@pytest.mark.behaviour("TH-18")
def test_a_member_without_the_tags_that_are_wanted_is_told_so(club: StreamsClub):
    configure(club, **{"streams.rack.aware.assignment.tags": "zone,cluster"})
    text = "Missing required client tags for rack-aware standby assignment: [{}]. Configure them via "
    text += "'client.tag.<tagKey>' in your Streams config."
    assert statuses(club.beat()) == [(6, text.format("zone, cluster"))]
    assert statuses(club.beat(epoch=2, tags=[("cluster", "c"), ("other", "o")])) == [(6, text.format("zone"))]
    assert statuses(club.beat(epoch=3, version=0)) == []
    assert statuses(club.beat(epoch=3, tags=[("cluster", "c"), ("zone", "z")])) == []


@pytest.mark.behaviour("TH-21")
def test_a_tag_that_comes_twice_is_an_unknown_error(club: StreamsClub):
    club.beat()
    answer = club.beat(epoch=2, tags=[("a", "b"), ("a", "b")])
    assert refused(answer) == (ErrorCode.UNKNOWN_SERVER_ERROR, None)


@pytest.mark.behaviour("TH-19")
def test_how_far_tasks_are_is_remembered_until_it_is_said_anew(club: StreamsClub):
    club.beat()
    club.beat(epoch=2)
    club.beat(epoch=2, task_offsets=[TaskOffset("one", 2, 5), TaskOffset("one", 1, 7)])
    club.beat(epoch=2, task_end_offsets=[TaskOffset("nothing", 9, 70)])
    member = club.member("m")
    assert [(t.subtopology_id, t.partition, t.offset) for t in member.task_offsets] == [("one", 1, 7), ("one", 2, 5)]
    assert [(t.subtopology_id, t.partition, t.offset) for t in member.task_end_offsets] == [("nothing", 9, 70)]
    twice = [TaskOffset("one", 1, 1), TaskOffset("one", 1, 1)]
    text = "Task offsets contain a duplicate entry for subtopology one and partition 1."
    assert refused(club.beat(epoch=2, task_offsets=twice)) == (INVALID, text)
    club.beat(epoch=2, task_offsets=[])
    assert (list(club.member("m").task_offsets), len(club.member("m").task_end_offsets)) == ([], 1)


# -- a description of the topology ------------------------------------------------------------------------------------


@pytest.mark.behaviour("TU-1")
@pytest.mark.parametrize("group", ["g", "", "unknown"])
def test_there_is_nobody_who_keeps_descriptions(club: StreamsClub, group: str):
    club.beat()
    request = StreamsGroupTopologyDescriptionUpdateRequest(group, "m", 0)
    answer = club.desk.ask(0, request, StreamsGroupTopologyDescriptionUpdateResponse)
    text = "The broker has no streams group topology description plugin configured."
    assert (answer.error_code, answer.error_message) == (ErrorCode.UNSUPPORTED_VERSION, text)


@pytest.mark.behaviour("TU-2")
def test_switched_off_nobody_is_told_why():
    club = StreamsClub({"group.coordinator.rebalance.protocols": "classic"})
    request = StreamsGroupTopologyDescriptionUpdateRequest("g", "m", 0)
    answer = club.desk.ask(0, request, StreamsGroupTopologyDescriptionUpdateResponse)
    assert (answer.error_code, answer.error_message) == (ErrorCode.UNSUPPORTED_VERSION, None)
