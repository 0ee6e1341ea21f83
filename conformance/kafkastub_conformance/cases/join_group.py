"""JoinGroup: how members come together."""

from __future__ import annotations

from typing import Any

from kafkastub_conformance.broker import MAIN, REBALANCE_MS, SESSION_MS, Broker, subscription
from kafkastub_conformance.expecting import NOT_EMPTY, Answer, Matcher, expect, expect_that, one_of, unordered
from kafkastub_conformance.registry import case
from kafkawire.errors import ErrorCode as E

SOURCE = "Kafka: GroupMetadataManager.classicGroupJoin"
MINE = subscription("mine")


def begins_with(text: str) -> Matcher:
    return Matcher(f"something that begins with {text!r}", lambda value: str(value).startswith(text))


def join(on: Broker, group: str, client: str = MAIN, **changes: Any) -> Answer:
    """A JoinGroup as it is, without a second one for a member id."""
    body: dict[str, Any] = {
        "group_id": group,
        "session_timeout_ms": SESSION_MS,
        "rebalance_timeout_ms": REBALANCE_MS,
        "protocol_type": "consumer",
        "protocols": [{"name": "range", "metadata": MINE}],
    }
    return on.ask("JoinGroup", client=client, **{**body, **changes})


def no_protocol(on: Broker) -> str | None:
    """The protocol's name where there is none: null from version 7 on (KIP-559)."""
    return None if on.version >= 7 else ""


@case("JoinGroup", "The first member leads generation 1 and receives all members.", source=SOURCE)
def first_member(on: Broker) -> None:
    group = on.group()
    answer = on.start_join(group, protocols={"range": MINE}).answer()
    expect(
        answer,
        error_code=E.NONE,
        generation_id=1,
        protocol_type="consumer",
        protocol_name="range",
        leader=answer.member_id,
        skip_assignment=False,
        members=[{"member_id": answer.member_id, "group_instance_id": None, "metadata": MINE}],
    )


@case("JoinGroup", "A member id is the client id, a hyphen and more.", source=SOURCE)
def member_id(on: Broker) -> None:
    expect(on.start_join(on.group()).answer(), error_code=E.NONE, member_id=begins_with(f"{MAIN}-"))


@case(
    "JoinGroup",
    "A new member gets MEMBER_ID_REQUIRED and its id, and joins with that.",
    source="KIP-394",
    versions=(4, 9),
)
def member_id_required(on: Broker) -> None:
    group = on.group()
    first = join(on, group)
    expect(
        first,
        error_code=E.MEMBER_ID_REQUIRED,
        generation_id=-1,
        protocol_name=no_protocol(on),
        leader="",
        member_id=begins_with(MAIN),
        members=[],
    )
    second = join(on, group, member_id=first.member_id)
    expect(second, error_code=E.NONE, member_id=first.member_id, generation_id=1)


@case("JoinGroup", "A new member joins at once.", source="KIP-394", versions=(0, 3))
def at_once(on: Broker) -> None:
    expect(join(on, on.group()), error_code=E.NONE, generation_id=1, member_id=NOT_EMPTY)


@case("JoinGroup", "The empty group id: INVALID_GROUP_ID.", source=SOURCE)
def empty_group_id(on: Broker) -> None:
    expect(join(on, ""), error_code=E.INVALID_GROUP_ID, generation_id=-1, leader="", member_id="", members=[])


@case("JoinGroup", "A session timeout out of bounds: INVALID_SESSION_TIMEOUT.", source="KIP-211, group.min/max.session")
def session_timeout(on: Broker) -> None:
    least = on.cluster.number("group.min.session.timeout.ms", 6000)
    most = on.cluster.number("group.max.session.timeout.ms", 1_800_000)
    refused = {0, -1, least - 1, min(most + 1, 2**31 - 1)} - {least, most}
    for timeout in sorted(refused):
        answer = join(on, on.group(), session_timeout_ms=timeout)
        expect(answer, error_code=E.INVALID_SESSION_TIMEOUT, generation_id=-1, members=[])
    for timeout in (least, most):
        answer = join(on, on.group(), session_timeout_ms=timeout)
        expect(answer, error_code=one_of(E.NONE, E.MEMBER_ID_REQUIRED))


@case("JoinGroup", "A member id in a group that does not exist: UNKNOWN_MEMBER_ID.", source=SOURCE)
def unknown_group(on: Broker) -> None:
    answer = join(on, on.group(), member_id="nobody")
    expect(answer, error_code=E.UNKNOWN_MEMBER_ID, member_id="nobody", generation_id=-1, members=[])


@case("JoinGroup", "A member id that is nobody's: UNKNOWN_MEMBER_ID.", source=SOURCE)
def unknown_member(on: Broker) -> None:
    member = on.member()
    answer = join(on, member.group, member_id="nobody")
    expect(answer, error_code=E.UNKNOWN_MEMBER_ID, member_id="nobody", generation_id=-1, members=[])
    expect(on.heartbeat(member), error_code=E.NONE)


@case("JoinGroup", "No protocol at all: INCONSISTENT_GROUP_PROTOCOL.", source=SOURCE)
def no_protocols(on: Broker) -> None:
    expect(join(on, on.group(), protocols=[]), error_code=E.INCONSISTENT_GROUP_PROTOCOL)


@case("JoinGroup", "An empty protocol type: INCONSISTENT_GROUP_PROTOCOL.", source=SOURCE)
def no_protocol_type(on: Broker) -> None:
    expect(join(on, on.group(), protocol_type=""), error_code=E.INCONSISTENT_GROUP_PROTOCOL)


@case("JoinGroup", "Another protocol type than the group's: INCONSISTENT_GROUP_PROTOCOL.", source=SOURCE)
def other_protocol_type(on: Broker) -> None:
    member = on.member()
    answer = join(on, member.group, "second", protocol_type="connect")
    expect(answer, error_code=E.INCONSISTENT_GROUP_PROTOCOL, generation_id=-1)


@case("JoinGroup", "No protocol in common: INCONSISTENT_GROUP_PROTOCOL.", source=SOURCE)
def no_common_protocol(on: Broker) -> None:
    member = on.member()
    answer = join(on, member.group, "second", protocols=[{"name": "sticky", "metadata": b""}])
    expect(answer, error_code=E.INCONSISTENT_GROUP_PROTOCOL)


@case(
    "JoinGroup", "A second member's join waits until the first has joined again; both get generation 2.", source=SOURCE
)
def second_member(on: Broker) -> None:
    group = on.group()
    first = on.member(group, client="first")
    second = on.start_join(group, client="second", protocols={"range": MINE})
    expect_that("the second join waits", second.waits(), True)
    on.await_members(group, 2)
    again = on.start_join(group, client="first", member=first.id, protocols={"range": MINE}).answer()
    other = second.answer()
    expect(again, error_code=E.NONE, generation_id=2, leader=first.id, member_id=first.id, protocol_name="range")
    expect_that("the members", sorted(row.member_id for row in again.members), sorted([first.id, other.member_id]))
    expect(other, error_code=E.NONE, generation_id=2, leader=first.id, protocol_name="range", members=[])


@case("JoinGroup", "The leader receives every member's metadata for the selected protocol.", source=SOURCE)
def metadata_of_members(on: Broker) -> None:
    group = on.group()
    first = on.start_join(group, client="first", protocols={"a": b"1a", "b": b"1b"}).answer()
    second = on.start_join(group, client="second", protocols={"b": b"2b", "c": b"2c"})
    on.await_members(group, 2)
    again = on.start_join(group, client="first", member=first.member_id, protocols={"a": b"1A", "b": b"1B"}).answer()
    rows = [
        {"member_id": first.member_id, "metadata": b"1B"},
        {"member_id": second.answer().member_id, "metadata": b"2b"},
    ]
    expect(again, error_code=E.NONE, protocol_name="b", members=unordered(*rows, by="member_id"))


@case("JoinGroup", "The protocol with most votes is selected.", source="Kafka: ClassicGroup.selectProtocol")
def votes(on: Broker) -> None:
    group = on.group()
    both = {"a": b"", "b": b""}
    other = {"b": b"", "a": b""}
    first = on.start_join(group, client="1", protocols=both).answer()
    waiting = [on.start_join(group, client=name, protocols=other) for name in ("2", "3")]
    on.await_members(group, 3)
    again = on.start_join(group, client="1", member=first.member_id, protocols=both).answer()
    expect(again, error_code=E.NONE, protocol_name="b")
    for one in waiting:
        expect(one.answer(), error_code=E.NONE, protocol_name="b")


@case("JoinGroup", "The leader that joins again makes the group rebalance.", source=SOURCE)
def leader_again(on: Broker) -> None:
    member = on.member()
    answer = on.start_join(member.group, member=member.id).answer()
    expect(answer, error_code=E.NONE, generation_id=2, leader=member.id, member_id=member.id)


@case("JoinGroup", "A follower that joins again unchanged gets the current generation.", source=SOURCE)
def follower_again(on: Broker) -> None:
    leader, follower = on.pair()
    answer = on.start_join(follower.group, client=follower.client, member=follower.id).answer()
    expect(answer, error_code=E.NONE, generation_id=follower.generation, leader=leader.id, members=[])
    expect(on.heartbeat(leader), error_code=E.NONE)


@case("JoinGroup", "A follower that joins with other metadata makes the group rebalance.", source=SOURCE)
def follower_changed(on: Broker) -> None:
    leader, follower = on.pair()
    joining = on.start_join(follower.group, client=follower.client, member=follower.id, protocols={"range": MINE})
    on.await_state(leader.group, "PreparingRebalance")
    expect(on.heartbeat(leader), error_code=E.REBALANCE_IN_PROGRESS)
    expect_that("the join waits", joining.waits(), True)
    on.start_join(leader.group, client=leader.client, member=leader.id).answer()
    expect(joining.answer(), error_code=E.NONE, generation_id=leader.generation + 1)


@case("JoinGroup", "A member that joins again before the assignment gets the same generation.", source=SOURCE)
def again_before_sync(on: Broker) -> None:
    leader, follower = on.pair(synced=False)
    answer = on.start_join(follower.group, client=follower.client, member=follower.id).answer()
    expect(answer, error_code=E.NONE, generation_id=follower.generation, members=[])
    answer = on.start_join(leader.group, client=leader.client, member=leader.id).answer()
    expect_that("the number of members told to the leader", len(answer.members), 2)


@case("JoinGroup", "A static member's id begins with its instance id.", source="KIP-345", versions=(5, 9))
def static_member(on: Broker) -> None:
    group = on.group()
    answer = on.start_join(group, instance="one").answer()
    expect(
        answer,
        error_code=E.NONE,
        generation_id=1,
        member_id=begins_with("one-"),
        members=[{"member_id": answer.member_id, "group_instance_id": "one"}],
    )


@case(
    "JoinGroup", "A static member that is back takes its place without a rebalance.", source="KIP-345", versions=(5, 9)
)
def static_member_back(on: Broker) -> None:
    old = on.member(instance="one")
    answer = on.start_join(old.group, client="again", instance="one").answer()
    expect(answer, error_code=E.NONE, generation_id=old.generation, member_id=begins_with("one-"))
    expect_that("whether the id is a new one", answer.member_id != old.id, True)
    expect_that("the group's state", on.state(old.group), "Stable")


@case(
    "JoinGroup",
    "A static leader that returns receives all members, and the flag to skip the assignment.",
    source="KIP-814",
    versions=(9, 9),
)
def static_leader_back(on: Broker) -> None:
    old = on.member(instance="one")
    answer = on.start_join(old.group, client="again", instance="one").answer()
    rows = [{"member_id": answer.member_id, "group_instance_id": "one"}]
    expect(answer, error_code=E.NONE, leader=answer.member_id, skip_assignment=True, members=rows)


@case(
    "JoinGroup",
    "Before version 9 such a leader receives the old leader's id, and no members.",
    source="KIP-814",
    versions=(5, 8),
)
def static_leader_back_before(on: Broker) -> None:
    old = on.member(instance="one")
    answer = on.start_join(old.group, client="again", instance="one").answer()
    expect(answer, error_code=E.NONE, leader=old.id, members=[])


@case("JoinGroup", "A static member's old id: FENCED_INSTANCE_ID.", source="KIP-345", versions=(5, 9))
def fenced(on: Broker) -> None:
    old = on.member(instance="one")
    on.start_join(old.group, client="again", instance="one").answer()
    answer = join(on, old.group, "late", member_id=old.id, group_instance_id="one")
    expect(answer, error_code=E.FENCED_INSTANCE_ID, generation_id=-1)


@case("JoinGroup", "An instance that nobody has, with an id: UNKNOWN_MEMBER_ID.", source="KIP-345", versions=(5, 9))
def unknown_instance(on: Broker) -> None:
    member = on.member()
    answer = join(on, member.group, "late", member_id=member.id, group_instance_id="other")
    expect(answer, error_code=E.UNKNOWN_MEMBER_ID)


@case("JoinGroup", "A join that waits holds back its own connection only.", source="Kafka: SocketServer (mute)")
def held_back(on: Broker) -> None:
    member, joining = on.rebalancing()
    behind = joining.link.request("Heartbeat", 0, {"group_id": member.group, "member_id": "x", "generation_id": 1})
    expect(on.heartbeat(member), error_code=E.REBALANCE_IN_PROGRESS)
    expect_that("what is behind the join waits", behind.waits(), True)
    on.start_join(member.group, client=member.client, member=member.id).answer()
    expect(joining.answer(), error_code=E.NONE)
    expect(behind.answer(), error_code=E.UNKNOWN_MEMBER_ID)


@case(
    "JoinGroup",
    "A member that does not join within the rebalance timeout is removed.",
    source=SOURCE,
    versions=(1, 9),
)
def rebalance_timeout(on: Broker) -> None:
    group = on.group()
    first = on.member(group, client="first", rebalance_ms=150)
    second = on.start_join(group, client="second", rebalance_ms=150)
    answer = second.answer()
    expect(answer, error_code=E.NONE, generation_id=2, leader=answer.member_id)
    expect_that("the number of members", len(answer.members), 1)
    expect(on.heartbeat(first, generation_id=2), error_code=E.UNKNOWN_MEMBER_ID)


@case("JoinGroup", "Members from different versions meet in one generation.", source=SOURCE)
def mixed_versions(on: Broker) -> None:
    group = on.group()
    newest = on.cluster.newest("JoinGroup")
    first = on.start_join(group, client="first", at=newest).answer()
    second = on.start_join(group, client="second")
    on.await_members(group, 2)
    again = on.start_join(group, client="first", member=first.member_id, at=newest).answer()
    expect_that("the generations", (again.generation_id, second.answer().generation_id), (2, 2))


@case("JoinGroup", "A member id given out is worth nothing in another group.", source="KIP-394", versions=(4, 9))
def id_of_another_group(on: Broker) -> None:
    first = join(on, on.group())
    answer = join(on, on.group(), member_id=first.member_id)
    expect(answer, error_code=E.UNKNOWN_MEMBER_ID)


@case("JoinGroup", "Metadata of any bytes and size comes back as it was.", source=SOURCE)
def large_metadata(on: Broker) -> None:
    data = bytes(range(256)) * 40
    answer = on.start_join(on.group(), kind="connect", protocols={"x": data}).answer()
    expect(answer, error_code=E.NONE, members=[{"member_id": answer.member_id, "metadata": data}])
