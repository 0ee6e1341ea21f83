"""ShareGroupHeartbeat and ShareGroupDescribe (KIP-932): joining, epochs, who is given what, leaving, what is told."""

from __future__ import annotations

from functools import partial
from typing import Any

from kafkastub_conformance.broker import Broker
from kafkastub_conformance.expecting import containing, expect, expect_that
from kafkastub_conformance.registry import case as any_case
from kafkastub_conformance.sharing import Sharer, described
from kafkawire.errors import ErrorCode as E

case = partial(any_case, since="4.2", before="UNSUPPORTED_VERSION, unless share groups are switched on")

API, TOLD = "ShareGroupHeartbeat", "ShareGroupDescribe"
SOURCE = "KIP-932; Kafka: GroupMetadataManager.shareGroupHeartbeat"
CHECKED = "KIP-932; Kafka: GroupCoordinatorService.throwIfShareGroupHeartbeatRequestIsInvalid"
EPOCHS = "KIP-932; Kafka: GroupMetadataManager.throwIfShareGroupMemberEpochIsInvalid"
ASSIGNED = "KIP-932; Kafka: SimpleAssignor"
INITIALIZED = "KIP-932; Kafka: GroupMetadataManager.initializeShareGroupState"
DESCRIBED = "KIP-932; Kafka: GroupMetadataManager.shareGroupDescribe"
SEEN = [TOLD]


@case(API, "The first member joins with epoch 2, and receives the heartbeat interval.", source=SOURCE, also=SEEN)
def first_member(on: Broker) -> None:
    answer = Sharer(on, on.group(), on.some_topic()).join()
    expect(answer, member_id="m1", member_epoch=2, error_message=None)
    expect_that("whether it says when to come again", answer.heartbeat_interval_ms > 0, True)


@case(
    API,
    "Partitions are given out once their state is initialised, behind the first answer.",
    source=INITIALIZED,
    also=SEEN,
)
def initialised_first(on: Broker) -> None:
    topic = on.some_topic()
    member = Sharer(on, on.group(), topic)
    answer = member.join()
    expect_that("what it has at first", member.owned, {})
    expect_that("whether an assignment is told", answer.assignment is not None, True)
    member.assigned(topic, 0, 1, 2)


@case(API, "A first heartbeat that lacks a required field: INVALID_REQUEST.", source=CHECKED, also=SEEN)
def incomplete_first(on: Broker) -> None:
    group = on.group()
    member = Sharer(on, group, on.some_topic())
    changes: list[dict[str, Any]] = [
        {"subscribed_topic_names": None},
        {"subscribed_topic_names": []},
        {"group_id": ""},
        {"member_id": ""},
        {"rack_id": ""},
    ]
    codes = [int(member.first(**change).error_code) for change in changes]
    expect_that("the codes", codes, [E.INVALID_REQUEST] * len(changes))
    expect_that("whether there is a group", described(on, group).error_code, E.GROUP_ID_NOT_FOUND)


@case(API, "An epoch below -1: INVALID_REQUEST.", source=CHECKED, also=SEEN)
def odd_epochs(on: Broker) -> None:
    member = Sharer(on, on.group(), on.some_topic())
    member.join()
    expect_that("the codes", [member.beat(one).error_code for one in (-2, -3)], [E.INVALID_REQUEST] * 2)


@case(API, "An unknown group: GROUP_ID_NOT_FOUND; an unknown member: UNKNOWN_MEMBER_ID.", source=SOURCE, also=SEEN)
def unknown(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    stranger = Sharer(on, group, topic, name="m2")
    expect_that("the codes", [stranger.beat(one).error_code for one in (1, -1)], [E.GROUP_ID_NOT_FOUND] * 2)
    Sharer(on, group, topic).join()
    expect_that("the codes", [stranger.beat(one).error_code for one in (1, -1)], [E.UNKNOWN_MEMBER_ID] * 2)


@case(API, "Another epoch than the member's: FENCED_MEMBER_EPOCH.", source=EPOCHS, also=SEEN)
def fenced(on: Broker) -> None:
    member = Sharer(on, on.group(), on.some_topic())
    member.join()
    codes = [member.beat(member.epoch + change).error_code for change in (1, -1)]
    expect_that("the codes", codes, [E.FENCED_MEMBER_EPOCH] * 2)
    member.follow()


@case(API, "The epoch before is good for a member that lost an answer.", source=EPOCHS, also=SEEN)
def former_epoch(on: Broker) -> None:
    topic = on.some_topic()
    member = Sharer(on, on.group(), topic)
    member.join()
    before = member.epoch
    member.assigned(topic, 0, 1, 2)
    expect(member.beat(before), error_code=E.NONE, member_epoch=member.epoch)


@case(
    API,
    "A member that joins again with epoch 0 keeps its membership, and receives all of its partitions.",
    source=SOURCE,
    also=SEEN,
)
def joined_again(on: Broker) -> None:
    topic = on.some_topic()
    member = Sharer(on, on.group(), topic)
    member.join()
    member.assigned(topic, 0, 1, 2)
    epoch, member.owned = member.epoch, {}
    expect(member.join(), member_epoch=epoch)
    expect_that("its partitions", member.has(topic), [0, 1, 2])


@case(API, "The assignment is returned if it has changed; otherwise it is null.", source=SOURCE, also=SEEN)
def told_once(on: Broker) -> None:
    topic = on.some_topic()
    member = Sharer(on, on.group(), topic)
    member.join()
    member.assigned(topic, 0, 1, 2)
    expect(member.follow(), assignment=None)


@case(API, "Three members have one of three partitions each, in some order.", source=ASSIGNED, also=SEEN)
def shared(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    members = [Sharer(on, group, topic, name=f"m{number}") for number in range(3)]
    for one in members:
        one.join()

    def settled() -> bool:
        for one in members:
            one.follow()
        return [len(one.has(topic)) for one in members] == [1, 1, 1]

    expect_that("whether each has one", on.in_time(settled, every=0.03), True)
    expect_that("all of it", sorted(index for one in members for index in one.has(topic)), [0, 1, 2])


@case(API, "A partition is for several members where there are more of them.", source=ASSIGNED, also=SEEN)
def several_of_one(on: Broker) -> None:
    topic, group = on.topic(1), on.group()
    members = [Sharer(on, group, topic, name=f"m{number}") for number in range(3)]
    for one in members:
        one.join()
    for one in members:
        one.assigned(topic, 0)


@case(API, "Partitions or tasks of a member that leaves go to the members that stay.", source=SOURCE, also=SEEN)
def left(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    member, second = Sharer(on, group, topic), Sharer(on, group, topic, name="m2")
    member.join()
    second.join()
    member.leave()
    second.assigned(topic, 0, 1, 2)
    expect(member.beat(), error_code=E.UNKNOWN_MEMBER_ID)


@case(API, "A topic that is not there is waited for.", source=SOURCE, also=[*SEEN, "CreateTopics"])
def topic_to_come(on: Broker) -> None:
    name = on.name()
    member = Sharer(on, on.group())
    member.join(subscribed_topic_names=[name])
    row = {"name": name, "num_partitions": 1, "replication_factor": 1}
    on.ask("CreateTopics", topics=[row], timeout_ms=10_000)
    expect_that("whether it is told", on.in_time(lambda: bool(member.follow() and member.owned), every=0.03), True)


@case(
    API,
    "New partitions of a topic are assigned by the next heartbeats.",
    source=SOURCE,
    also=[*SEEN, "CreatePartitions"],
)
def grown(on: Broker) -> None:
    topic = on.topic(1)
    member = Sharer(on, on.group(), topic)
    member.join()
    member.assigned(topic, 0)
    row = {"name": topic.name, "count": 2, "assignments": None}
    on.ask("CreatePartitions", topics=[row], timeout_ms=10_000)
    member.assigned(topic, 0, 1)


@case(API, "A group of the classic protocol stays one: GROUP_ID_NOT_FOUND.", source=SOURCE, also=[*SEEN, "JoinGroup"])
def classic_group(on: Broker) -> None:
    classic = on.member()
    expect(Sharer(on, classic.group, on.some_topic()).first(), error_code=E.GROUP_ID_NOT_FOUND)


@case("JoinGroup", "A share group: INCONSISTENT_GROUP_PROTOCOL.", source=SOURCE, versions=(4, 9), also=[API])
def share_group(on: Broker) -> None:
    member = Sharer(on, on.group(), on.some_topic())
    member.join()
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


# What is told.


@case(TOLD, "A stable group, its epochs and members.", source=DESCRIBED, also=[API])
def stable(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    member = Sharer(on, group, topic)
    member.join(rack_id="r1")
    member.assigned(topic, 0, 1, 2)
    told = described(on, group)
    expect_that("its state and assignor", (told.group_state, told.assignor_name), ("Stable", "simple"))
    expect_that("its epochs", (told.group_epoch, told.assignment_epoch), (member.epoch, member.epoch))
    expect_that("how many members", len(told.members), 1)
    one = told.members[0]
    expect_that("the member", (one.member_id, one.rack_id, one.member_epoch), ("m1", "r1", member.epoch))
    expect_that("what it subscribes to", list(one.subscribed_topic_names), [topic.name])
    rows = [(bytes(row.topic_id), row.topic_name, list(row.partitions)) for row in one.assignment.topic_partitions]
    expect_that("what it has", rows, [(topic.id, topic.name, [0, 1, 2])])


@case(TOLD, "A group that all have left is Empty, and its epoch goes on.", source=DESCRIBED, also=[API])
def emptied(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    member = Sharer(on, group, topic)
    member.join()
    member.assigned(topic, 0, 1, 2)
    member.leave()
    told = described(on, group)
    expect_that("its state and members", (told.group_state, list(told.members)), ("Empty", []))
    expect_that("its epoch", told.group_epoch, member.epoch + 1)


@case(TOLD, "A group that is not there: GROUP_ID_NOT_FOUND, with a text.", source=DESCRIBED)
def missing(on: Broker) -> None:
    told = described(on, on.group())
    expect_that("its error", (told.error_code, bool(told.error_message)), (E.GROUP_ID_NOT_FOUND, True))


@case(TOLD, "A group of another type: GROUP_ID_NOT_FOUND.", source=DESCRIBED, also=["JoinGroup"])
def another_type(on: Broker) -> None:
    told = described(on, on.member().group)
    expect_that("its error", told.error_code, E.GROUP_ID_NOT_FOUND)


@case(
    TOLD, "The allowed operations of the group are returned if requested.", source="KIP-430; " + DESCRIBED, also=[API]
)
def operations(on: Broker) -> None:
    member = Sharer(on, on.group(), on.some_topic())
    member.join()
    for asked, holds in ((False, False), (True, True)):
        answer = on.ask("ShareGroupDescribe", group_ids=[member.group], include_authorized_operations=asked)
        told = answer.groups[0].authorized_operations
        expect_that("whether they are told", told != -(2**31), holds)


@case(
    "ListGroups", "Share groups have their own type and protocol type.", source=DESCRIBED, versions=(5, 5), also=[API]
)
def share_type(on: Broker) -> None:
    member = Sharer(on, on.group(), on.some_topic())
    member.join()
    for types, there in (([], True), (["share"], True), (["classic"], False)):
        answer = on.ask("ListGroups", states_filter=[], types_filter=types)
        expect_that("whether it is listed", member.group in [one.group_id for one in answer.groups], there)
    row = {"group_id": member.group, "protocol_type": "share", "group_state": "Stable", "group_type": "share"}
    expect(on.ask("ListGroups", states_filter=[], types_filter=["share"]), groups=containing(row, by="group_id"))
