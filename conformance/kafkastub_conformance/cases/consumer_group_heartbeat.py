"""ConsumerGroupHeartbeat (KIP-848): joining, epochs, what is told to whom, leaving, and what is refused."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from kafkastub_conformance.broker import Broker
from kafkastub_conformance.epochs import Consumer, described, partitions, settle, shared_out
from kafkastub_conformance.expecting import expect, expect_that
from kafkastub_conformance.registry import case as any_case
from kafkawire.errors import ErrorCode as E

case = partial(any_case, since="4.0", before="UNSUPPORTED_VERSION, unless the early access is let in")

API = "ConsumerGroupHeartbeat"
SOURCE = "KIP-848; Kafka: GroupMetadataManager.consumerGroupHeartbeat"
CHECKED = "KIP-848; Kafka: GroupCoordinatorService.throwIfConsumerGroupHeartbeatRequestIsInvalid"
EPOCHS = "KIP-848; Kafka: GroupMetadataManager.throwIfConsumerGroupMemberEpochIsInvalid"
RECONCILED = "KIP-848; Kafka: CurrentAssignmentBuilder"
STATIC = "KIP-848; Kafka: GroupMetadataManager.getOrMaybeSubscribeStaticConsumerGroupMember"
LEAVING = "KIP-848; Kafka: GroupMetadataManager.consumerGroupLeave"
EMPTIED = "KIP-848; Kafka: GroupMetadataManager.consumerGroupFenceMembers"
EXPRESSIONS = "KIP-848; Kafka: GroupMetadataManager.maybeUpdateRegularExpressions"
SEEN = ["ConsumerGroupDescribe"]


# Joining.


@case(API, "The first member receives all partitions in the answer to its join.", source=SOURCE, also=SEEN)
def first_member(on: Broker) -> None:
    topic, group = on.some_topic(), on.group()
    member = Consumer(on, group, topic)
    answer = member.join()
    expect(answer, member_id="m1", member_epoch=2, error_message=None)
    expect_that("whether it says when to come again", answer.heartbeat_interval_ms > 0, True)
    expect_that("its partitions", member.has(topic), [0, 1, 2])


@case(API, "A member that subscribes to nothing is let in; its group begins with epoch 1.", source=SOURCE, also=SEEN)
def without_topics(on: Broker) -> None:
    answer = Consumer(on, on.group()).join()
    expect(answer, member_epoch=1)
    expect_that("its partitions", partitions(answer.assignment), {})


@case(API, "A topic that is not there is waited for.", source=SOURCE, also=[*SEEN, "CreateTopics"])
def topic_to_come(on: Broker) -> None:
    group, name = on.group(), on.name()
    member = Consumer(on, group)
    member.join(subscribed_topic_names=[name])
    expect_that("its partitions", member.owned, {})
    row = {"name": name, "num_partitions": 1, "replication_factor": 1}
    on.ask("CreateTopics", topics=[row], timeout_ms=10_000)
    expect_that("whether it is told", on.in_time(lambda: bool(member.beat() and member.owned)), True)


@case(API, "Without an id a member is given one.", source=SOURCE, versions=(0, 0), also=SEEN)
def member_id_made_up(on: Broker) -> None:
    answer = Consumer(on, on.group(), on.some_topic(), name="").join()
    expect_that("whether it is a uuid", bool(re.fullmatch(r"[A-Za-z0-9_-]{22}", answer.member_id)), True)


@case(API, "A member brings its id: INVALID_REQUEST.", source="KIP-1082", versions=(1, 1), also=SEEN)
def member_id_missing(on: Broker) -> None:
    expect(Consumer(on, on.group(), on.some_topic(), name="").first(), error_code=E.INVALID_REQUEST)


@case(
    API,
    "A first heartbeat that lacks a required field, or has a forbidden one: INVALID_REQUEST.",
    source=CHECKED,
    also=SEEN,
)
def incomplete_first(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    owned = [{"topic_id": topic.id, "partitions": [0]}]
    changes: list[dict[str, Any]] = [
        {"rebalance_timeout_ms": -1},
        {"topic_partitions": None},
        {"topic_partitions": owned},
        {"subscribed_topic_names": None},
        {"group_id": ""},
        {"instance_id": ""},
        {"rack_id": ""},
    ]
    member = Consumer(on, group, topic)
    codes = [int(member.first(**change).error_code) for change in changes]
    expect_that("the codes", codes, [E.INVALID_REQUEST] * len(changes))
    expect_group(described(on, group), error_code=E.GROUP_ID_NOT_FOUND)


def expect_group(found: Any, **expected: Any) -> None:
    """Fields of a described group."""
    for name, value in expected.items():
        expect_that(name, getattr(found, name), value)


@case(API, "An epoch below -2, or -2 without an instance id: INVALID_REQUEST.", source=CHECKED, also=SEEN)
def odd_epochs(on: Broker) -> None:
    member = Consumer(on, on.group(), on.some_topic())
    member.join()
    expect_that("the codes", [member.ask(one).error_code for one in (-2, -3)], [E.INVALID_REQUEST] * 2)


@case(API, "An assignor that the broker does not have: UNSUPPORTED_ASSIGNOR.", source=CHECKED, also=SEEN)
def unknown_assignor(on: Broker) -> None:
    member = Consumer(on, on.group(), on.some_topic())
    codes = [member.first(server_assignor=name).error_code for name in ("nope", "")]
    expect_that("the codes", codes, [E.UNSUPPORTED_ASSIGNOR] * 2)


# Epochs.


@case(API, "An unknown group: GROUP_ID_NOT_FOUND; an unknown member: UNKNOWN_MEMBER_ID.", source=SOURCE, also=SEEN)
def unknown(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    stranger = Consumer(on, group, topic, name="m2")
    expect_that("the codes", [stranger.ask(one).error_code for one in (1, -1)], [E.GROUP_ID_NOT_FOUND] * 2)
    Consumer(on, group, topic).join()
    expect_that("the codes", [stranger.ask(one).error_code for one in (1, -1)], [E.UNKNOWN_MEMBER_ID] * 2)


@case(API, "Another epoch than the member's: FENCED_MEMBER_EPOCH.", source=EPOCHS, also=SEEN)
def fenced(on: Broker) -> None:
    member = Consumer(on, on.group(), on.some_topic())
    member.join()
    codes = [member.ask(member.epoch + change).error_code for change in (1, -1)]
    expect_that("the codes", codes, [E.FENCED_MEMBER_EPOCH] * 2)
    expect(member.beat(), member_epoch=member.epoch)


@case(
    API,
    "The epoch before is good for a member that lost an answer, and owns nothing that was taken.",
    source=EPOCHS,
    also=SEEN,
)
def former_epoch(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    member, second = Consumer(on, group, topic), Consumer(on, group, topic, name="m2")
    member.join()
    before = member.epoch
    second.join()
    settle(member, second)
    expect(member.ask(before), error_code=E.FENCED_MEMBER_EPOCH)
    everything = [{"topic_id": topic.id, "partitions": [0, 1, 2]}]
    expect(member.ask(before, topic_partitions=everything), error_code=E.FENCED_MEMBER_EPOCH)
    expect(member.ask(before, topic_partitions=member.reported()), error_code=E.NONE, member_epoch=member.epoch)


@case(API, "A member that joins again with epoch 0 keeps its membership and its target.", source=SOURCE, also=SEEN)
def joined_again(on: Broker) -> None:
    topic = on.some_topic()
    member = Consumer(on, on.group(), topic)
    member.join()
    epoch = member.epoch
    expect(member.join(), member_epoch=epoch)
    expect_that("its partitions", member.has(topic), [0, 1, 2])


# What is told.


@case(
    API,
    "The assignment is returned if it has changed or the heartbeat is a full one; otherwise it is null.",
    source=SOURCE,
    also=SEEN,
)
def told_once(on: Broker) -> None:
    topic = on.some_topic()
    member = Consumer(on, on.group(), topic)
    member.join()
    for owned in (member.reported(), None, []):
        expect(member.ask(member.epoch, topic_partitions=owned), error_code=E.NONE, assignment=None)
    everything = {
        "rebalance_timeout_ms": 60_000,
        "subscribed_topic_names": [topic.name],
        "topic_partitions": member.reported(),
    }
    answer = member.ask(member.epoch, **everything)
    expect_that("what it is told", partitions(answer.assignment), {topic.id: [0, 1, 2]})


@case(
    API,
    "A partition is given to another member when its owner has said that it let it go, not before.",
    source=RECONCILED,
    also=SEEN,
)
def revoked_first(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    member, second = Consumer(on, group, topic), Consumer(on, group, topic, name="m2")
    member.join()
    member.beat()
    second.join()
    expect_that("what the second has", second.has(topic), [])

    def asked_to_revoke() -> bool:
        second.beat()
        answer = member.ask(member.epoch)
        if answer.assignment is None:
            return False
        member.owned = partitions(answer.assignment)
        return True

    expect_that("whether the first is to revoke", on.in_time(asked_to_revoke, every=0.03), True)
    expect_that("how much it keeps", len(member.has(topic)), 2)
    second.beat()
    expect(member.ask(member.epoch), error_code=E.NONE, member_epoch=member.epoch)
    expect_that("what the second has before", second.has(topic), [])
    member.beat(topic_partitions=member.reported())
    second.beat()
    expect_that("all of it", shared_out(topic, (member, second)), [0, 1, 2])


@case(API, "Three members share three partitions out, each of its own.", source=SOURCE, also=SEEN)
def shared(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    members = [Consumer(on, group, topic, name=f"m{number}") for number in range(3)]
    for one in members:
        one.join()
    settle(*members)
    expect_that("how many each has", [len(one.has(topic)) for one in members], [1, 1, 1])
    expect_that("all of it", shared_out(topic, members), [0, 1, 2])


@case(API, "The assignor `range` gives neighbouring partitions, by the order of the ids.", source=SOURCE, also=SEEN)
def by_range(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    members = [Consumer(on, group, topic, name=name, server_assignor="range") for name in ("m2", "m1")]
    for one in members:
        one.join()
    settle(*members)
    expect_that("who has what", [one.has(topic) for one in members], [[2], [0, 1]])


@case(
    API,
    "A member that changes its subscription receives revocations at once, and new partitions after it has "
    "released the old ones.",
    source=RECONCILED,
    also=SEEN,
)
def subscribed_anew(on: Broker) -> None:
    one, other = on.topic(1), on.some_topic()
    member = Consumer(on, on.group(), one)
    member.join()
    member.beat()
    member.beat(subscribed_topic_names=[other.name])
    expect_that("what it keeps", member.owned, {})

    def has_partitions() -> bool:
        member.beat()
        return bool(member.owned)

    expect_that("whether it is given the other", on.in_time(has_partitions, every=0.03), True)
    expect_that("what it has", member.owned, {other.id: [0, 1, 2]})


@case(
    API,
    "New partitions of a topic are assigned by the next heartbeats.",
    source=SOURCE,
    also=[*SEEN, "CreatePartitions"],
)
def grown(on: Broker) -> None:
    topic = on.topic(1)
    member = Consumer(on, on.group(), topic)
    member.join()
    row = {"name": topic.name, "count": 2, "assignments": None}
    on.ask("CreatePartitions", topics=[row], timeout_ms=10_000)
    expect_that("whether it is told", on.in_time(lambda: bool(member.beat() and member.has(topic) == [0, 1])), True)


# Leaving.


@case(API, "Partitions of a member that leaves go to another member.", source=LEAVING, also=SEEN)
def left(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    member, second = Consumer(on, group, topic), Consumer(on, group, topic, name="m2")
    member.join()
    second.join()
    settle(member, second)
    member.leave()
    settle(second)
    expect_that("what the second has", second.has(topic), [0, 1, 2])
    expect(member.ask(member.epoch), error_code=E.UNKNOWN_MEMBER_ID)


@case(API, "A group that all have left is Empty, and its epoch goes on.", source=LEAVING, also=SEEN)
def all_left(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    member = Consumer(on, group, topic)
    member.join()
    member.leave()
    expect_group(described(on, group), group_state="Empty", group_epoch=3, members=[])
    member.join()
    settle(member)
    expect_that("its epoch and partitions", (member.epoch, member.has(topic)), (4, [0, 1, 2]))


@case(
    API,
    "When all members have left, the target is computed at once: the next member that joins receives all "
    "partitions in the answer.",
    source=EMPTIED,
    since="4.4",
    before="the target stays, and a member that joins waits for group.consumer.assignment.interval.ms",
    also=SEEN,
)
def emptied(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    member = Consumer(on, group, topic)
    member.join()
    member.leave()
    expect_group(described(on, group), group_epoch=3, assignment_epoch=3)
    expect(member.join(), member_epoch=4)
    expect_that("its partitions", member.has(topic), [0, 1, 2])


# Static members.


@case(API, "An instance id that a member holds: UNRELEASED_INSTANCE_ID.", source=STATIC, also=SEEN)
def unreleased(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    member = Consumer(on, group, topic, instance="i1")
    member.join()
    another = Consumer(on, group, topic, name="m2", instance="i1")
    expect_that("the codes", [one.first().error_code for one in (another, member)], [E.UNRELEASED_INSTANCE_ID] * 2)


@case(
    API,
    "Another member's instance id: FENCED_INSTANCE_ID; one that nobody has: UNKNOWN_MEMBER_ID.",
    source=STATIC,
    also=SEEN,
)
def wrong_instance(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    member = Consumer(on, group, topic, instance="i1")
    member.join()
    another = Consumer(on, group, topic, name="m2", instance="i1")
    expect_that("the codes", [another.ask(one).error_code for one in (2, -1, -2)], [E.FENCED_INSTANCE_ID] * 3)
    expect(member.ask(member.epoch, instance_id="i9"), error_code=E.UNKNOWN_MEMBER_ID)


@case(
    API,
    "Partitions of a static member that leaves temporarily wait for the member that returns with its instance id.",
    source=STATIC,
    also=SEEN,
)
def came_back(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    member, second = Consumer(on, group, topic, instance="i1"), Consumer(on, group, topic, name="m2")
    member.join()
    second.join()
    settle(member, second)
    had, epoch = member.owned, member.epoch
    member.leave(-2)
    second.beat()
    expect(member.ask(epoch), error_code=E.FENCED_MEMBER_EPOCH)
    another = Consumer(on, group, topic, name="m3", instance="i1")
    another.join()
    expect_that("its epoch and partitions", (another.epoch, another.owned), (epoch, had))
    expect(member.ask(epoch), error_code=E.FENCED_INSTANCE_ID)


# Regular expressions.


@case(
    API,
    "A regular expression subscribes to the topics that match it as a whole.",
    source=EXPRESSIONS,
    versions=(1, 1),
    also=SEEN,
)
def expression(on: Broker) -> None:
    one, other = on.topic(1), on.topic(2)
    pattern = f"{re.escape(one.name)}|{re.escape(other.name)[:-1]}"
    member = Consumer(on, on.group())
    member.join(subscribed_topic_names=None, subscribed_topic_regex=pattern)
    expect_that("whether it is told", on.in_time(lambda: bool(member.beat() and member.owned)), True)
    expect_that("what it has", member.owned, {one.id: [0]})


@case(API, "Names and a regular expression together.", source=EXPRESSIONS, versions=(1, 1), also=SEEN)
def names_and_expression(on: Broker) -> None:
    one, other = on.topic(1), on.topic(2)
    member = Consumer(on, on.group(), one)
    member.join(subscribed_topic_regex=re.escape(other.name))
    expect_that("whether both are told", on.in_time(lambda: bool(member.beat() and len(member.owned) == 2)), True)
    member.beat(subscribed_topic_regex="")
    expect_that("whether one goes", on.in_time(lambda: bool(member.beat() and len(member.owned) == 1)), True)


@case(API, "An invalid regular expression: INVALID_REGULAR_EXPRESSION.", source=EXPRESSIONS, versions=(1, 1), also=SEEN)
def broken_expression(on: Broker) -> None:
    group = on.group()
    member = Consumer(on, group)
    for pattern in ("[", "(?=a)", "a**", "\\"):
        answer = member.first(subscribed_topic_names=None, subscribed_topic_regex=pattern)
        expect(answer, error_code=E.INVALID_REGULAR_EXPRESSION)
        expect_that("whether it says what is wrong", pattern in (answer.error_message or ""), True)
    expect(member.first(subscribed_topic_names=None, subscribed_topic_regex=""), error_code=E.NONE)
