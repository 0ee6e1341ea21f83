"""Topologies of StreamsGroupHeartbeat (KIP-1071): what is refused, what is missing, and what the broker makes."""

from __future__ import annotations

from functools import partial
from typing import Any

from kafkastub_conformance.broker import Broker
from kafkastub_conformance.cluster import Topic
from kafkastub_conformance.expecting import expect, expect_that
from kafkastub_conformance.registry import case as any_case
from kafkastub_conformance.streaming import (
    MISSING_INTERNAL,
    MISSING_SOURCES,
    WRONG_PARTITIONS,
    Streamer,
    described,
    internal,
    make,
    statuses,
    subtopology,
    topology,
)
from kafkawire.errors import ErrorCode as E

case = partial(any_case, since="4.2", before="UNSUPPORTED_VERSION, there are no streams groups")

API, TOLD = "StreamsGroupHeartbeat", "StreamsGroupDescribe"
CHECKED = "KIP-1071; Kafka: KafkaApis.handleStreamsGroupHeartbeat"
CONFIGURED = "KIP-1071; Kafka: InternalTopicManager.configureTopics"
COPARTITIONED = "KIP-1071; Kafka: CopartitionedTopicsEnforcer"
COUNTED = "KIP-1071; Kafka: RepartitionTopics"
MADE = "KIP-1071; Kafka: AutoTopicCreationManager.createStreamsInternalTopics"
SEEN = [TOLD, "IncrementalAlterConfigs", "DescribeConfigs"]


def refused(on: Broker, code: E, *subtopologies: dict[str, Any], text: str = "") -> None:
    """Each of these alone is refused, and leaves no group behind."""
    for one in subtopologies:
        member = Streamer(on, topology(one))
        answer = member.first()
        expect(answer, error_code=code)
        expect_that("whether the text tells why", text in (answer.error_message or ""), True)
        expect_that("whether there is a group", described(on, member.group).error_code, E.GROUP_ID_NOT_FOUND)


def partitions_of(on: Broker, name: str) -> int:
    """How many partitions a topic has; 0 where it is not there."""
    found = on.ask("Metadata", topics=[{"name": name}], allow_auto_topic_creation=False).topics[0]
    return 0 if found.error_code else len(found.partitions)


def await_topic(on: Broker, name: str, partitions: int) -> None:
    """A topic is there, with so many partitions. Raises Mismatch."""
    on.in_time(lambda: partitions_of(on, name) > 0, every=0.03)
    expect_that("how many partitions it has", partitions_of(on, name), partitions)


@case(API, "Regular expressions for source topics: INVALID_REQUEST.", source=CHECKED, also=SEEN)
def expressions(on: Broker) -> None:
    refused(on, E.INVALID_REQUEST, subtopology("0", on.some_topic(), source_topic_regex=["a.*"]))


@case(API, "Topics of the broker itself: STREAMS_INVALID_TOPOLOGY.", source=CHECKED, also=SEEN)
def topics_of_the_broker(on: Broker) -> None:
    name, topic = "__consumer_offsets", on.some_topic()
    kinds: tuple[dict[str, Any], ...] = (
        subtopology("0", topic, repartition_sink_topics=[name]),
        subtopology("0", topic, repartition_source_topics=[internal(name)]),
        subtopology("0", topic, state_changelog_topics=[internal(name)]),
        {"subtopology_id": "0", "source_topics": [topic.name, name]},
    )
    refused(on, E.STREAMS_INVALID_TOPOLOGY, *kinds, text=name)


@case(API, "Names that no topic can have: STREAMS_INVALID_TOPOLOGY.", source=CHECKED, also=SEEN)
def bad_names(on: Broker) -> None:
    topic = on.some_topic()
    refused(
        on,
        E.STREAMS_INVALID_TOPOLOGY,
        {"subtopology_id": "0", "source_topics": [topic.name, "a b"]},
        subtopology("0", topic, state_changelog_topics=[internal("a b")]),
        text="a b",
    )


@case(API, "A subtopology that reads nothing: STREAMS_INVALID_TOPOLOGY.", source=CONFIGURED, also=SEEN)
def no_sources(on: Broker) -> None:
    refused(on, E.STREAMS_INVALID_TOPOLOGY, subtopology("0"), text="No source topics found for subtopology 0")


@case(
    API, "A changelog topic with a fixed number of partitions: STREAMS_INVALID_TOPOLOGY.", source=CONFIGURED, also=SEEN
)
def fixed_changelog(on: Broker) -> None:
    one = subtopology("0", on.some_topic(), state_changelog_topics=[internal(on.name(), 3)])
    refused(on, E.STREAMS_INVALID_TOPOLOGY, one, text="must have an undefined partition count")


@case(API, "A repartition topic that nothing writes, or itself: STREAMS_INVALID_TOPOLOGY.", source=COUNTED, also=SEEN)
def unwritten(on: Broker) -> None:
    name = on.name()
    never = subtopology("0", on.some_topic(), repartition_source_topics=[internal(name)])
    itself = subtopology("0", repartition_source_topics=[internal(name)], repartition_sink_topics=[name])
    refused(on, E.STREAMS_INVALID_TOPOLOGY, never, itself, text="Failed to compute number of partitions")


@case(API, "Indexes of topics that are not there: UNKNOWN_SERVER_ERROR.", source=CONFIGURED, also=SEEN)
def no_such_index(on: Broker) -> None:
    groups = ([{"source_topics": [0, 1]}], [{"source_topics": [-1]}], [{"repartition_source_topics": [0]}])
    topic = on.some_topic()
    refused(on, E.UNKNOWN_SERVER_ERROR, *(subtopology("0", topic, copartition_groups=one) for one in groups))


@case(API, "Missing source topics are reported, and the group waits for them.", source=CONFIGURED, also=SEEN)
def missing_sources(on: Broker) -> None:
    name = on.name()
    member = Streamer(on, topology(subtopology("0", on.some_topic(), Topic(name, b"", 0))))
    answer = member.join()
    expect_that("the statuses", statuses(answer), [(MISSING_SOURCES, f"Source topics {name} are missing.")])
    expect_that("its state", described(on, member.group).group_state, "NotReady")
    make(on, name, 4)
    member.assigned(0, 1, 2, 3)
    expect_that("the statuses", statuses(member.follow()), [])


@case(API, "A source topic that grows brings tasks; one that goes takes them.", source=CONFIGURED, also=SEEN)
def grown(on: Broker) -> None:
    topic = on.topic(1)
    member = Streamer(on, topology(subtopology("0", topic)))
    member.join()
    member.assigned(0)
    row = {"name": topic.name, "count": 2, "assignments": None}
    on.ask("CreatePartitions", topics=[row], timeout_ms=10_000)
    member.assigned(0, 1)
    on.ask("DeleteTopics", topic_names=[topic.name], topics=[{"name": topic.name}], timeout_ms=10_000)
    member.assigned()
    expect_that("the statuses", [code for code, _ in statuses(member.follow())], [MISSING_SOURCES])


@case(API, "Topics of a copartition group with different numbers of partitions are reported.", source=COPARTITIONED)
def not_copartitioned(on: Broker) -> None:
    one, three = on.topic(1), on.some_topic()
    member = Streamer(on, topology(subtopology("0", three, one, copartition_groups=[{"source_topics": [0, 1]}])))
    counts = ", ".join(f"{name}={count}" for name, count in sorted({three.name: 3, one.name: 1}.items()))
    expected = f"Following topics do not have the same number of partitions: [{{{counts}}}]"
    expect_that("the statuses", statuses(member.join()), [(WRONG_PARTITIONS, expected)])
    expect_that("its tasks", member.has(), [])


@case(API, "A changelog topic is created as requested, after the first answer.", source=MADE, also=SEEN)
def changelog(on: Broker) -> None:
    name = on.name()
    told = internal(name, cleanup_policy="compact", segment_bytes="52428800")
    member = Streamer(on, topology(subtopology("0", on.some_topic(), state_changelog_topics=[told])))
    answer = member.join()
    expect_that("the statuses", statuses(answer), [(MISSING_INTERNAL, f"Internal topics are missing: {name}")])
    expect_that("its tasks", member.has(), [])
    await_topic(on, name, 3)
    member.assigned(0, 1, 2)
    asked = [{"resource_type": 2, "resource_name": name, "configuration_keys": ["cleanup.policy", "segment.bytes"]}]
    found = {one.name: one.value for one in on.ask("DescribeConfigs", resources=asked).results[0].configs}
    expect_that("its configuration", found, {"cleanup.policy": "compact", "segment.bytes": "52428800"})


@case(
    API,
    "A repartition topic has as many partitions as its sources, or the requested number.",
    source=COUNTED,
    also=SEEN,
)
def repartition(on: Broker) -> None:
    for asked, count in ((0, 3), (2, 2)):
        name = on.name()
        writes = subtopology("0", on.some_topic(), repartition_sink_topics=[name])
        reads = subtopology("1", repartition_source_topics=[internal(name, asked)])
        member = Streamer(on, topology(writes, reads))
        expect_that("the statuses", [code for code, _ in statuses(member.join())], [MISSING_INTERNAL])
        await_topic(on, name, count)
        member.assigned(*range(count), of="1")


@case(API, "A repartition topic is as wide as the topics that it is joined with.", source=COPARTITIONED, also=SEEN)
def repartition_copartitioned(on: Broker) -> None:
    name = on.name()
    writes = subtopology("0", on.topic(1), repartition_sink_topics=[name])
    group = {"source_topics": [0], "repartition_source_topics": [0]}
    joins = subtopology("1", on.some_topic(), repartition_source_topics=[internal(name)], copartition_groups=[group])
    member = Streamer(on, topology(writes, joins))
    member.join()
    await_topic(on, name, 3)
    member.assigned(0, 1, 2, of="1")


@case(
    API, "An existing internal topic with another number of partitions is reported, and not changed.", source=CONFIGURED
)
def wrongly_partitioned(on: Broker) -> None:
    topic = on.topic(2)
    member = Streamer(on, topology(subtopology("0", on.some_topic(), state_changelog_topics=[internal(topic.name)])))
    expected = f"Existing topic {topic.name} has different number of partitions: expected 3, found 2"
    expect_that("the statuses", statuses(member.join()), [(WRONG_PARTITIONS, expected)])
    expect_that("how many partitions it has", partitions_of(on, topic.name), 2)


@case(API, "A topic that cannot be created: a later heartbeat returns the reason.", source=MADE, also=SEEN)
def cannot_be_made(on: Broker) -> None:
    name = on.name()
    told = internal(name, cleanup_policy="nonsense")
    member = Streamer(on, topology(subtopology("0", on.some_topic(), state_changelog_topics=[told])))
    member.join()

    def reason() -> bool:
        found = statuses(member.follow())
        return any(f"Creation failed: {name} (" in text for code, text in found if code == MISSING_INTERNAL)

    expect_that("whether the reason is told", on.in_time(reason, every=0.03), True)
    expect_that("whether it is there", partitions_of(on, name), 0)
