"""DeleteGroups (KIP-229)."""

from __future__ import annotations

from typing import Any

from kafkastub_conformance.broker import Broker
from kafkastub_conformance.expecting import expect, expect_that, unordered
from kafkastub_conformance.registry import case
from kafkawire.errors import ErrorCode as E

SOURCE = "KIP-229"


def group_result(group: str, code: int) -> dict[str, Any]:
    return {"group_id": group, "error_code": code}


@case("DeleteGroups", "A group that only stores offsets is gone, with them.", source=SOURCE, also=["OffsetCommit"])
def simple(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    on.commit(group, [(topic, 0, 1)])
    expect(on.ask("DeleteGroups", groups_names=[group]), results=[group_result(group, E.NONE)])
    expect_that("the offset", on.committed(group, topic), -1)
    expect_that("the group's state", on.state(group), "Dead")


@case("DeleteGroups", "A group whose members have left is gone.", source=SOURCE, also=["JoinGroup", "LeaveGroup"])
def empty(on: Broker) -> None:
    member = on.member()
    on.leave(member)
    expect(on.ask("DeleteGroups", groups_names=[member.group]), results=[group_result(member.group, E.NONE)])
    expect_that("the group's state", on.state(member.group), "Dead")


@case("DeleteGroups", "A group with members: NON_EMPTY_GROUP, and it lives on.", source=SOURCE, also=["JoinGroup"])
def stable(on: Broker) -> None:
    member = on.member()
    expect(on.ask("DeleteGroups", groups_names=[member.group]), results=[group_result(member.group, E.NON_EMPTY_GROUP)])
    expect(on.heartbeat(member), error_code=E.NONE)


@case("DeleteGroups", "A group that rebalances: NON_EMPTY_GROUP.", source=SOURCE, also=["JoinGroup"])
def rebalancing(on: Broker) -> None:
    member, _ = on.rebalancing()
    expect(on.ask("DeleteGroups", groups_names=[member.group]), results=[group_result(member.group, E.NON_EMPTY_GROUP)])


@case("DeleteGroups", "A group that does not exist: GROUP_ID_NOT_FOUND.", source=SOURCE)
def unknown(on: Broker) -> None:
    group = on.group()
    expect(on.ask("DeleteGroups", groups_names=[group]), results=[group_result(group, E.GROUP_ID_NOT_FOUND)])


@case("DeleteGroups", "The error message is null for groups of consumers.", source="KIP-1331", versions=(3, 3))
def no_message(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    on.commit(group, [(topic, 0, 1)])
    for code in (E.NONE, E.GROUP_ID_NOT_FOUND):
        expect(
            on.ask("DeleteGroups", groups_names=[group]), results=[{**group_result(group, code), "error_message": None}]
        )


@case("DeleteGroups", "A group deleted a second time: GROUP_ID_NOT_FOUND.", source=SOURCE, also=["OffsetCommit"])
def again(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    on.commit(group, [(topic, 0, 1)])
    on.ask("DeleteGroups", groups_names=[group])
    expect(on.ask("DeleteGroups", groups_names=[group]), results=[group_result(group, E.GROUP_ID_NOT_FOUND)])


@case("DeleteGroups", "A failing group does not disturb its neighbours.", source=SOURCE, also=["JoinGroup"])
def mixed(on: Broker) -> None:
    gone, nobody, topic = on.group(), on.group(), on.some_topic()
    on.commit(gone, [(topic, 0, 1)])
    member = on.member()
    answer = on.ask("DeleteGroups", groups_names=[member.group, gone, nobody])
    results = [
        group_result(member.group, E.NON_EMPTY_GROUP),
        group_result(gone, E.NONE),
        group_result(nobody, E.GROUP_ID_NOT_FOUND),
    ]
    expect(answer, results=unordered(*results, by="group_id"))


@case(
    "DeleteGroups",
    "A group named twice is answered once.",
    source="Kafka: KafkaApis.handleDeleteGroupsRequest (distinct)",
    also=["OffsetCommit"],
)
def named_twice(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    on.commit(group, [(topic, 0, 1)])
    expect(on.ask("DeleteGroups", groups_names=[group, group]), results=[group_result(group, E.NONE)])


@case("DeleteGroups", "No groups is an empty answer.", source=SOURCE)
def nothing(on: Broker) -> None:
    expect(on.ask("DeleteGroups", groups_names=[]), results=[])


@case("DeleteGroups", 'The group "" is a group like others.', source="KIP-289")
def empty_group_id(on: Broker) -> None:
    group = on.empty_group_id()
    expect(on.ask("DeleteGroups", groups_names=[group]), results=[group_result(group, E.GROUP_ID_NOT_FOUND)])


@case(
    "DeleteGroups",
    "A member of a deleted group is no member any more.",
    source=SOURCE,
    also=["JoinGroup", "LeaveGroup"],
)
def afterwards(on: Broker) -> None:
    member = on.member()
    on.leave(member)
    on.ask("DeleteGroups", groups_names=[member.group])
    expect(on.heartbeat(member), error_code=E.UNKNOWN_MEMBER_ID)


@case(
    "DeleteGroups",
    "A deleted group can be created again, from generation 1 on.",
    source=SOURCE,
    also=["JoinGroup", "LeaveGroup"],
)
def founded_anew(on: Broker) -> None:
    member = on.member()
    on.leave(member)
    on.ask("DeleteGroups", groups_names=[member.group])
    expect_that("the generation", on.member(member.group).generation, 1)
