"""OffsetFetch: what was committed, asked for in every way."""

from __future__ import annotations

from typing import Any

from kafkastub_conformance.broker import Broker, group_error, offsets_of
from kafkastub_conformance.cluster import Topic
from kafkastub_conformance.expecting import Answer, expect, expect_that
from kafkastub_conformance.registry import case
from kafkawire.errors import ErrorCode as E

SOURCE = "Kafka: OffsetMetadataManager.fetchOffsets"


def topic_result(topic: Topic, *rows: dict[str, Any]) -> dict[str, Any]:
    """A topic in the answer."""
    return {"name": topic.name, "topic_id": topic.id, "partitions": list(rows)}


def row(index: int, offset: int, metadata: str | None = "", code: int = 0) -> dict[str, Any]:
    """A partition in the answer."""
    return {"partition_index": index, "committed_offset": offset, "metadata": metadata, "error_code": code}


def expect_topics(answer: Answer, group: str, *topics: dict[str, Any]) -> None:
    """The topics of the only group, which has no error."""
    if answer.version >= 8:
        expect(answer, groups=[{"group_id": group, "error_code": E.NONE, "topics": list(topics)}])
    else:
        named = [{key: value for key, value in topic.items() if key != "topic_id"} for topic in topics]
        expect(answer, error_code=E.NONE, topics=named)


@case("OffsetFetch", "A committed offset comes back with its metadata.", source=SOURCE, also=["OffsetCommit"])
def committed(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    on.commit(group, [(topic, 0, 42)], metadata="mine")
    expect_topics(on.fetch(group, {topic: [0]}), group, topic_result(topic, row(0, 42, "mine")))


@case("OffsetFetch", "Partitions are answered in the order in which they are asked for.", source=SOURCE)
def order(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    on.commit(group, [(topic, 0, 1), (topic, 1, 2)])
    answer = on.fetch(group, {topic: [2, 1, 0]})
    expect_topics(answer, group, topic_result(topic, row(2, -1), row(1, 2), row(0, 1)))


@case(
    "OffsetFetch",
    "A partition without a committed offset is offset -1 without an error, also in a group that does not exist.",
    source=SOURCE,
)
def unknown_group(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    expect_topics(on.fetch(group, {topic: [0, 1]}), group, topic_result(topic, row(0, -1), row(1, -1)))


@case(
    "OffsetFetch",
    "Without a leader epoch committed it is -1.",
    source="KIP-320",
    versions=(5, 10),
    also=["OffsetCommit"],
)
def no_leader_epoch(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    on.commit(group, [(topic, 0, 1)])
    expect_topics(
        on.fetch(group, {topic: [0, 1]}),
        group,
        topic_result(topic, row(0, 1) | {"committed_leader_epoch": -1}, row(1, -1) | {"committed_leader_epoch": -1}),
    )


@case(
    "OffsetFetch",
    "A null list of topics is everything that the group has committed.",
    source="KIP-88",
    versions=(2, 10),
    also=["OffsetCommit"],
)
def everything(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    on.commit(group, [(topic, 2, 5), (topic, 0, 3)])
    answer = on.fetch(group, None)
    expect_that("the group's error", group_error(answer), E.NONE)
    topics = offsets_of(answer)
    expect_that("the number of topics", len(topics), 1)
    name = topics[0].name if answer.version < 10 else topics[0].topic_id
    expect_that("the topic", name, topic.name if answer.version < 10 else topic.id)
    got = {one.partition_index: one.committed_offset for one in topics[0].partitions}
    expect_that("the offsets", got, {0: 3, 2: 5})


@case("OffsetFetch", "Everything of a group that does not exist is nothing.", source="KIP-88", versions=(2, 10))
def everything_of_nobody(on: Broker) -> None:
    group = on.group()
    expect_topics(on.fetch(group, None), group)


@case("OffsetFetch", "No topics is nothing, whatever was committed.", source=SOURCE, also=["OffsetCommit"])
def no_topics(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    on.commit(group, [(topic, 0, 5)])
    expect_topics(on.fetch(group, {}), group)


@case("OffsetFetch", "Whether a topic or a partition exists is not looked at.", source=SOURCE, versions=(1, 9))
def missing_topic(on: Broker) -> None:
    group, missing, topic = on.group(), Topic(on.name(), bytes(16), 0), on.some_topic()
    answer = on.fetch(group, {missing: [0], topic: [99]})
    expect_topics(answer, group, topic_result(missing, row(0, -1)), topic_result(topic, row(99, -1)))


@case(
    "OffsetFetch",
    "A partition asked for twice is answered twice.",
    source=SOURCE,
    also=["OffsetCommit"],
    since="4.0",
    before="it is answered once",
)
def partition_twice(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    on.commit(group, [(topic, 0, 5)])
    expect_topics(on.fetch(group, {topic: [0, 0]}), group, topic_result(topic, row(0, 5), row(0, 5)))


@case(
    "OffsetFetch",
    "Several groups are answered in their order, each by itself, one named twice twice.",
    source="KIP-709",
    versions=(8, 10),
    also=["OffsetCommit"],
)
def many_groups(on: Broker) -> None:
    one, other, nobody, topic = on.group(), on.group(), on.group(), on.some_topic()
    on.commit(one, [(topic, 0, 1)])
    on.commit(other, [(topic, 1, 2)])
    named = [{"name": topic.name, "topic_id": topic.id, "partition_indexes": [0]}]
    asked = [(one, named), (nobody, named), (other, None), (one, named)]
    answer = on.ask("OffsetFetch", groups=[{"group_id": group, "topics": topics} for group, topics in asked])
    found = {group.group_id: group for group in answer.groups}
    expect_that("the groups", sorted(group.group_id for group in answer.groups), sorted([one, nobody, other, one]))
    got = [found[group].topics[0].partitions[0].committed_offset for group in (one, nobody, other)]
    expect_that("the offsets", got, [1, -1, 2])


@case(
    "OffsetFetch",
    "No groups is an empty answer.",
    source="KIP-709",
    versions=(8, 10),
    since="4.0",
    before="there is no answer at all, and the connection is stuck",
)
def no_groups(on: Broker) -> None:
    expect(on.ask("OffsetFetch", groups=[]), groups=[])


@case("OffsetFetch", "A topic id that nobody has: UNKNOWN_TOPIC_ID.", source="KIP-848", versions=(10, 10))
def unknown_topic_id(on: Broker) -> None:
    group, topic, missing = on.group(), on.some_topic(), Topic("", b"\7" * 16, 0)
    answer = on.fetch(group, {missing: [0, 1], topic: [0]})
    unknown = [row(index, -1, code=E.UNKNOWN_TOPIC_ID) for index in (0, 1)]
    expect_topics(answer, group, topic_result(topic, row(0, -1)), topic_result(missing, *unknown))


@case(
    "OffsetFetch",
    "Stable offsets are the same where there is no transaction.",
    source="KIP-447",
    versions=(7, 10),
    also=["OffsetCommit"],
)
def stable(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    on.commit(group, [(topic, 0, 8)])
    expect_topics(on.fetch(group, {topic: [0]}, require_stable=True), group, topic_result(topic, row(0, 8)))


@case(
    "OffsetFetch",
    "A member of a classic group may name itself, or name nonsense.",
    source="KIP-848; Kafka: ClassicGroup.validateOffsetFetch",
    versions=(9, 10),
    also=["JoinGroup", "OffsetCommit"],
)
def member_named(on: Broker) -> None:
    member, topic = on.member(), on.some_topic()
    on.commit(member.group, [(topic, 0, 8)], member=member)
    named = [{"name": topic.name, "topic_id": topic.id, "partition_indexes": [0]}]
    for identity, epoch in ((member.id, member.generation), (None, -1)):
        asked = {"group_id": member.group, "member_id": identity, "member_epoch": epoch, "topics": named}
        answer = on.ask("OffsetFetch", groups=[asked])
        expect(
            answer,
            groups=[{"group_id": member.group, "error_code": E.NONE, "topics": [topic_result(topic, row(0, 8))]}],
        )


@case("OffsetFetch", 'The group "" is a group like others.', source=SOURCE)
def empty_group_id(on: Broker) -> None:
    group, topic = on.empty_group_id(), on.some_topic()
    expect_topics(on.fetch(group, {topic: [0]}), group, topic_result(topic, row(0, -1)))


@case(
    "OffsetFetch", "Anybody may fetch the offsets of a live group.", source=SOURCE, also=["JoinGroup", "OffsetCommit"]
)
def live_group(on: Broker) -> None:
    member, topic = on.member(), on.some_topic()
    on.commit(member.group, [(topic, 1, 3)], member=member)
    expect_topics(on.fetch(member.group, {topic: [1]}), member.group, topic_result(topic, row(1, 3)))


@case(
    "OffsetFetch",
    "The largest offset there is, and 0, come back.",
    source=SOURCE,
    also=["OffsetCommit"],
)
def extreme_offsets(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    on.commit(group, [(topic, 0, 0), (topic, 1, 2**63 - 1)])
    expect_topics(on.fetch(group, {topic: [0, 1]}), group, topic_result(topic, row(0, 0), row(1, 2**63 - 1)))


@case(
    "OffsetFetch",
    "Deleting a topic takes the groups' offsets of it along.",
    source="Kafka: GroupCoordinatorService.onPartitionsDeleted",
    versions=(1, 9),
    also=["OffsetCommit", "DeleteTopics"],
)
def deleted_topic(on: Broker) -> None:
    group, topic = on.group(), on.topic()
    on.commit(group, [(topic, 0, 5)])
    on.ask("DeleteTopics", topics=[{"name": topic.name}], topic_names=[topic.name], timeout_ms=10000)
    on.in_time(lambda: on.committed(group, topic) == -1)
    expect_topics(on.fetch(group, {topic: [0]}), group, topic_result(topic, row(0, -1)))
