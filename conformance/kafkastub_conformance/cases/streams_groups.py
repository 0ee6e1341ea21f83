"""StreamsGroupHeartbeat (KIP-1071): joining, epochs, who is given which tasks, and leaving."""

from __future__ import annotations

from functools import partial
from typing import Any

from kafkastub_conformance.broker import Broker
from kafkastub_conformance.expecting import at_least, expect, expect_that
from kafkastub_conformance.registry import case as any_case
from kafkastub_conformance.streaming import (
    AT_ONCE,
    DELAYED,
    MISSING_TAGS,
    SHUT_DOWN,
    STALE_TOPOLOGY,
    Streamer,
    configure,
    described,
    internal,
    statuses,
    streaming,
    subtopology,
    topology,
)
from kafkawire.errors import ErrorCode as E

case = partial(any_case, since="4.2", before="UNSUPPORTED_VERSION, there are no streams groups")
later = partial(any_case, since="4.4")

API, TOLD = "StreamsGroupHeartbeat", "StreamsGroupDescribe"
SOURCE = "KIP-1071; Kafka: GroupMetadataManager.streamsGroupHeartbeat"
CHECKED = "KIP-1071; Kafka: GroupCoordinatorService.throwIfStreamsGroupHeartbeatRequestIsInvalid"
EPOCHS = "KIP-1071; Kafka: GroupMetadataManager.throwIfStreamsGroupMemberEpochIsInvalid"
ASSIGNED = "KIP-1071; Kafka: StickyTaskAssignor"
RECONCILED = "KIP-1071; Kafka: streams.CurrentAssignmentBuilder"
STATIC = "KIP-1071, KIP-345; Kafka: GroupMetadataManager.streamsGroupStaticMemberGroupLeave"
SEEN = [TOLD, "IncrementalAlterConfigs", "DescribeConfigs"]


def plain(on: Broker, **more: Any) -> Streamer:
    """Somebody who has not joined yet, with a topology that reads a topic of three partitions."""
    return Streamer(on, topology(subtopology("0", on.some_topic(), **more)))


@later(
    API,
    "The first member has all tasks, and receives the heartbeat interval.",
    source=SOURCE,
    also=SEEN,
    before="task_offset_interval_ms is 0",
)
def first_member(on: Broker) -> None:
    member = plain(on)
    answer = member.join()
    expect(answer, member_id="m1", error_message=None, heartbeat_interval_ms=at_least(1))
    expect(answer, task_offset_interval_ms=at_least(1), endpoint_information_epoch=0)
    expect_that("whether all kinds of tasks are told", [answer.standby_tasks, answer.warmup_tasks], [[], []])
    member.assigned(0, 1, 2)


@later(
    API,
    "From version 1 on a member receives the acceptable recovery lag of a task.",
    source=SOURCE,
    versions=(1, 1),
    also=SEEN,
    before="there is no version 1",
)
def recovery_lag(on: Broker) -> None:
    expect(plain(on).join(), acceptable_recovery_lag=at_least(0))


@case(API, "Tasks are returned if they have changed; otherwise they are null.", source=SOURCE, also=SEEN)
def told_once(on: Broker) -> None:
    expect(streaming(on).follow(), active_tasks=None, standby_tasks=None, warmup_tasks=None)


@case(API, "A first heartbeat that lacks a required field: INVALID_REQUEST.", source=CHECKED, also=SEEN)
def incomplete_first(on: Broker) -> None:
    member = plain(on)
    some = [{"subtopology_id": "0", "partitions": [0]}]
    changes: list[dict[str, Any]] = [
        {"group_id": ""},
        {"member_id": ""},
        {"instance_id": ""},
        {"rack_id": ""},
        {"rebalance_timeout_ms": -1},
        {"topology": None},
        {"active_tasks": some},
        {"standby_tasks": some},
        {"warmup_tasks": some},
        {"active_tasks": None},
    ]
    codes = [int(member.first(**change).error_code) for change in changes]
    expect_that("the codes", codes, [E.INVALID_REQUEST] * len(changes))
    expect_that("whether there is a group", described(on, member.group).error_code, E.GROUP_ID_NOT_FOUND)


@case(API, "A heartbeat must have all kinds of tasks or none: INVALID_REQUEST.", source=CHECKED, also=SEEN)
def some_kinds(on: Broker) -> None:
    member = streaming(on)
    codes = [member.beat(**{**member.reported(), kind: None}).error_code for kind in ("active_tasks", "standby_tasks")]
    expect_that("the codes", codes, [E.INVALID_REQUEST] * 2)


@case(API, "A topology comes with the first heartbeat alone: INVALID_REQUEST.", source=CHECKED, also=SEEN)
def late_topology(on: Broker) -> None:
    member = streaming(on)
    codes = [member.beat(one, topology=member.topology).error_code for one in (member.epoch, -1)]
    expect_that("the codes", codes, [E.INVALID_REQUEST] * 2)


@case(API, "An epoch below -2, and -2 without an instance id: INVALID_REQUEST.", source=CHECKED, also=SEEN)
def odd_epochs(on: Broker) -> None:
    member = streaming(on)
    expect_that("the codes", [member.beat(one).error_code for one in (-2, -3)], [E.INVALID_REQUEST] * 2)


@case(API, "An unknown group: GROUP_ID_NOT_FOUND; an unknown member: UNKNOWN_MEMBER_ID.", source=SOURCE, also=SEEN)
def unknown(on: Broker) -> None:
    member = plain(on)
    stranger = member.another()
    expect_that("the codes", [stranger.beat(one).error_code for one in (1, -1)], [E.GROUP_ID_NOT_FOUND] * 2)
    member.join()
    expect_that("the codes", [stranger.beat(one).error_code for one in (1, -1)], [E.UNKNOWN_MEMBER_ID] * 2)


@case(API, "Another epoch than the member's: FENCED_MEMBER_EPOCH.", source=EPOCHS, also=SEEN)
def fenced(on: Broker) -> None:
    member = streaming(on)
    for change, how in ((1, "greater"), (-1, "smaller")):
        answer = member.beat(member.epoch + change)
        expect(answer, error_code=E.FENCED_MEMBER_EPOCH)
        expect_that("whether the text tells how", how in (answer.error_message or ""), True)
    member.follow()


@case(API, "The epoch before is good for a member that has lost an answer, and has no other tasks.", source=EPOCHS)
def former_epoch(on: Broker) -> None:
    member = streaming(on)
    before = member.epoch
    expect(member.follow(rack_id="r1"), member_epoch=before + 1)
    strange = [{"subtopology_id": "0", "partitions": [0, 1, 2, 3]}]
    expect(member.beat(before), error_code=E.FENCED_MEMBER_EPOCH)
    told = member.reported() | {"active_tasks": strange}
    expect(member.beat(before, **told), error_code=E.FENCED_MEMBER_EPOCH)
    expect(member.beat(before, **member.reported()), error_code=E.NONE, member_epoch=member.epoch)


@case(API, "Tasks that the topology does not have: INVALID_REQUEST.", source=SOURCE, also=SEEN)
def no_such_task(on: Broker) -> None:
    member = streaming(on)
    for kind in ("active_tasks", "standby_tasks", "warmup_tasks"):
        for name, partition in (("1", 0), ("0", 3)):
            told = member.reported() | {kind: [{"subtopology_id": name, "partitions": [partition]}]}
            expect(member.beat(**told), error_code=E.INVALID_REQUEST)


@case(
    API, "A member that joins again with epoch 0 keeps its tasks, and receives all of them.", source=SOURCE, also=SEEN
)
def joined_again(on: Broker) -> None:
    member = streaming(on)
    epoch = member.epoch
    member.tasks["active_tasks"] = {}
    expect(member.join(), member_epoch=epoch)
    expect_that("its tasks", member.has(), [0, 1, 2])


@case(API, "Another topology than the group's: INVALID_REQUEST, in a group that all have left, too.", source=SOURCE)
def other_topology(on: Broker) -> None:
    member = streaming(on)
    second = member.another()
    later = {**member.topology, "epoch": 2}
    fewer = topology()
    for one in (later, fewer):
        expect(second.first(topology=one), error_code=E.INVALID_REQUEST)
    member.leave()
    for one in (later, fewer):
        expect(second.first(topology=one), error_code=E.INVALID_REQUEST)


@case(API, "A former topology is let in, and told that it is old.", source=SOURCE, also=SEEN)
def stale_topology(on: Broker) -> None:
    member = streaming(on)
    second = member.another()
    answer = second.join(topology=topology(epoch=0))
    codes = [code for code, _ in statuses(answer)]
    expect_that("the statuses", codes, [STALE_TOPOLOGY])
    expect_that("the group's topology", described(on, member.group).topology.epoch, 1)


# Tasks.


@case(API, "A task is given to another member when its owner has said that it let it go.", source=RECONCILED, also=SEEN)
def handed_over(on: Broker) -> None:
    member = streaming(on)
    second = member.another()
    second.join()
    expect_that("what the second has at first", second.has(), [])
    before = member.epoch
    for _ in range(2):
        expect(member.beat(), member_epoch=before)
    second.follow()
    expect_that("what the second has before", second.has(), [])
    member.tasks["active_tasks"] = {"0": [0, 1]}
    expect(member.follow(), member_epoch=before + 1)
    second.assigned(2)
    expect_that("what the first has", member.has(), [0, 1])


@case(
    API,
    "Three members have one of three tasks each; a member that had one before keeps it.",
    source=ASSIGNED,
    also=SEEN,
)
def shared(on: Broker) -> None:
    member = streaming(on)
    members = [member, member.another("m2"), member.another("m3")]
    for one in members[1:]:
        one.join()

    def settled() -> bool:
        for one in members:
            one.follow()
        return [len(one.has()) for one in members] == [1, 1, 1]

    expect_that("whether each has one", on.in_time(settled, every=0.03), True)
    expect_that("all of them", sorted(index for one in members for index in one.has()), [0, 1, 2])


@case(API, "Members of one process share its load: two of them have what one of another has.", source=ASSIGNED)
def threads_of_a_process(on: Broker) -> None:
    topic = on.topic(4)
    first = Streamer(on, topology(subtopology("0", topic)))
    members = [first, first.another("m2"), first.another("m3"), first.another("m4")]
    for one, process in zip(members, "aaab", strict=True):
        one.join(process_id=process)

    def settled() -> bool:
        for one in members:
            one.follow()
        return [len(one.has()) for one in members] == [1, 1, 1, 1]

    expect_that("whether each has one", on.in_time(settled, every=0.03), True)


@case(API, "Every subtopology has as many tasks as its widest source has partitions.", source=ASSIGNED, also=SEEN)
def several_subtopologies(on: Broker) -> None:
    first, second = subtopology("0", on.topic(1), on.some_topic()), subtopology("1", on.topic(2))
    member = Streamer(on, topology(first, second))
    member.join()
    member.assigned(0, 1, 2)
    expect_that("its tasks of 1", member.has("1"), [0, 1])


@case(API, "Partitions or tasks of a member that leaves go to the members that stay.", source=SOURCE, also=SEEN)
def left(on: Broker) -> None:
    member = streaming(on)
    second = member.another()
    second.join()
    member.leave()
    second.assigned(0, 1, 2)
    expect(member.beat(), error_code=E.UNKNOWN_MEMBER_ID)


@case(
    API, "Standby tasks of stateful tasks go to members that do not have the active task.", source=ASSIGNED, also=SEEN
)
def standbys(on: Broker) -> None:
    name = on.name()
    member = Streamer(on, topology(subtopology("0", on.topic(2), state_changelog_topics=[internal(name)])))
    configure(on, member.group, streams_num_standby_replicas="1")
    second = member.another()
    for one in (member, second):
        one.join()

    def settled() -> bool:
        for one in (member, second):
            one.follow()
        return len(member.has()) == len(second.has()) == 1

    expect_that("whether each has one", on.in_time(settled, every=0.03), True)
    for one, other in ((member, second), (second, member)):
        expect_that("the standby tasks", one.has(kind="standby_tasks"), other.has())


@case(API, "There are no standby tasks where no state is kept.", source=ASSIGNED, also=SEEN)
def no_standbys(on: Broker) -> None:
    member = plain(on)
    configure(on, member.group, streams_num_standby_replicas="1")
    second = member.another()
    member.join()
    second.join()
    for _ in range(3):
        member.follow()
        second.follow()
    kinds = [one.tasks["standby_tasks"] for one in (member, second)]
    expect_that("the standby tasks", kinds, [{}, {}])


@case(
    API, "The first assignment waits if the group is configured so, and the status says so.", source=SOURCE, also=SEEN
)
def initial_delay(on: Broker) -> None:
    member = plain(on)
    configure(on, member.group, streams_initial_rebalance_delay_ms="60000")
    for answer in (member.join(), member.follow()):
        expect_that("the statuses", [code for code, _ in statuses(answer)], [DELAYED])
        expect_that("its tasks", member.has(), [])


@case(API, "The next assignment waits if the group is configured so, and the status says so.", source=SOURCE, also=SEEN)
def assignment_interval(on: Broker) -> None:
    member = streaming(on)
    configure(on, member.group, **{**AT_ONCE, "streams.assignment.interval.ms": "15000"})
    answer = member.another().join()
    expect_that("the statuses", [code for code, _ in statuses(answer)], [DELAYED])


@case(API, "Tags that a group wants are asked for.", source="KIP-1071, KIP-708; " + SOURCE, versions=(1, 1), also=SEEN)
def missing_tags(on: Broker) -> None:
    member = plain(on)
    configure(on, member.group, streams_rack_aware_assignment_tags="zone,rack")
    answer = member.join(client_tags=[{"key": "zone", "value": "a"}])
    expect_that("the statuses", [code for code, _ in statuses(answer)], [MISSING_TAGS])
    expect_that("whether the tag is named", "[rack]" in statuses(answer)[0][1], True)


@case(API, "If a member requests the shutdown of the application, every member is informed.", source=SOURCE, also=SEEN)
def shut_down(on: Broker) -> None:
    member = streaming(on)
    second = member.another()
    second.join()
    for answer in (member.beat(shutdown_application=True), second.beat()):
        expect_that("the statuses", [code for code, _ in statuses(answer)], [SHUT_DOWN])
        expect_that("whether it is named", member.name in statuses(answer)[0][1], True)


@later(
    API,
    "Endpoints with their partitions are returned to a member that does not know them yet.",
    source=SOURCE,
    also=SEEN,
    before="the epoch of endpoints is another",
)
def endpoints(on: Broker) -> None:
    topic = on.some_topic()
    member = Streamer(on, topology(subtopology("0", topic)))
    member.join(user_endpoint={"host": "somewhere", "port": 65_535})
    member.assigned(0, 1, 2)
    answer = member.beat(endpoint_information_epoch=-1)
    epoch = answer.endpoint_information_epoch
    expect_that("how many endpoints", len(answer.partitions_by_user_endpoint), 1)
    told = answer.partitions_by_user_endpoint[0]
    expect_that("the endpoint", (told.user_endpoint.host, told.user_endpoint.port), ("somewhere", 65_535))
    rows = [(one.topic, list(one.partitions)) for one in told.active_partitions]
    expect_that("its partitions", rows, [(topic.name, [0, 1, 2])])
    expect(member.beat(endpoint_information_epoch=epoch), partitions_by_user_endpoint=None)
    moved = member.follow(endpoint_information_epoch=epoch, user_endpoint={"host": "elsewhere", "port": 1})
    expect(moved, endpoint_information_epoch=epoch + 1)
    expect_that("the endpoint", [one.user_endpoint.host for one in moved.partitions_by_user_endpoint], ["elsewhere"])


# Static members.


@later(
    API,
    "A static member that comes back in time has its tasks, under another id.",
    source=STATIC,
    also=SEEN,
    before="INVALID_REQUEST, there are no static members",
)
def static_return(on: Broker) -> None:
    member = Streamer(on, topology(subtopology("0", on.some_topic())), instance="i1")
    member.join()
    member.assigned(0, 1, 2)
    member.leave(-2)
    other = member.another(instance="i1")
    expect(other.join(process_id="process of m1"), member_epoch=member.epoch)
    expect_that("its tasks", other.has(), [0, 1, 2])
    expect(member.beat(), error_code=E.FENCED_INSTANCE_ID)


@later(
    API,
    "An instance id is one member's at a time: UNRELEASED_INSTANCE_ID.",
    source=STATIC,
    also=SEEN,
    before="INVALID_REQUEST, there are no static members",
)
def static_taken(on: Broker) -> None:
    member = Streamer(on, topology(subtopology("0", on.some_topic())), instance="i1")
    member.join()
    expect(member.another(instance="i1").first(), error_code=E.UNRELEASED_INSTANCE_ID)
    expect(member.another(instance="i2").beat(1), error_code=E.UNKNOWN_MEMBER_ID)


# Groups of other types.


@case(API, "A group of another type stays one: GROUP_ID_NOT_FOUND.", source=SOURCE, also=[*SEEN, "JoinGroup"])
def classic_group(on: Broker) -> None:
    joined = on.member()
    member = Streamer(on, topology(subtopology("0", on.some_topic())), joined.group)
    expect(member.first(), error_code=E.GROUP_ID_NOT_FOUND)


@case(API, "A group that has offsets alone becomes one, and keeps them.", source=SOURCE, also=[*SEEN, "OffsetCommit"])
def offsets_alone(on: Broker) -> None:
    topic, member = on.some_topic(), plain(on)
    rows = [{"partition_index": 0, "committed_offset": 7}]
    on.ask(
        "OffsetCommit",
        at=8,
        group_id=member.group,
        member_id="",
        generation_id_or_member_epoch=-1,
        topics=[{"name": topic.name, "partitions": rows}],
    )
    member.join()
    member.assigned(0, 1, 2)
    asked = [{"group_id": member.group, "topics": None}]
    found = on.ask("OffsetFetch", at=8, groups=asked).groups[0]
    expect_that("its offset", [row.committed_offset for one in found.topics for row in one.partitions], [7])


@case("JoinGroup", "A streams group: INCONSISTENT_GROUP_PROTOCOL.", source=SOURCE, versions=(4, 9), also=[API])
def streams_group(on: Broker) -> None:
    member = streaming(on)
    named: dict[str, Any] = {"protocol_type": "consumer", "protocols": [{"name": "range", "metadata": b""}]}
    answer = on.ask(
        "JoinGroup",
        group_id=member.group,
        session_timeout_ms=30_000,
        rebalance_timeout_ms=30_000,
        member_id="",
        **named,
    )
    expect(answer, error_code=E.INCONSISTENT_GROUP_PROTOCOL)
