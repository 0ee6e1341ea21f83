"""OffsetDelete (KIP-496) and the subscriptions that forbid it."""

from __future__ import annotations

import struct
from typing import Any

from kafkastub_conformance.broker import Broker, Member, subscription
from kafkastub_conformance.cluster import Topic
from kafkastub_conformance.expecting import Answer, expect, expect_that
from kafkastub_conformance.registry import case
from kafkawire.errors import ErrorCode as E

SOURCE = "KIP-496"
SUBSCRIPTIONS = "KIP-496; Kafka: ClassicGroup.computeSubscribedTopics"


def topic_result(topic: Topic, *rows: tuple[int, int]) -> dict[str, Any]:
    return {
        "name": topic.name,
        "partitions": [{"partition_index": index, "error_code": code} for index, code in rows],
    }


def delete(on: Broker, group: str, *topics: tuple[Topic, list[int]]) -> Answer:
    named = [
        {"name": topic.name, "partitions": [{"partition_index": index} for index in rows]} for topic, rows in topics
    ]
    return on.ask("OffsetDelete", group_id=group, topics=named)


def consumer(on: Broker, topic: Topic, metadata: bytes) -> Member:
    """The only member of a group, which has committed an offset of `topic`, with this metadata."""
    member = on.member(None, protocols={"range": metadata})
    on.commit(member.group, [(topic, 0, 5)], member=member)
    return member


def refused(on: Broker, metadata: bytes, topic: Topic) -> None:
    """An offset of a topic that the metadata subscribes to stays."""
    member = consumer(on, topic, metadata)
    answer = delete(on, member.group, (topic, [0]))
    expect(answer, error_code=E.NONE, topics=[topic_result(topic, (0, E.GROUP_SUBSCRIBED_TO_TOPIC))])
    expect_that("the offset", on.committed(member.group, topic), 5)


def allowed(on: Broker, metadata: bytes, topic: Topic) -> None:
    """An offset of a topic that the metadata does not subscribe to goes."""
    member = consumer(on, topic, metadata)
    expect(delete(on, member.group, (topic, [0])), error_code=E.NONE, topics=[topic_result(topic, (0, E.NONE))])
    expect_that("the offset", on.committed(member.group, topic), -1)


@case("OffsetDelete", "An offset of a group without members is gone; its neighbour stays.", source=SOURCE)
def simple(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    on.commit(group, [(topic, 0, 1), (topic, 1, 2)])
    expect(delete(on, group, (topic, [0])), error_code=E.NONE, topics=[topic_result(topic, (0, E.NONE))])
    expect_that("the offsets", [on.committed(group, topic, index) for index in (0, 1)], [-1, 2])


@case("OffsetDelete", "An offset that was never committed is no error.", source=SOURCE)
def never_committed(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    on.commit(group, [(topic, 0, 1)])
    expect(delete(on, group, (topic, [1])), error_code=E.NONE, topics=[topic_result(topic, (1, E.NONE))])


@case("OffsetDelete", "A group that does not exist: GROUP_ID_NOT_FOUND at the top.", source=SOURCE)
def unknown_group(on: Broker) -> None:
    expect(delete(on, on.group(), (on.some_topic(), [0])), error_code=E.GROUP_ID_NOT_FOUND, topics=[])


@case("OffsetDelete", "The empty group id: INVALID_GROUP_ID.", source="Kafka: GroupCoordinatorService.deleteOffsets")
def empty_group_id(on: Broker) -> None:
    expect(delete(on, "", (on.some_topic(), [0])), error_code=E.INVALID_GROUP_ID, topics=[])


@case(
    "OffsetDelete",
    "A missing topic or partition: UNKNOWN_TOPIC_OR_PARTITION; the others are done.",
    source="Kafka: KafkaApis.handleOffsetDeleteRequest",
)
def missing(on: Broker) -> None:
    group, topic, missing = on.group(), on.some_topic(), Topic(on.name(), bytes(16), 0)
    on.commit(group, [(topic, 0, 1)])
    answer = delete(on, group, (topic, [99, 0]), (missing, [0]))
    unknown = E.UNKNOWN_TOPIC_OR_PARTITION
    expect(
        answer,
        error_code=E.NONE,
        topics=[topic_result(topic, (99, unknown), (0, E.NONE)), topic_result(missing, (0, unknown))],
    )
    expect_that("the offset", on.committed(group, topic), -1)


@case("OffsetDelete", "An error at the top wins over missing topics.", source=SOURCE)
def missing_in_an_unknown_group(on: Broker) -> None:
    missing = Topic(on.name(), bytes(16), 0)
    expect(delete(on, on.group(), (missing, [0]), (on.some_topic(), [0])), error_code=E.GROUP_ID_NOT_FOUND, topics=[])


@case("OffsetDelete", "A live group of another protocol type: NON_EMPTY_GROUP at the top.", source=SOURCE)
def other_protocol_type(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    answer = on.start_join(group, kind="connect", protocols={"default": b""}).answer()
    expect_that("error_code of JoinGroup", answer.error_code, E.NONE)
    expect(delete(on, group, (topic, [0])), error_code=E.NON_EMPTY_GROUP, topics=[])


@case("OffsetDelete", "A subscribed topic: GROUP_SUBSCRIBED_TO_TOPIC, and the offset stays.", source=SUBSCRIPTIONS)
def subscribed(on: Broker) -> None:
    topic = on.some_topic()
    refused(on, subscription(topic.name), topic)


@case("OffsetDelete", "A topic that no member subscribes to can go while the group lives.", source=SUBSCRIPTIONS)
def not_subscribed(on: Broker) -> None:
    allowed(on, subscription("another"), on.some_topic())


@case("OffsetDelete", "A member that subscribes to nothing forbids nothing.", source=SUBSCRIPTIONS)
def no_subscription(on: Broker) -> None:
    allowed(on, subscription(), on.some_topic())


@case("OffsetDelete", "Null user data is user data as well.", source=SUBSCRIPTIONS)
def null_user_data(on: Broker) -> None:
    topic = on.some_topic()
    refused(on, subscription(topic.name, user_data=None), topic)
    allowed(on, subscription("another", user_data=None), topic)


@case("OffsetDelete", "Bytes behind the subscription are ignored.", source=SUBSCRIPTIONS)
def trailing_bytes(on: Broker) -> None:
    topic = on.some_topic()
    refused(on, subscription(topic.name, behind=b"\0\0\0\7more"), topic)
    allowed(on, subscription("another", behind=b"\xff"), topic)


@case("OffsetDelete", "Versions 1, 2 and 3 of the subscription are read as version 0 is.", source=SUBSCRIPTIONS)
def later_versions(on: Broker) -> None:
    topic = on.some_topic()
    owned = struct.pack(">i", 0)
    for version, behind in ((1, owned), (2, owned + struct.pack(">i", 7)), (3, owned + struct.pack(">ih", 7, -1))):
        refused(on, subscription(topic.name, version=version, behind=behind), topic)
        allowed(on, subscription("another", version=version, behind=behind), topic)


@case("OffsetDelete", "Missing or excess bytes of subscription versions 1 to 3 are ignored.", source=SUBSCRIPTIONS)
def later_versions_damaged(on: Broker) -> None:
    topic = on.some_topic()
    for version, behind in ((1, b""), (1, b"\xff"), (2, b"\x7f\xff\xff\xff"), (3, b"\0\0\0\1")):
        refused(on, subscription(topic.name, version=version, behind=behind), topic)


@case("OffsetDelete", "Versions of the subscription that do not exist are read as version 0.", source=SUBSCRIPTIONS)
def versions_of_the_future(on: Broker) -> None:
    topic = on.some_topic()
    for version in (4, 100, 32767):
        refused(on, subscription(topic.name, version=version), topic)
        allowed(on, subscription("another", version=version), topic)


@case(
    "OffsetDelete", "Metadata that is not a subscription counts as a subscription to every topic.", source=SUBSCRIPTIONS
)
def unparseable(on: Broker) -> None:
    topic = on.some_topic()
    for metadata in (b"", b"\0", b"\0\0\0\0", subscription("another")[:-4], b"\0\0\0\0\0\0"):
        refused(on, metadata, topic)


@case("OffsetDelete", "One subscribed topic does not protect another.", source=SUBSCRIPTIONS)
def mixed(on: Broker) -> None:
    mine, other = on.some_topic(), on.topic()
    member = on.member(None, mine.name)
    on.commit(member.group, [(mine, 0, 5), (other, 0, 6)], member=member)
    answer = delete(on, member.group, (mine, [0]), (other, [0]))
    rows = [topic_result(mine, (0, E.GROUP_SUBSCRIBED_TO_TOPIC)), topic_result(other, (0, E.NONE))]
    expect(answer, error_code=E.NONE, topics=rows)


@case("OffsetDelete", "Once the members have left, every offset can go.", source=SUBSCRIPTIONS, also=["LeaveGroup"])
def members_gone(on: Broker) -> None:
    topic = on.some_topic()
    member = consumer(on, topic, subscription(topic.name))
    on.leave(member)
    expect(delete(on, member.group, (topic, [0])), error_code=E.NONE, topics=[topic_result(topic, (0, E.NONE))])
    expect_that("the offset", on.committed(member.group, topic), -1)


@case("OffsetDelete", "No topics is an answer without topics.", source=SOURCE)
def nothing(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    on.commit(group, [(topic, 0, 1)])
    expect(delete(on, group), error_code=E.NONE, topics=[])


@case("OffsetDelete", "A subscription counts once the rebalance that brings it is complete.", source=SUBSCRIPTIONS)
def of_the_last_generation(on: Broker) -> None:
    topic = on.some_topic()
    member = consumer(on, topic, subscription(topic.name))
    on.start_join(member.group, client="second", protocols={"range": subscription(topic.name)})
    on.await_state(member.group, "PreparingRebalance")
    answer = delete(on, member.group, (topic, [0]))
    expect(answer, error_code=E.NONE, topics=[topic_result(topic, (0, E.GROUP_SUBSCRIBED_TO_TOPIC))])
