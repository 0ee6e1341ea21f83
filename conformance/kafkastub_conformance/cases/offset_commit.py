"""OffsetCommit: who may commit what, and what becomes of it."""

from __future__ import annotations

from typing import Any

from kafkastub.config.profile import PROFILES
from kafkastub_conformance.broker import Broker, as_generation, offsets_of
from kafkastub_conformance.cluster import Topic
from kafkastub_conformance.expecting import expect, expect_that, unordered
from kafkastub_conformance.registry import case
from kafkawire.errors import ErrorCode as E

LAYERED = "Kafka: OffsetMetadataManager.commitOffset"
CLASSIC = "Kafka: ClassicGroup.validateOffsetCommit"
OLD_ORDER = "topics and partitions come in the order of a hash table"


def longest(on: Broker) -> int:
    """The broker's offset.metadata.max.bytes."""
    return on.cluster.number("offset.metadata.max.bytes", 4096)


def in_any_order(topic: Topic, *rows: tuple[int, int]) -> dict[str, Any]:
    """As `told`, in whichever order."""
    row = topic_result(topic, *rows)
    return row | {"partitions": unordered(*row["partitions"], by="partition_index")}


def topic_result(topic: Topic, *rows: tuple[int, int]) -> dict[str, Any]:
    """A topic in the answer, with (partition, error code)."""
    partitions = [{"partition_index": index, "error_code": code} for index, code in rows]
    return {"name": topic.name, "topic_id": topic.id, "partitions": partitions}


@case("OffsetCommit", "A commit without a generation is taken, and read back.", source=LAYERED, also=["OffsetFetch"])
def simple(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    expect(on.commit(group, [(topic, 0, 42), (topic, 2, 7)]), topics=[in_any_order(topic, (0, E.NONE), (2, E.NONE))])
    expect_that("the offset of partition 0", on.committed(group, topic, 0), 42)
    expect_that("the offset of partition 2", on.committed(group, topic, 2), 7)
    expect_that("the offset of partition 1", on.committed(group, topic, 1), -1)


@case(
    "OffsetCommit",
    "Topics are answered in the order in which they are named.",
    source=LAYERED,
    since="4.0",
    before=OLD_ORDER,
)
def two_topics(on: Broker) -> None:
    one, other = on.topic(), on.some_topic()
    for first, second in ((other, one), (one, other)):
        answer = on.commit(on.group(), [(first, 0, 1), (second, 0, 2)])
        expect(answer, topics=[topic_result(first, (0, E.NONE)), topic_result(second, (0, E.NONE))])


@case(
    "OffsetCommit",
    "Partitions are answered in the order in which they are named.",
    source=LAYERED,
    since="4.0",
    before=OLD_ORDER,
)
def order_of_partitions(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    for rows in ((2, 0, 1), (0, 2, 1)):
        answer = on.commit(group, [(topic, index, 1) for index in rows])
        expect(answer, topics=[topic_result(topic, *((index, E.NONE) for index in rows))])


@case(
    "OffsetCommit", "A later commit replaces the one before, lower offsets too.", source=LAYERED, also=["OffsetFetch"]
)
def replaced(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    for offset in (5, 3):
        on.commit(group, [(topic, 0, offset)])
        expect_that("the offset", on.committed(group, topic), offset)


@case("OffsetCommit", "A member commits in its generation.", source=CLASSIC, also=["JoinGroup", "SyncGroup"])
def member(on: Broker) -> None:
    member, topic = on.member(), on.some_topic()
    expect(on.commit(member.group, [(topic, 1, 9)], member=member), topics=[topic_result(topic, (1, E.NONE))])


@case("OffsetCommit", "Another generation than the group's: ILLEGAL_GENERATION.", source=CLASSIC, also=["JoinGroup"])
def other_generation(on: Broker) -> None:
    member, topic = on.member(), on.some_topic()
    for generation in (member.generation + 1, member.generation - 1):
        answer = on.commit(member.group, [(topic, 0, 1)], member=as_generation(member, generation))
        expect(answer, topics=[topic_result(topic, (0, E.ILLEGAL_GENERATION))])


@case(
    "OffsetCommit",
    "A client that is not a member of a live group: UNKNOWN_MEMBER_ID.",
    source=CLASSIC,
    also=["JoinGroup"],
)
def unknown_member(on: Broker) -> None:
    member, topic = on.member(), on.some_topic()
    answer = on.commit(
        member.group, [(topic, 0, 1)], member_id="nobody", generation_id_or_member_epoch=member.generation
    )
    expect(answer, topics=[topic_result(topic, (0, E.UNKNOWN_MEMBER_ID))])


@case(
    "OffsetCommit",
    "A commit without member id and generation into a live group: UNKNOWN_MEMBER_ID.",
    source=CLASSIC,
    also=["JoinGroup"],
)
def simple_into_a_live_group(on: Broker) -> None:
    member, topic = on.member(), on.some_topic()
    expect(on.commit(member.group, [(topic, 0, 1)]), topics=[topic_result(topic, (0, E.UNKNOWN_MEMBER_ID))])


@case(
    "OffsetCommit",
    "A commit without member id and generation into an empty group that had members is taken.",
    source=CLASSIC,
    also=["JoinGroup", "LeaveGroup"],
)
def simple_into_an_empty_group(on: Broker) -> None:
    member, topic = on.member(), on.some_topic()
    on.leave(member)
    expect(on.commit(member.group, [(topic, 0, 1)]), topics=[topic_result(topic, (0, E.NONE))])


@case("OffsetCommit", "A member that has left: UNKNOWN_MEMBER_ID.", source=CLASSIC, also=["JoinGroup", "LeaveGroup"])
def member_that_left(on: Broker) -> None:
    member, topic = on.member(), on.some_topic()
    on.leave(member)
    answer = on.commit(member.group, [(topic, 0, 1)], member=member)
    expect(answer, topics=[topic_result(topic, (0, E.UNKNOWN_MEMBER_ID))])


@case(
    "OffsetCommit",
    "A generation in a group that does not exist: ILLEGAL_GENERATION below version 9.",
    source="Kafka: OffsetMetadataManager.validateOffsetCommit",
    versions=(2, 8),
)
def unknown_group(on: Broker) -> None:
    topic = on.some_topic()
    answer = on.commit(on.group(), [(topic, 0, 1)], member_id="nobody", generation_id_or_member_epoch=1)
    expect(answer, topics=[topic_result(topic, (0, E.ILLEGAL_GENERATION))])


@case(
    "OffsetCommit",
    "A generation in a group that does not exist: GROUP_ID_NOT_FOUND from version 9 on.",
    source="Kafka: OffsetMetadataManager.validateOffsetCommit, KIP-848",
    versions=(9, 10),
    since="4.0",
    before="ILLEGAL_GENERATION at every version",
)
def unknown_group_since(on: Broker) -> None:
    topic = on.some_topic()
    answer = on.commit(on.group(), [(topic, 0, 1)], member_id="nobody", generation_id_or_member_epoch=1)
    expect(answer, topics=[topic_result(topic, (0, E.GROUP_ID_NOT_FOUND))])


@case(
    "OffsetCommit",
    "While the group awaits its assignment: REBALANCE_IN_PROGRESS.",
    source=CLASSIC,
    also=["JoinGroup"],
)
def awaiting_the_assignment(on: Broker) -> None:
    leader, _ = on.pair(synced=False)
    topic = on.some_topic()
    answer = on.commit(leader.group, [(topic, 0, 1)], member=leader)
    expect(answer, topics=[topic_result(topic, (0, E.REBALANCE_IN_PROGRESS))])


@case("OffsetCommit", "While joins are collected the last generation commits.", source=CLASSIC, also=["JoinGroup"])
def collecting_joins(on: Broker) -> None:
    member, _ = on.rebalancing()
    topic = on.some_topic()
    expect(on.commit(member.group, [(topic, 0, 1)], member=member), topics=[topic_result(topic, (0, E.NONE))])


@case(
    "OffsetCommit",
    "A static member whose place was taken: FENCED_INSTANCE_ID.",
    source="KIP-345",
    versions=(7, 10),
    also=["JoinGroup"],
)
def fenced(on: Broker) -> None:
    old, topic = on.member(instance="one"), on.some_topic()
    on.joined(on.start_join(old.group, client="again", instance="one"), old.group)
    answer = on.commit(old.group, [(topic, 0, 1)], member=old)
    expect(answer, topics=[topic_result(topic, (0, E.FENCED_INSTANCE_ID))])


@case(
    "OffsetCommit",
    "A missing topic, a missing partition and a negative one: UNKNOWN_TOPIC_OR_PARTITION, before the others.",
    source="Kafka: KafkaApis.handleOffsetCommitRequest",
    versions=(2, 9),
    also=["OffsetFetch"],
)
def missing_partitions(on: Broker) -> None:
    group, topic, missing = on.group(), on.some_topic(), Topic(on.name(), bytes(16), 0)
    answer = on.commit(group, [(topic, 0, 1), (topic, 99, 1), (missing, 0, 1), (topic, -1, 1)])
    unknown = E.UNKNOWN_TOPIC_OR_PARTITION
    expect(
        answer,
        topics=[topic_result(topic, (99, unknown), (-1, unknown), (0, E.NONE)), topic_result(missing, (0, unknown))],
    )
    expect_that("the offset of the partition that there is", on.committed(group, topic), 1)


@case(
    "OffsetCommit",
    "A negative partition is missing like others.",
    source="Kafka: KafkaApis.handleOffsetCommitRequest",
)
def negative_partition(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    answer = on.commit(group, [(topic, 0, 1), (topic, -1, 1)])
    expect(answer, topics=[topic_result(topic, (-1, E.UNKNOWN_TOPIC_OR_PARTITION), (0, E.NONE))])


@case(
    "OffsetCommit",
    "Where every partition is missing no generation is looked at and no group is made.",
    source="Kafka: KafkaApis.handleOffsetCommitRequest",
    versions=(2, 9),
    also=["DescribeGroups"],
)
def only_missing_partitions(on: Broker) -> None:
    group, missing = on.group(), Topic(on.name(), bytes(16), 0)
    answer = on.commit(group, [(missing, 0, 1)], member_id="nobody", generation_id_or_member_epoch=7)
    expect(answer, topics=[topic_result(missing, (0, E.UNKNOWN_TOPIC_OR_PARTITION))])
    expect_that("the group's state", on.state(group), "Dead")


@case("OffsetCommit", "A topic id that nobody has: UNKNOWN_TOPIC_ID.", source="KIP-848", versions=(10, 10))
def unknown_topic_id(on: Broker) -> None:
    group, topic, missing = on.group(), on.some_topic(), Topic("", b"\7" * 16, 0)
    answer = on.commit(group, [(missing, 0, 1), (topic, 0, 1)])
    expect(answer, topics=[topic_result(missing, (0, E.UNKNOWN_TOPIC_ID)), topic_result(topic, (0, E.NONE))])


@case(
    "OffsetCommit",
    "Metadata as long as allowed is kept; one more: OFFSET_METADATA_TOO_LARGE, and the neighbour is committed.",
    source="Kafka: offset.metadata.max.bytes",
    also=["OffsetFetch"],
)
def metadata_at_its_limit(on: Broker) -> None:
    group, topic, limit = on.group(), on.some_topic(), longest(on)
    expect(on.commit(group, [(topic, 0, 1)], metadata="x" * limit), topics=[topic_result(topic, (0, E.NONE))])
    rows = [
        {"partition_index": 1, "committed_offset": 5, "committed_metadata": "x" * (limit + 1)},
        {"partition_index": 2, "committed_offset": 6, "committed_metadata": "y"},
    ]
    body: dict[str, Any] = {"topics": [{"name": topic.name, "topic_id": topic.id, "partitions": rows}]}
    answer = on.ask("OffsetCommit", group_id=group, **body)
    expect(answer, topics=[in_any_order(topic, (1, E.OFFSET_METADATA_TOO_LARGE), (2, E.NONE))])
    found = offsets_of(on.fetch(group, {topic: [0, 1, 2]}))[0].partitions
    got = {row.partition_index: (row.committed_offset, len(row.metadata)) for row in found}
    expect_that("offsets and lengths of metadata", got, {0: (1, limit), 1: (-1, 0), 2: (6, 1)})


@case(
    "OffsetCommit",
    "The limit counts UTF-16 code units, not bytes.",
    source="Kafka: OffsetMetadataManager (String.length)",
)
def metadata_beyond_ascii(on: Broker) -> None:
    group, topic, limit = on.group(), on.some_topic(), longest(on)
    expect(on.commit(group, [(topic, 0, 1)], metadata="ä" * limit), topics=[topic_result(topic, (0, E.NONE))])
    expect(on.commit(group, [(topic, 0, 1)], metadata="𝄞" * (limit // 2)), topics=[topic_result(topic, (0, E.NONE))])
    answer = on.commit(group, [(topic, 0, 1)], metadata="𝄞" * (limit // 2) + "xx")
    expect(answer, topics=[topic_result(topic, (0, E.OFFSET_METADATA_TOO_LARGE))])


@case(
    "OffsetCommit",
    "Metadata of 0, 126, 127 and 128 bytes comes back as it was (compact lengths of one and two bytes).",
    source="KIP-482",
    also=["OffsetFetch"],
)
def metadata_of_any_length(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    for length in (0, 126, 127, 128):
        on.commit(group, [(topic, 0, length)], metadata="m" * length)
        row = offsets_of(on.fetch(group, {topic: [0]}))[0].partitions[0]
        expect_that("offset and metadata", (row.committed_offset, row.metadata), (length, "m" * length))


@case("OffsetCommit", "Null metadata is kept as an empty text.", source=LAYERED, also=["OffsetFetch"])
def null_metadata(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    expect(on.commit(group, [(topic, 0, 1)], metadata=None), topics=[topic_result(topic, (0, E.NONE))])
    expect_that("the metadata", offsets_of(on.fetch(group, {topic: [0]}))[0].partitions[0].metadata, "")


@case("OffsetCommit", "The leader epoch is kept.", source="KIP-320", versions=(6, 10), also=["OffsetFetch"])
def leader_epoch(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    row = {"partition_index": 0, "committed_offset": 3, "committed_leader_epoch": 17}
    on.ask("OffsetCommit", group_id=group, topics=[{"name": topic.name, "topic_id": topic.id, "partitions": [row]}])
    answer = on.fetch(group, {topic: [0]})
    if answer.version >= 5:
        expect_that("the leader epoch", offsets_of(answer)[0].partitions[0].committed_leader_epoch, 17)


@case(
    "OffsetCommit",
    "A partition named twice is answered twice, and the last offset counts.",
    source=LAYERED,
    also=["OffsetFetch"],
    since="4.0",
    before="it is answered once",
)
def partition_twice(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    answer = on.commit(group, [(topic, 0, 1), (topic, 0, 2)])
    expect(answer, topics=[topic_result(topic, (0, E.NONE), (0, E.NONE))])
    expect_that("the offset", on.committed(group, topic), 2)


@case("OffsetCommit", "No topics at all is a commit of nothing.", source=LAYERED)
def nothing(on: Broker) -> None:
    expect(on.commit(on.group(), []), topics=[])


@case(
    "OffsetCommit",
    "A group id with blanks, commas, colons and letters beyond ASCII is a group like others.",
    source="KIP-289",
    also=["OffsetFetch", "DeleteGroups"],
)
def unusual_group_ids(on: Broker) -> None:
    topic = on.some_topic()
    for text in (" ", "a,b:c", "ü/%0A", "x" * 250):
        group = on.group(text)
        expect(on.commit(group, [(topic, 0, 4)]), topics=[topic_result(topic, (0, E.NONE))])
        expect_that(f"the offset of the group {group!r}", on.committed(group, topic), 4)


@case("OffsetCommit", 'The group "" takes commits.', source="Kafka: OffsetMetadataManager", profile="kafka")
def empty_group_id(on: Broker) -> None:
    group, topic = on.empty_group_id(), on.some_topic()
    expect(on.commit(group, [(topic, 0, 4)]), topics=[topic_result(topic, (0, E.NONE))])


@case(
    "OffsetCommit",
    'The group "" takes commits in versions 2 and 3 only: ILLEGAL_OFFSET_COMMIT from version 4 on.',
    source="KIP-289, Proposed Changes",
    profile="kips",
    name="empty_group_id_of_the_draft",
)
def empty_group_id_kips(on: Broker) -> None:
    group, topic = on.empty_group_id(), on.some_topic()
    kips = PROFILES["kips"]
    first = kips.empty_group_commit_refused_from
    refused = first is not None and on.version >= first
    code = kips.illegal_offset_commit_code if refused else E.NONE
    expect(on.commit(group, [(topic, 0, 4)]), topics=[topic_result(topic, (0, code))])


@case(
    "OffsetCommit",
    "A commit with a retention of its own is taken.",
    source="KIP-211, Compatibility",
    versions=(2, 4),
    also=["OffsetFetch"],
)
def own_retention(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    expect(on.commit(group, [(topic, 0, 4)], retention_time_ms=3_600_000), topics=[topic_result(topic, (0, E.NONE))])
    expect_that("the offset", on.committed(group, topic), 4)


@case("OffsetCommit", "Commits that are pipelined are answered in their order.", source="Kafka: SocketServer")
def pipelined(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    body: dict[str, Any] = {"name": topic.name, "topic_id": topic.id}
    rows = [[{"partition_index": 0, "committed_offset": offset}] for offset in range(40)]
    sent = [on.send("OffsetCommit", group_id=group, topics=[body | {"partitions": row}]) for row in rows]
    for pending in sent:
        expect(pending.answer(), topics=[topic_result(topic, (0, E.NONE))])
    if "OffsetFetch" in on.cluster.advertised:
        expect_that("the offset", on.committed(group, topic), 39)


@case("OffsetCommit", "Sixty partitions in a request are all kept.", source=LAYERED, also=["OffsetFetch"])
def many_partitions(on: Broker) -> None:
    group, topic = on.group(), on.topic(60)
    answer = on.commit(group, [(topic, index, index * 3) for index in range(60)])
    expect(answer, topics=[in_any_order(topic, *((index, E.NONE) for index in range(60)))])
    found = offsets_of(on.fetch(group, {topic: range(60)}))[0].partitions
    got = {row.partition_index: row.committed_offset for row in found}
    expect_that("the offsets", got, {index: index * 3 for index in range(60)})
