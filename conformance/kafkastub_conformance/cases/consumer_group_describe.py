"""ConsumerGroupDescribe (KIP-848), and what the older requests say of consumer groups."""

from __future__ import annotations

from functools import partial
from typing import Any

from kafkastub_conformance.broker import Broker
from kafkastub_conformance.cluster import Topic
from kafkastub_conformance.epochs import Consumer, described, partitions, settle
from kafkastub_conformance.expecting import expect, expect_that
from kafkastub_conformance.registry import case as any_case
from kafkawire.errors import ErrorCode as E

case = partial(any_case, since="4.0", before="UNSUPPORTED_VERSION, unless the early access is let in")

API = "ConsumerGroupDescribe"
SOURCE = "KIP-848; Kafka: ConsumerGroup.asDescribedGroup"
MISSING = "KIP-848; Kafka: GroupMetadataManager.consumerGroupDescribe"
STATES = "KIP-848; Kafka: ConsumerGroup.maybeUpdateGroupState"
OLDER = "KIP-848, KIP-1043; Kafka: GroupMetadataManager.describeGroups"
SEEN = ["ConsumerGroupHeartbeat"]
BOTH = ["ConsumerGroupHeartbeat", "ConsumerGroupDescribe"]


def joined(on: Broker, topic: Topic, **more: Any) -> Consumer:
    """The only member of a group."""
    member = Consumer(on, on.group(), topic, **more)
    member.join()
    return member


@case(API, "A stable group: its epochs, its assignor, its members and what they have.", source=SOURCE, also=SEEN)
def stable(on: Broker) -> None:
    topic = on.some_topic()
    member = joined(on, topic, rack_id="r1")
    found = described(on, member.group)
    told = (found.error_code, found.error_message, found.group_state, found.group_epoch, found.assignment_epoch)
    expect_that("the group", told, (E.NONE, None, "Stable", 2, 2))
    expect_that("how many members", len(found.members), 1)
    one = found.members[0]
    expect_that("who it is", (one.member_id, one.member_epoch, one.client_id), ("m1", 2, "conform"))
    expect_that("what else", (one.instance_id, one.rack_id, one.subscribed_topic_regex), (None, "r1", ""))
    expect_that("what it subscribes to", list(one.subscribed_topic_names), [topic.name])
    for assignment in (one.assignment, one.target_assignment):
        expect_that("what it has", partitions(assignment), {topic.id: [0, 1, 2]})
        expect_that("the topic's name", assignment.topic_partitions[0].topic_name, topic.name)


@case(API, "A member of the newer protocol is of type 1.", source="KIP-1099", versions=(1, 1), also=SEEN)
def member_type(on: Broker) -> None:
    member = joined(on, on.some_topic())
    expect_that("the type", described(on, member.group).members[0].member_type, 1)


@case(
    API,
    "A partition that a member must still release is listed as its own; the target shows the new assignment.",
    source=SOURCE,
    also=SEEN,
)
def reconciling(on: Broker) -> None:
    topic = on.some_topic()
    member = joined(on, topic)
    second = Consumer(on, member.group, topic, name="m2")
    second.join()

    def is_assigned() -> bool:
        second.beat()
        return bool(described(on, member.group).group_state == "Reconciling")

    expect_that("whether it is reconciling", on.in_time(is_assigned, every=0.03), True)
    member.beat()
    expect_that("how much it is told to keep", len(member.has(topic)), 2)
    members = {one.member_id: one for one in described(on, member.group).members}
    expect_that("what the first has", sorted(partitions(members["m1"].assignment)[topic.id]), [0, 1, 2])
    expect_that("how much it keeps", len(partitions(members["m1"].target_assignment)[topic.id]), 2)
    expect_that("what the second has", partitions(members["m2"].assignment), {})
    settle(member, second)


@case(API, "The states of a group: Stable, Assigning when a member has left, Empty.", source=STATES, also=SEEN)
def states(on: Broker) -> None:
    topic = on.some_topic()
    member = joined(on, topic)
    second = Consumer(on, member.group, topic, name="m2")
    second.join()
    settle(member, second)
    second.leave()
    seen = [described(on, member.group).group_state]
    member.leave()
    seen.append(described(on, member.group).group_state)
    expect_that("the states", seen, ["Assigning", "Empty"])


@case(API, "A group that there is not: GROUP_ID_NOT_FOUND.", source=MISSING, also=SEEN)
def missing(on: Broker) -> None:
    found = described(on, on.group())
    expect_that("the group", (found.error_code, found.group_state, list(found.members)), (E.GROUP_ID_NOT_FOUND, "", []))


@case(API, "A classic group: GROUP_ID_NOT_FOUND.", source=MISSING, also=[*SEEN, "JoinGroup", "SyncGroup"])
def classic(on: Broker) -> None:
    member = on.member()
    expect_that("the code", described(on, member.group).error_code, E.GROUP_ID_NOT_FOUND)


@case(API, "The allowed operations are returned if requested.", source="KIP-848, KIP-430", also=SEEN)
def operations(on: Broker) -> None:
    member = joined(on, on.some_topic())
    for wanted in (False, True):
        group = on.ask(API, group_ids=[member.group], include_authorized_operations=wanted).groups[0]
        expect_that(f"whether they are told ({wanted})", group.authorized_operations != -(2**31), wanted)


# The older requests.


@case(
    "DescribeGroups",
    "A consumer group is Dead for clients of versions that cannot describe it.",
    source=OLDER,
    versions=(0, 5),
    also=BOTH,
)
def consumer_group_is_dead(on: Broker) -> None:
    member = joined(on, on.some_topic())
    expect(on.ask("DescribeGroups", groups=[member.group]), groups=[{"error_code": E.NONE, "group_state": "Dead"}])


@case(
    "DescribeGroups",
    "A consumer group is no classic one: GROUP_ID_NOT_FOUND.",
    source=OLDER,
    versions=(6, 6),
    also=BOTH,
)
def consumer_group_is_not_found(on: Broker) -> None:
    member = joined(on, on.some_topic())
    told = {"error_code": E.GROUP_ID_NOT_FOUND, "group_state": "Dead"}
    expect(on.ask("DescribeGroups", groups=[member.group]), groups=[told])


@case(
    "ListGroups",
    "A consumer group is of type consumer; types are filtered in any case.",
    source="KIP-848",
    versions=(5, 5),
    also=BOTH,
)
def consumer_type(on: Broker) -> None:
    member = joined(on, on.some_topic())
    for types, there in (([], True), (["Consumer"], True), (["classic"], False)):
        listed = {one.group_id: one for one in on.ask("ListGroups", types_filter=types).groups}
        expect_that(f"whether it is among {types}", member.group in listed, there)
        if there:
            one = listed[member.group]
            told = (one.protocol_type, one.group_state, one.group_type)
            expect_that("how it is listed", told, ("consumer", "Stable", "consumer"))


@case("ListGroups", "A group can be had by its newer states.", source="KIP-518, KIP-848", versions=(4, 5), also=BOTH)
def consumer_states(on: Broker) -> None:
    member = joined(on, on.some_topic())
    for state, there in (("stable", True), ("Assigning", False)):
        listed = [one.group_id for one in on.ask("ListGroups", states_filter=[state]).groups]
        expect_that(f"whether it is among {state}", member.group in listed, there)


@case(
    "DeleteGroups",
    "A consumer group that has members: NON_EMPTY_GROUP; an empty one goes.",
    source="KIP-848",
    also=BOTH,
)
def consumer_group(on: Broker) -> None:
    member = joined(on, on.some_topic())
    for code in (E.NON_EMPTY_GROUP, E.NONE):
        answer = on.ask("DeleteGroups", groups_names=[member.group])
        expect(answer, results=[{"group_id": member.group, "error_code": code}])
        if code:
            member.leave()
    expect_that("the code", described(on, member.group).error_code, E.GROUP_ID_NOT_FOUND)


@case("Heartbeat", "A member of the newer protocol: UNKNOWN_MEMBER_ID.", source="KIP-848", also=BOTH)
def of_the_newer_protocol(on: Broker) -> None:
    member = joined(on, on.some_topic())
    answer = on.ask("Heartbeat", group_id=member.group, member_id=member.name, generation_id=member.epoch)
    expect(answer, error_code=E.UNKNOWN_MEMBER_ID)


@case(
    "SyncGroup",
    "A member of the newer protocol: UNKNOWN_MEMBER_ID.",
    source="KIP-848",
    also=BOTH,
    name="of_the_newer_protocol",
)
def syncs(on: Broker) -> None:
    member = joined(on, on.some_topic())
    body: dict[str, Any] = {"group_id": member.group, "member_id": member.name, "generation_id": member.epoch}
    named: dict[str, Any] = {"protocol_type": "consumer", "protocol_name": "range"}
    expect(on.ask("SyncGroup", **body, **named), error_code=E.UNKNOWN_MEMBER_ID)
