"""What members of a group can do to what the group has committed. A broker does not compare fetches with commits."""

from __future__ import annotations

from kafkastub_conformance.anomalies import allowed, forbidden
from kafkastub_conformance.broker import Broker, Member, as_generation, subscription
from kafkastub_conformance.cases.fetch import fetch, list_offsets, only, values
from kafkastub_conformance.cases.produce import batch
from kafkastub_conformance.cluster import Topic
from kafkastub_conformance.epochs import Consumer, settle
from kafkastub_conformance.expecting import expect_that
from kafkastub_conformance.writing import write
from kafkawire.errors import ErrorCode as E

COMMITS = "Kafka: OffsetMetadataManager.commitOffset"
CLASSIC = "Kafka: ClassicGroup.validateOffsetCommit"
EPOCHS = "KIP-848; Kafka: ConsumerGroup.validateOffsetCommit"
ANY = "any"
TAKEN = "classic protocol"
JOINED = ["JoinGroup", "SyncGroup", "OffsetFetch"]
NEXT = ["ConsumerGroupHeartbeat", "ConsumerGroupDescribe", "OffsetFetch"]


def filled(on: Broker, count: int = 10) -> Topic:
    """A topic with so many records."""
    topic = on.topic()
    write(on, topic, batch(*(b"%d" % number for number in range(count))))
    return topic


def commit(on: Broker, member: Member, topic: Topic, offset: int) -> int:
    """The error code of a member's commit."""
    answer = on.commit(member.group, [(topic, 0, offset)], member=member, client=member.client)
    return int(answer.topics[0].partitions[0].error_code)


def two_owners(on: Broker) -> tuple[Member, Member]:
    """The former member of a group, and the one that the group has now; both know what they were assigned."""
    former = on.member(None, client="former")
    on.leave(former)
    return former, on.member(former.group, client="newer")


@allowed(
    "skipped",
    ANY,
    "OffsetCommit",
    "An offset past everything that the member was given is committed, past the end of the log, too.",
    source=COMMITS,
    also=JOINED,
)
def skipped(on: Broker) -> None:
    topic, member = filled(on), on.member()
    for offset in (10, 1_000_000):
        expect_that(f"error_code of {offset}", commit(on, member, topic, offset), E.NONE)
        expect_that("the offset", on.committed(member.group, topic), offset)


@allowed("commit_went_back", ANY, "OffsetCommit", "A lower offset is committed.", source=COMMITS, also=JOINED)
def went_back(on: Broker) -> None:
    topic, member = filled(on), on.member()
    for offset in (10, 4):
        expect_that(f"error_code of {offset}", commit(on, member, topic, offset), E.NONE)
    expect_that("the offset", on.committed(member.group, topic), 4)


@allowed(
    "commit_without_owning",
    f"{TAKEN}, the present generation",
    "OffsetCommit",
    "A member commits a partition that another member was assigned.",
    source=CLASSIC,
    also=JOINED,
)
def not_its_own(on: Broker) -> None:
    topic = filled(on)
    leader, follower = on.pair()
    for member, offset in ((leader, 3), (follower, 5)):
        expect_that(f"error_code of {offset}", commit(on, member, topic, offset), E.NONE)
    expect_that("the offset", on.committed(leader.group, topic), 5)


@forbidden(
    "commit_without_owning",
    f"{TAKEN}, an older generation",
    "OffsetCommit",
    "A member that has missed a rebalance commits nothing: ILLEGAL_GENERATION, and UNKNOWN_MEMBER_ID if it is gone.",
    source=CLASSIC,
    also=[*JOINED, "LeaveGroup"],
)
def of_an_older_generation(on: Broker) -> None:
    topic = filled(on)
    former, newer = two_owners(on)
    expect_that("error_code of a former member", commit(on, former, topic, 5), E.UNKNOWN_MEMBER_ID)
    older = as_generation(newer, newer.generation - 1)
    expect_that("error_code of a former generation", commit(on, older, topic, 5), E.ILLEGAL_GENERATION)
    expect_that("the offset", on.committed(newer.group, topic), -1)


@allowed(
    "commit_without_owning",
    "consumer protocol (KIP-848), the present epoch",
    "OffsetCommit",
    "A member commits a partition that another member was assigned.",
    source=EPOCHS,
    versions=(9, 10),
    also=NEXT,
    since="4.0",
    before="UNSUPPORTED_VERSION, unless the early access is let in",
)
def not_its_own_with_epochs(on: Broker) -> None:
    topic = on.topic(2)
    members = [Consumer(on, on.group(), topic)]
    members[0].join()
    members.append(Consumer(on, members[0].group, topic, name="m2"))
    members[1].join()
    settle(*members)
    one, other = members
    answer = on.commit(
        one.group, [(topic, other.has(topic)[0], 5)], generation_id_or_member_epoch=one.epoch, member_id=one.name
    )
    expect_that("error_code", answer.topics[0].partitions[0].error_code, E.NONE)
    expect_that("the offset", on.committed(one.group, topic, other.has(topic)[0]), 5)


@allowed(
    "left_behind",
    ANY,
    "Fetch",
    "A new owner reads from wherever it asks, past what is committed, too.",
    source="Kafka: ReplicaManager.fetchMessages",
    also=["OffsetCommit", *JOINED],
)
def left_behind(on: Broker) -> None:
    topic, member = filled(on), on.member()
    expect_that("error_code of the commit", commit(on, member, topic, 2), E.NONE)
    row = only(fetch(on, topic, {"fetch_offset": 6}))
    expect_that("what it gets", values(row.records)[-4:], [b"6", b"7", b"8", b"9"])


@allowed(
    "reset_skipped",
    "auto.offset.reset=latest",
    "ListOffsets",
    "A group that has committed nothing gets -1, and the end of the log lies past what was written since it began.",
    source="KIP-79; Kafka: ReplicaManager.fetchOffset",
    also=JOINED,
)
def reset_skipped(on: Broker) -> None:
    topic = on.topic()
    member = on.member(None, topic.name)
    write(on, topic, batch(b"first"))
    expect_that("the offset", on.committed(member.group, topic), -1)
    row = list_offsets(on, topic, {"partition_index": 0, "timestamp": -1}).topics[0].partitions[0]
    expect_that("the end", row.offset, 1)


@allowed(
    "redelivered",
    ANY,
    "OffsetFetch",
    "What was read and not committed is given again: the next owner gets the offset that was committed.",
    source="Kafka: OffsetMetadataManager.fetchOffsets",
    also=["JoinGroup", "SyncGroup", "LeaveGroup", "OffsetCommit"],
)
def redelivered(on: Broker) -> None:
    topic, member = filled(on), on.member()
    commit(on, member, topic, 4)
    expect_that("what it reads", len(values(only(fetch(on, topic, {"fetch_offset": 4})).records)), 10)
    on.leave(member)
    newer = on.member(member.group)
    expect_that("the offset", on.committed(newer.group, topic), 4)


@forbidden(
    "failed_commit_not_repeated",
    ANY,
    "OffsetCommit",
    "A commit that was refused is not done.",
    source=CLASSIC,
    also=[*JOINED, "LeaveGroup"],
)
def refused_commit(on: Broker) -> None:
    topic = filled(on)
    former, newer = two_owners(on)
    commit(on, newer, topic, 2)
    expect_that("error_code", commit(on, former, topic, 8), E.UNKNOWN_MEMBER_ID)
    expect_that("the offset", on.committed(newer.group, topic), 2)


@allowed(
    "never_commits",
    "enable.auto.commit=false",
    "LeaveGroup",
    "A member leaves without a commit: the group has no offset.",
    source="Kafka: GroupMetadataManager.classicGroupLeave",
    also=[*JOINED, "OffsetFetch"],
)
def never_commits(on: Broker) -> None:
    topic = filled(on)
    member = on.member(None, topic.name, protocols={"range": subscription(topic.name)})
    on.leave(member)
    expect_that("the offset", on.committed(member.group, topic), -1)
