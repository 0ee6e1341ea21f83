"""Offsets of members with epochs: OffsetCommit, OffsetFetch, TxnOffsetCommit and OffsetDelete (KIP-848, KIP-1251)."""

from __future__ import annotations

from functools import partial

from kafkastub_conformance.broker import Broker, group_error
from kafkastub_conformance.cases.offset_delete import delete, topic_result
from kafkastub_conformance.cluster import Topic
from kafkastub_conformance.epochs import Consumer, settle
from kafkastub_conformance.expecting import Answer, expect, expect_that
from kafkastub_conformance.registry import case as any_case
from kafkastub_conformance.transacting import Producer
from kafkawire.errors import ErrorCode as E

case = partial(any_case, since="4.0", before="UNSUPPORTED_VERSION, unless the early access is let in")

COMMITS = "KIP-848; Kafka: ConsumerGroup.validateOffsetCommit"
ASSIGNED = "KIP-1251; Kafka: ConsumerGroup.createAssignmentEpochValidator"
FETCHES = "KIP-848; Kafka: ConsumerGroup.validateOffsetFetch"
BOTH = ["ConsumerGroupHeartbeat", "ConsumerGroupDescribe"]


def joined(on: Broker, topic: Topic) -> Consumer:
    """The only member of a group."""
    member = Consumer(on, on.group(), topic)
    member.join()
    return member


def commit(on: Broker, member: Consumer, epoch: int, *places: tuple[Topic, int], name: str = "m1") -> list[int]:
    """The error codes of a commit of offset 5 by a member, in the order of the partitions."""
    answer: Answer = on.commit(
        member.group, [(*place, 5) for place in places], generation_id_or_member_epoch=epoch, member_id=name
    )
    return [row.error_code for topic in answer.topics for row in topic.partitions]


@case("OffsetCommit", "A member with its epoch, from version 9 on.", source=COMMITS, versions=(9, 10), also=BOTH)
def with_epoch(on: Broker) -> None:
    topic = on.some_topic()
    member = joined(on, topic)
    expect_that("the codes", commit(on, member, member.epoch, (topic, 0)), [E.NONE])
    expect_that("the offset", on.committed(member.group, topic), 5)


@case("OffsetCommit", "Versions that know no epochs: UNSUPPORTED_VERSION.", source=COMMITS, versions=(2, 8), also=BOTH)
def without_epochs(on: Broker) -> None:
    topic = on.some_topic()
    member = joined(on, topic)
    expect_that("the codes", commit(on, member, member.epoch, (topic, 0)), [E.UNSUPPORTED_VERSION])


@case(
    "OffsetCommit",
    "An epoch above the member's, or from before it had the partition: STALE_MEMBER_EPOCH.",
    source=COMMITS,
    versions=(9, 10),
    also=BOTH,
)
def stale_epoch(on: Broker) -> None:
    topic = on.some_topic()
    member = joined(on, topic)
    for epoch in (member.epoch + 1, member.epoch - 1):
        expect_that(f"the codes at {epoch}", commit(on, member, epoch, (topic, 0)), [E.STALE_MEMBER_EPOCH])
    expect_that("the offset", on.committed(member.group, topic), -1)


@case(
    "OffsetCommit",
    "An older epoch, where the member has had the partition since: it is committed.",
    source=ASSIGNED,
    versions=(9, 10),
    since="4.3",
    before="STALE_MEMBER_EPOCH",
    also=BOTH,
)
def older_epoch(on: Broker) -> None:
    topic = on.some_topic()
    member = joined(on, topic)
    since = member.epoch
    second = Consumer(on, member.group, topic, name="m2")
    second.join()
    settle(member, second)
    kept, lost = member.has(topic)[0], second.has(topic)[0]
    expect_that("the codes", commit(on, member, since, (topic, kept)), [E.NONE])
    both = commit(on, member, since, (topic, kept), (topic, lost))
    expect_that("the codes with what it lost", both, [E.STALE_MEMBER_EPOCH] * 2)


@case(
    "OffsetCommit",
    "A client that is not a member of a group with members: UNKNOWN_MEMBER_ID; anybody may commit when all have left.",
    source=COMMITS,
    versions=(9, 10),
    also=BOTH,
)
def by_nobody(on: Broker) -> None:
    topic = on.some_topic()
    member = joined(on, topic)
    expect_that("the codes", commit(on, member, -1, (topic, 0), name=""), [E.UNKNOWN_MEMBER_ID])
    expect_that("the codes", commit(on, member, member.epoch, (topic, 0), name="m9"), [E.UNKNOWN_MEMBER_ID])
    member.leave()
    expect_that("the codes", commit(on, member, -1, (topic, 0), name=""), [E.NONE])


@case(
    "OffsetFetch",
    "A member says its epoch: another is STALE_MEMBER_EPOCH, another member UNKNOWN_MEMBER_ID.",
    source=FETCHES,
    versions=(9, 10),
    also=BOTH,
)
def with_epoch_fetched(on: Broker) -> None:
    topic = on.some_topic()
    member = joined(on, topic)
    asked = {"name": topic.name, "topic_id": topic.id, "partition_indexes": [0]}
    cases = (
        (None, -1, E.NONE),
        ("m1", member.epoch, E.NONE),
        ("m1", member.epoch + 1, E.STALE_MEMBER_EPOCH),
        ("m1", -1, E.STALE_MEMBER_EPOCH),
        ("m9", member.epoch, E.UNKNOWN_MEMBER_ID),
    )
    for name, epoch, code in cases:
        group = {"group_id": member.group, "member_id": name, "member_epoch": epoch, "topics": [asked]}
        expect_that(f"the code for {name} at {epoch}", group_error(on.ask("OffsetFetch", groups=[group])), code)


@case(
    "TxnOffsetCommit",
    "A member's wrong epoch: ILLEGAL_GENERATION, from version 6 on STALE_MEMBER_EPOCH.",
    source="KIP-848, KIP-1319; Kafka: OffsetMetadataManager.validateTransactionalOffsetCommit",
    versions=(3, 6),
    also=[*BOTH, "AddOffsetsToTxn", "EndTxn", "InitProducerId", "DescribeTransactions", "AddPartitionsToTxn"],
)
def with_epoch_in_transaction(on: Broker) -> None:
    topic = on.some_topic()
    member, producer = joined(on, topic), Producer(on)
    if on.version <= 4:
        expect(producer.add_offsets(member.group), error_code=E.NONE)
    wrong = E.STALE_MEMBER_EPOCH if on.version >= 6 else E.ILLEGAL_GENERATION
    for epoch, code in ((member.epoch, E.NONE), (member.epoch + 1, wrong), (-1, wrong)):
        found = producer.commit_offsets(
            member.group, (topic, 0, 5), generation_id_or_member_epoch=epoch, member_id=member.name
        )
        expect_that(f"the codes at {epoch}", found, [(0, code)])


@case("OffsetDelete", "Offsets of subscribed topics stay, others are deleted.", source="KIP-496, KIP-848", also=BOTH)
def of_consumer_group(on: Broker) -> None:
    topic, other = on.some_topic(), on.topic(1)
    member = joined(on, topic)
    answer = delete(on, member.group, (topic, [0]), (other, [0]))
    codes = {one.name: one.partitions[0].error_code for one in answer.topics}
    expect_that("the codes", codes, {topic.name: E.GROUP_SUBSCRIBED_TO_TOPIC, other.name: E.NONE})
    member.leave()
    expect(delete(on, member.group, (topic, [0])), error_code=E.NONE, topics=[topic_result(topic, (0, E.NONE))])


@case(
    "LeaveGroup",
    "An administrator removes a member of the newer protocol.",
    source="KIP-848; Kafka: GroupMetadataManager.consumerGroupLeaveGroup",
    also=BOTH,
)
def of_consumer_group_left(on: Broker) -> None:
    member = joined(on, on.some_topic())
    row = {"member_id": member.name}
    answer = on.ask("LeaveGroup", group_id=member.group, member_id=member.name, members=[row])
    expect(answer, error_code=E.NONE, members=[row | {"error_code": E.NONE}])
    expect_that("the code", member.ask(member.epoch).error_code, E.UNKNOWN_MEMBER_ID)
