"""Heartbeat: who is a member, and who no longer."""

from __future__ import annotations

from kafkastub_conformance.broker import Broker, as_generation
from kafkastub_conformance.expecting import expect, expect_that
from kafkastub_conformance.registry import case
from kafkawire.errors import ErrorCode as E

SOURCE = "Kafka: GroupMetadataManager.classicGroupHeartbeat"


@case("Heartbeat", "A member of a stable group: NONE.", source=SOURCE, also=["JoinGroup"])
def member(on: Broker) -> None:
    member = on.member()
    expect(on.heartbeat(member), error_code=E.NONE, throttle_time_ms=0)


@case("Heartbeat", "A group that does not exist: UNKNOWN_MEMBER_ID.", source=SOURCE)
def unknown_group(on: Broker) -> None:
    answer = on.ask("Heartbeat", group_id=on.group(), generation_id=1, member_id="nobody")
    expect(answer, error_code=E.UNKNOWN_MEMBER_ID)


@case("Heartbeat", "A group that only stores offsets: UNKNOWN_MEMBER_ID.", source=SOURCE, also=["OffsetCommit"])
def simple_group(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    on.commit(group, [(topic, 0, 1)])
    answer = on.ask("Heartbeat", group_id=group, generation_id=0, member_id="nobody")
    expect(answer, error_code=E.UNKNOWN_MEMBER_ID)


@case("Heartbeat", "An id that is no member's: UNKNOWN_MEMBER_ID.", source=SOURCE, also=["JoinGroup"])
def unknown_member(on: Broker) -> None:
    expect(on.heartbeat(on.member(), member_id="nobody"), error_code=E.UNKNOWN_MEMBER_ID)


@case("Heartbeat", "An empty group id: INVALID_GROUP_ID.", source=SOURCE)
def empty_group_id(on: Broker) -> None:
    expect(on.ask("Heartbeat", group_id="", generation_id=1, member_id="x"), error_code=E.INVALID_GROUP_ID)


@case("Heartbeat", "Another generation: ILLEGAL_GENERATION.", source=SOURCE, also=["JoinGroup"])
def other_generation(on: Broker) -> None:
    member = on.member()
    for generation in (member.generation + 1, member.generation - 1, -1):
        expect(on.heartbeat(as_generation(member, generation)), error_code=E.ILLEGAL_GENERATION)


@case("Heartbeat", "While joins are collected: REBALANCE_IN_PROGRESS.", source=SOURCE, also=["JoinGroup"])
def collecting_joins(on: Broker) -> None:
    member, _ = on.rebalancing()
    expect(on.heartbeat(member), error_code=E.REBALANCE_IN_PROGRESS)


@case("Heartbeat", "While the assignment is awaited: NONE.", source=SOURCE, also=["JoinGroup"])
def awaiting_the_assignment(on: Broker) -> None:
    leader, follower = on.pair(synced=False)
    expect(on.heartbeat(leader), error_code=E.NONE)
    expect(on.heartbeat(follower), error_code=E.NONE)


@case("Heartbeat", "A member that has left: UNKNOWN_MEMBER_ID.", source=SOURCE, also=["JoinGroup", "LeaveGroup"])
def after_leaving(on: Broker) -> None:
    member = on.member()
    on.leave(member)
    expect(on.heartbeat(member), error_code=E.UNKNOWN_MEMBER_ID)


@case(
    "Heartbeat",
    "A static member whose place was taken: FENCED_INSTANCE_ID; the new one: NONE.",
    source="KIP-345",
    versions=(3, 4),
    also=["JoinGroup"],
)
def fenced(on: Broker) -> None:
    old = on.member(instance="one")
    new = on.joined(on.start_join(old.group, client="again", instance="one"), old.group, "one")
    expect(on.heartbeat(old), error_code=E.FENCED_INSTANCE_ID)
    expect(on.heartbeat(new), error_code=E.NONE)


@case("Heartbeat", "An instance that nobody has: UNKNOWN_MEMBER_ID.", source="KIP-345", versions=(3, 4))
def unknown_instance(on: Broker) -> None:
    expect(on.heartbeat(on.member(), group_instance_id="other"), error_code=E.UNKNOWN_MEMBER_ID)


@case("Heartbeat", "A pipeline of heartbeats is answered in its order.", source="Kafka: SocketServer")
def pipelined(on: Broker) -> None:
    member = on.member()
    generations = [member.generation + number % 2 for number in range(60)]
    sent = [
        on.send("Heartbeat", client=member.client, group_id=member.group, member_id=member.id, generation_id=generation)
        for generation in generations
    ]
    codes = [pending.answer().error_code for pending in sent]
    wanted = [E.NONE if one == member.generation else E.ILLEGAL_GENERATION for one in generations]
    expect_that("the error codes", codes, wanted)


@case(
    "Heartbeat",
    "Without heartbeats a member is out when its session timeout is over, and the group empty.",
    source=SOURCE,
    slow=True,
    also=["JoinGroup", "OffsetCommit"],
)
def session_expires(on: Broker) -> None:
    member = on.member(session_ms=6000)
    on.commit(member.group, [(on.some_topic(), 0, 1)], member=member)  # without offsets the next sweep takes the group
    link = on.link()
    expect_that("an answer before its time", link.arrives(6.5), False)
    on.await_state(member.group, "Empty")
    expect(on.heartbeat(member), error_code=E.UNKNOWN_MEMBER_ID)


@case("Heartbeat", "Heartbeats keep a session alive beyond its timeout.", source=SOURCE, slow=True, also=["JoinGroup"])
def session_lives(on: Broker) -> None:
    member = on.member(session_ms=6000)
    for _ in range(4):
        expect_that("an answer before its time", on.link().arrives(2.5), False)
        expect(on.heartbeat(member), error_code=E.NONE)
