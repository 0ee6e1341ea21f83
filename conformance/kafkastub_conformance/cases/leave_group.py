"""LeaveGroup."""

from __future__ import annotations

from typing import Any

from kafkastub_conformance.broker import Broker
from kafkastub_conformance.expecting import expect, expect_that
from kafkastub_conformance.registry import case
from kafkawire.errors import ErrorCode as E

SOURCE = "Kafka: GroupMetadataManager.classicGroupLeave"


def member_result(member: str, code: int, instance: str | None = None) -> dict[str, Any]:
    return {"member_id": member, "group_instance_id": instance, "error_code": code}


def single(on: Broker, code: int) -> int:
    """The code at the top of the answer about one member: from version 3 on it is at the member."""
    return code if on.version <= 2 else E.NONE


def leave(on: Broker, group: str, *members: tuple[str, str | None]) -> Any:
    rows = [{"member_id": member, "group_instance_id": instance} for member, instance in members]
    return on.ask("LeaveGroup", group_id=group, member_id=members[0][0] if members else "", members=rows)


@case("LeaveGroup", "The last member that leaves leaves an empty group.", source=SOURCE, also=["JoinGroup"])
def last_member(on: Broker) -> None:
    member = on.member()
    expect(leave(on, member.group, (member.id, None)), error_code=E.NONE, members=[member_result(member.id, E.NONE)])
    expect_that("the group's state", on.state(member.group), "Empty")


@case("LeaveGroup", "A group that does not exist: UNKNOWN_MEMBER_ID.", source=SOURCE)
def unknown_group(on: Broker) -> None:
    answer = leave(on, on.group(), ("nobody", None))
    expect(answer, error_code=single(on, E.UNKNOWN_MEMBER_ID), members=[member_result("nobody", E.UNKNOWN_MEMBER_ID)])


@case("LeaveGroup", "An id that is no member's: UNKNOWN_MEMBER_ID.", source=SOURCE, also=["JoinGroup"])
def unknown_member(on: Broker) -> None:
    member = on.member()
    answer = leave(on, member.group, ("nobody", None))
    expect(answer, error_code=single(on, E.UNKNOWN_MEMBER_ID), members=[member_result("nobody", E.UNKNOWN_MEMBER_ID)])
    expect(on.heartbeat(member), error_code=E.NONE)


@case("LeaveGroup", "The empty group id: INVALID_GROUP_ID.", source=SOURCE)
def empty_group_id(on: Broker) -> None:
    expect(leave(on, "", ("nobody", None)), error_code=E.INVALID_GROUP_ID, members=[])


@case("LeaveGroup", "A second time: UNKNOWN_MEMBER_ID.", source=SOURCE, also=["JoinGroup"])
def twice(on: Broker) -> None:
    member = on.member()
    leave(on, member.group, (member.id, None))
    answer = leave(on, member.group, (member.id, None))
    expect(answer, error_code=single(on, E.UNKNOWN_MEMBER_ID), members=[member_result(member.id, E.UNKNOWN_MEMBER_ID)])


@case(
    "LeaveGroup",
    "One of two members leaves, and the other receives REBALANCE_IN_PROGRESS.",
    source=SOURCE,
    also=["JoinGroup"],
)
def one_of_two(on: Broker) -> None:
    leader, follower = on.pair()
    leave(on, leader.group, (leader.id, None))
    expect(on.heartbeat(follower), error_code=E.REBALANCE_IN_PROGRESS)
    answer = on.start_join(follower.group, client=follower.client, member=follower.id).answer()
    expect(answer, error_code=E.NONE, generation_id=leader.generation + 1, leader=follower.id)


@case("LeaveGroup", "A batch: each member is answered by itself, in order.", source="KIP-345", versions=(3, 5))
def batch(on: Broker) -> None:
    leader, follower = on.pair()
    answer = leave(on, leader.group, (follower.id, None), ("nobody", None), (leader.id, None), (leader.id, None))
    rows = [
        member_result(follower.id, E.NONE),
        member_result("nobody", E.UNKNOWN_MEMBER_ID),
        member_result(leader.id, E.NONE),
        member_result(leader.id, E.UNKNOWN_MEMBER_ID),
    ]
    expect(answer, error_code=E.NONE, members=rows)
    expect_that("the group's state", on.state(leader.group), "Empty")


@case(
    "LeaveGroup", "An empty batch is answered with an empty one.", source="KIP-345", versions=(3, 5), also=["JoinGroup"]
)
def empty_batch(on: Broker) -> None:
    member = on.member()
    expect(leave(on, member.group), error_code=E.NONE, members=[])


@case("LeaveGroup", "A static member is named by its instance alone.", source="KIP-345", versions=(3, 5))
def by_instance(on: Broker) -> None:
    member = on.member(instance="one")
    expect(leave(on, member.group, ("", "one")), error_code=E.NONE, members=[member_result("", E.NONE, "one")])
    expect_that("the group's state", on.state(member.group), "Empty")


@case("LeaveGroup", "An instance that nobody has: UNKNOWN_MEMBER_ID.", source="KIP-345", versions=(3, 5))
def unknown_instance(on: Broker) -> None:
    member = on.member(instance="one")
    answer = leave(on, member.group, ("", "other"))
    expect(answer, error_code=E.NONE, members=[member_result("", E.UNKNOWN_MEMBER_ID, "other")])


@case("LeaveGroup", "A static member's old id: FENCED_INSTANCE_ID.", source="KIP-345", versions=(3, 5))
def fenced(on: Broker) -> None:
    old = on.member(instance="one")
    on.start_join(old.group, client="again", instance="one").answer()
    answer = leave(on, old.group, (old.id, "one"))
    expect(answer, error_code=E.NONE, members=[member_result(old.id, E.FENCED_INSTANCE_ID, "one")])


@case("LeaveGroup", "A place that was only given out is given up.", source="KIP-394", also=["JoinGroup"])
def pending_member(on: Broker) -> None:
    group = on.group()
    body: dict[str, Any] = {"group_id": group, "session_timeout_ms": 30000, "rebalance_timeout_ms": 30000}
    body["protocol_type"] = "consumer"
    first = on.ask("JoinGroup", at=4, **body, protocols=[{"name": "range", "metadata": b""}])
    expect_that("error_code of JoinGroup", first.error_code, E.MEMBER_ID_REQUIRED)
    expect(
        leave(on, group, (first.member_id, None)), error_code=E.NONE, members=[member_result(first.member_id, E.NONE)]
    )
    again = leave(on, group, (first.member_id, None))
    expect(
        again, error_code=single(on, E.UNKNOWN_MEMBER_ID), members=[member_result(first.member_id, E.UNKNOWN_MEMBER_ID)]
    )


@case("LeaveGroup", "A join that the member has parked answers UNKNOWN_MEMBER_ID.", source=SOURCE, also=["JoinGroup"])
def parked_join(on: Broker) -> None:
    leader, follower = on.pair()
    joining = on.start_join(leader.group, client=leader.client, member=leader.id)
    on.await_state(leader.group, "PreparingRebalance")
    leave(on, leader.group, (leader.id, None))
    expect(joining.answer(), error_code=E.UNKNOWN_MEMBER_ID)
    expect(on.heartbeat(follower), error_code=E.REBALANCE_IN_PROGRESS)
