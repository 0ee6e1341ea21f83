"""SyncGroup: how the assignment gets to the members."""

from __future__ import annotations

from typing import Any

from kafkastub_conformance.broker import Broker, Member, as_generation
from kafkastub_conformance.expecting import Answer, expect, expect_that
from kafkastub_conformance.registry import case
from kafkawire.errors import ErrorCode as E

SOURCE = "Kafka: GroupMetadataManager.classicGroupSync"


def sync(on: Broker, member: Member, **changes: Any) -> Answer:
    body: dict[str, Any] = {
        "group_id": member.group,
        "generation_id": member.generation,
        "member_id": member.id,
        "protocol_type": "consumer",
        "protocol_name": "range",
    }
    return on.ask("SyncGroup", client=member.client, **{**body, **changes})


@case("SyncGroup", "The leader's sync brings every member its assignment.", source=SOURCE, also=["JoinGroup"])
def assignment(on: Broker) -> None:
    leader, follower = on.pair(synced=False)
    waiting = on.sync(follower)
    expect_that("the follower's sync waits", waiting.waits(), True)
    done = on.sync(leader, {leader.id: b"one", follower.id: b"two"}).answer()
    told = {"error_code": E.NONE, "protocol_type": "consumer", "protocol_name": "range"}
    expect(done, assignment=b"one", **told)
    expect(waiting.answer(), assignment=b"two", **told)
    expect_that("the group's state", on.state(leader.group), "Stable")


@case("SyncGroup", "Members that the leader does not name get an empty assignment.", source=SOURCE, also=["JoinGroup"])
def not_named(on: Broker) -> None:
    leader, follower = on.pair(synced=False)
    waiting = on.sync(follower)
    expect(on.sync(leader, {leader.id: b"one", "nobody": b"three"}).answer(), error_code=E.NONE, assignment=b"one")
    expect(waiting.answer(), error_code=E.NONE, assignment=b"")


@case(
    "SyncGroup", "In a stable group the answer is the assignment, again and again.", source=SOURCE, also=["JoinGroup"]
)
def stable(on: Broker) -> None:
    leader, follower = on.pair()
    for _ in range(2):
        expect(on.sync(follower).answer(), error_code=E.NONE, assignment=b"two")
        expect(on.sync(leader, {follower.id: b"other"}).answer(), error_code=E.NONE, assignment=b"one")


@case("SyncGroup", "A group that does not exist: UNKNOWN_MEMBER_ID.", source=SOURCE)
def unknown_group(on: Broker) -> None:
    expect(sync(on, Member(on.group(), "nobody", 1)), error_code=E.UNKNOWN_MEMBER_ID, assignment=b"")


@case("SyncGroup", "The empty group id: INVALID_GROUP_ID.", source=SOURCE)
def empty_group_id(on: Broker) -> None:
    expect(sync(on, Member("", "nobody", 1)), error_code=E.INVALID_GROUP_ID, assignment=b"")


@case("SyncGroup", "An id that is no member's: UNKNOWN_MEMBER_ID.", source=SOURCE, also=["JoinGroup"])
def unknown_member(on: Broker) -> None:
    expect(sync(on, on.member(), member_id="nobody"), error_code=E.UNKNOWN_MEMBER_ID, assignment=b"")


@case("SyncGroup", "Another generation: ILLEGAL_GENERATION.", source=SOURCE, also=["JoinGroup"])
def other_generation(on: Broker) -> None:
    member = on.member()
    for generation in (member.generation + 1, member.generation - 1):
        expect(sync(on, as_generation(member, generation)), error_code=E.ILLEGAL_GENERATION)


@case("SyncGroup", "While joins are collected: REBALANCE_IN_PROGRESS.", source=SOURCE, also=["JoinGroup"])
def collecting_joins(on: Broker) -> None:
    member, _ = on.rebalancing()
    expect(sync(on, member), error_code=E.REBALANCE_IN_PROGRESS, assignment=b"")


@case("SyncGroup", "Parked syncs get REBALANCE_IN_PROGRESS when a rebalance begins.", source=SOURCE, also=["JoinGroup"])
def parked_then_rebalancing(on: Broker) -> None:
    leader, follower = on.pair(synced=False)
    waiting = on.sync(follower)
    expect_that("the follower's sync waits", waiting.waits(), True)
    on.start_join(leader.group, client="third")
    expect(waiting.answer(), error_code=E.REBALANCE_IN_PROGRESS)


@case("SyncGroup", "Another protocol than the group's: INCONSISTENT_GROUP_PROTOCOL.", source="KIP-559", versions=(5, 5))
def other_protocol(on: Broker) -> None:
    member = on.member()
    for changes in ({"protocol_type": "connect"}, {"protocol_name": "sticky"}):
        expect(sync(on, member, **changes), error_code=E.INCONSISTENT_GROUP_PROTOCOL)


@case("SyncGroup", "Without protocol type or name: INCONSISTENT_GROUP_PROTOCOL.", source="KIP-559", versions=(5, 5))
def no_protocol(on: Broker) -> None:
    member = on.member()
    for changes in ({"protocol_type": None}, {"protocol_name": None}):
        expect(sync(on, member, **changes), error_code=E.INCONSISTENT_GROUP_PROTOCOL)


@case("SyncGroup", "A static member whose place was taken: FENCED_INSTANCE_ID.", source="KIP-345", versions=(3, 5))
def fenced(on: Broker) -> None:
    old = on.member(instance="one")
    on.start_join(old.group, client="again", instance="one").answer()
    expect(sync(on, old, group_instance_id="one"), error_code=E.FENCED_INSTANCE_ID)


@case("SyncGroup", "A member that has left: UNKNOWN_MEMBER_ID.", source=SOURCE, also=["JoinGroup", "LeaveGroup"])
def after_leaving(on: Broker) -> None:
    member = on.member()
    on.leave(member)
    expect(sync(on, member), error_code=E.UNKNOWN_MEMBER_ID)


@case(
    "SyncGroup",
    "A member that does not sync within the rebalance timeout is removed, and the others rebalance.",
    source="Kafka: GroupMetadataManager.expirePendingSync",
    slow=True,
    also=["JoinGroup"],
)
def pending_sync(on: Broker) -> None:
    group = on.group()
    first = on.member(group, client="first", rebalance_ms=1000)
    second = on.start_join(group, client="second", rebalance_ms=1000)
    on.await_members(group, 2)
    again = on.start_join(group, client="first", member=first.id, rebalance_ms=1000)
    leader = on.joined(again, group)
    follower = on.joined(second, group)
    waiting = on.sync(follower)
    expect(waiting.answer(), error_code=E.REBALANCE_IN_PROGRESS)
    expect(on.heartbeat(leader), error_code=E.UNKNOWN_MEMBER_ID)
