"""Topologies: what they say, what is made of them, and where Kafka fails. Most of it is held beside Kafka's classes."""

from __future__ import annotations

import time
from dataclasses import dataclass

import pytest

from kafkastub.coordinator.modern.topic_hash import group_hash, topic_hash
from kafkastub.coordinator.streams.configured import MOST_TASKS, ConfiguredTopology, configure
from kafkastub.coordinator.streams.described_topology import topology_described
from kafkastub.coordinator.streams.endpoints import endpoint_to_partitions
from kafkastub.coordinator.streams.statuses import Status
from kafkastub.coordinator.streams.tasks import TasksTupleWithEpochs
from kafkastub.coordinator.streams.topology import MOST_ITEMS, CopartitionGroup, Subtopology, TopicInfo, Topology
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages import streams_group_heartbeat_request as request
from kafkawire.messages import streams_group_topology_value as record
from kafkawire.messages.streams_group_heartbeat_response import Endpoint, TopicPartition
from tests.coordinator.streams.random_topologies import Cluster


def _configured(counts: dict[str, int], *subtopologies: Subtopology) -> ConfiguredTopology:
    return configure(Topology(0, subtopologies), 7, Cluster(counts))


def _why(counts: dict[str, int], *subtopologies: Subtopology) -> tuple[Status, str]:
    error = _configured(counts, *subtopologies).error
    assert error is not None
    return error.status, error.message


def test_a_heartbeat_and_a_record_say_the_same():
    sent = request.Topology(
        3,
        [
            request.Subtopology(
                "1",
                ["in"],
                [],
                [request.TopicInfo("kept", 0, 2, [request.KeyValue("b", "1"), request.KeyValue("a", "2")])],
                ["out"],
                [request.TopicInfo("inner", 4, 0, [])],
                [request.CopartitionGroup([0], [], [0])],
            ),
            request.Subtopology("0", ["other"]),
        ],
    )
    written = record.StreamsGroupTopologyValue(
        3,
        [
            record.Subtopology(
                "1",
                ["in"],
                [],
                [record.TopicInfo("kept", 0, 2, [record.TopicConfig("b", "1"), record.TopicConfig("a", "2")])],
                ["out"],
                [record.TopicInfo("inner", 4, 0, [])],
                [record.CopartitionGroup([0], [], [0])],
            ),
            record.Subtopology("0", ["other"]),
        ],
    )
    topology = Topology.from_heartbeat(sent)
    assert topology == Topology.from_record(written)
    assert hash(topology) == hash(Topology.from_record(written))
    assert [one.subtopology_id for one in topology.subtopologies] == ["1", "0"]
    assert topology.by_id["1"] == Subtopology(
        "1",
        ("in",),
        (),
        (TopicInfo("kept", 0, 2, (("b", "1"), ("a", "2"))),),
        ("out",),
        (TopicInfo("inner", 4),),
        (CopartitionGroup((0,), (), (0,)),),
    )
    assert set(topology.required_topics()) == {"in", "inner", "kept", "other"}
    assert {name: one.subtopology_id for name, one in topology.sources().items()} == {
        "in": "1",
        "inner": "1",
        "other": "0",
    }


def test_the_order_of_subtopologies_does_not_count_and_that_of_their_topics_does():
    one, other = Subtopology("0", ("a", "b")), Subtopology("1", ("c",))
    assert Topology(0, (one, other)) == Topology(0, (other, one))
    assert Topology(0, (one, other)) != Topology(1, (one, other))
    assert Topology(0, (one,)) != Topology(0, (Subtopology("0", ("b", "a")),))
    assert Topology(0, (one,)) != "a topology"


@pytest.mark.parametrize(
    "raw",
    [
        request.Topology(-1, [request.Subtopology("0", ["in"])]),
        request.Topology(0, [request.Subtopology("0", ["in"]), request.Subtopology("0", ["other"])]),
    ],
)
def test_what_kafka_fails_at_is_an_error_without_a_text(raw: request.Topology):
    with pytest.raises(KafkaError) as raised:
        Topology.of(raw)
    assert (raised.value.code, raised.value.message) == (ErrorCode.UNKNOWN_SERVER_ERROR, None)


@pytest.mark.parametrize(
    "subtopology",
    [
        Subtopology("0", ("in",), copartition_groups=(CopartitionGroup((1,)),)),
        Subtopology("0", ("in",), copartition_groups=(CopartitionGroup((0,), (), (-1,)),)),
        Subtopology("0", ("in",), state_changelog_topics=(TopicInfo("kept"), TopicInfo("kept"))),
        Subtopology("0", ("in",), state_changelog_topics=(TopicInfo("kept", 0, 0, (("a", "1"), ("a", "1"))),)),
        Subtopology("0", ("in",), state_changelog_topics=(TopicInfo("kept", -1),)),
        Subtopology("0", (), repartition_source_topics=(TopicInfo("inner", -1),)),
    ],
)
def test_what_kafka_fails_at_with_the_topics_is_one_too(subtopology: Subtopology):
    with pytest.raises(KafkaError) as raised:
        _configured({"in": 1}, subtopology)
    assert (raised.value.code, raised.value.message) == (ErrorCode.UNKNOWN_SERVER_ERROR, None)


def test_a_member_may_not_send_more_than_anybody_has():
    most = request.Topology(0, [request.Subtopology("0", ["in"] * (MOST_ITEMS - 1))])
    assert len(Topology.from_heartbeat(most).by_id["0"].source_topics) == MOST_ITEMS - 1
    most.subtopologies = [*most.subtopologies, request.Subtopology("1")]
    with pytest.raises(KafkaError) as raised:
        Topology.from_heartbeat(most)
    assert (raised.value.code, raised.value.message) == (
        ErrorCode.INVALID_REQUEST,
        "Topology has 5001 subtopologies, topics and configurations; this broker takes 5000.",
    )
    assert len(Topology.of(most).by_id) == 2  # what is written is read


def test_a_group_may_not_have_more_tasks_than_anybody_has():
    parts = [Subtopology(str(number), ("large",)) for number in range(MOST_TASKS // 1_000)]
    assert _configured({"large": 1_000}, *parts).is_ready
    with pytest.raises(KafkaError) as raised:
        _configured({"large": 1_000}, *parts, Subtopology("more", ("large",)))
    assert (raised.value.code, raised.value.message) == (
        ErrorCode.INVALID_REQUEST,
        "Topology has 21000 tasks; this broker takes 20000.",
    )


@pytest.mark.behaviour("TH-5")
def test_missing_sources_are_named_three_of_them():
    wanted = Subtopology("0", ("e", "d", "c", "b", "a"))
    assert _why({"d": 1}, wanted) == (
        Status.MISSING_SOURCE_TOPICS,
        "Source topics a, b, c and 1 additional topics are missing.",
    )
    assert _why({"d": 1, "e": 1, "c": 1}, wanted)[1] == "Source topics a, b are missing."


@pytest.mark.behaviour("TH-5")
def test_internal_topics_get_as_many_partitions_as_the_widest_input():
    writer = Subtopology("0", ("two", "five"), (), (TopicInfo("kept"),), ("inner",))
    reader = Subtopology("1", ("two",), repartition_source_topics=(TopicInfo("inner"),))
    found = _configured({"two": 2, "five": 5}, writer, reader)
    assert found.error is not None
    assert found.error.status is Status.MISSING_INTERNAL_TOPICS
    assert set(found.error.message.removeprefix("Internal topics are missing: ").split(", ")) == {"inner", "kept"}
    assert {name: topic.number_of_partitions for name, topic in found.internal_topics_to_create.items()} == {
        "inner": 5,
        "kept": 5,
    }
    ready = _configured({"two": 2, "five": 5, "inner": 5, "kept": 5}, writer, reader)
    assert ready.is_ready
    assert ready.subtopologies is not None
    assert [(name, one.number_of_tasks, one.stateful) for name, one in ready.subtopologies.items()] == [
        ("0", 5, True),
        ("1", 5, False),
    ]
    told = topology_described(Topology(0, (writer, reader)), ready)
    assert told.subtopologies is not None
    assert [one.partitions for one in told.subtopologies[1].repartition_source_topics] == [5]
    told = topology_described(Topology(0, (writer, reader)), found)  # not ready: as it was sent
    assert told.subtopologies is not None
    assert [one.partitions for one in told.subtopologies[1].repartition_source_topics] == [0]


@pytest.mark.behaviour("TH-5")
def test_topics_that_are_joined_must_fit():
    joined = Subtopology("0", ("two", "five"), copartition_groups=(CopartitionGroup((0, 1)),))
    assert _why({"two": 2, "five": 5}, joined) == (
        Status.INCORRECTLY_PARTITIONED_TOPICS,
        "Following topics do not have the same number of partitions: [{five=5, two=2}]",
    )
    fixed = Subtopology(
        "0",
        ("two",),
        repartition_source_topics=(TopicInfo("inner", 3),),
        copartition_groups=(CopartitionGroup((0,), (), (0,)),),
    )
    assert _why({"two": 2}, fixed)[1] == (
        "Number of partitions [3] of repartition topic [inner] doesn't match number of partitions [2] of the source "
        "topic."
    )
    assert _why({"in": 2, "kept": 3}, Subtopology("0", ("in",), (), (TopicInfo("kept"),)))[1] == (
        "Existing topic kept has different number of partitions: expected 2, found 3"
    )


@pytest.mark.parametrize(
    ("subtopologies", "why"),
    [
        ([Subtopology("a")], "No source topics found for subtopology a"),
        (
            [Subtopology("0", (), repartition_source_topics=(TopicInfo("inner"),))],
            "Failed to compute number of partitions for all repartition topics, because a repartition source topic "
            "is never used as a sink topic.",
        ),
        (
            [Subtopology("0", (), (), (), ("inner",), (TopicInfo("inner"),))],
            "Failed to compute number of partitions for all repartition topics. There may be loops in the topology "
            "that cannot be resolved.",
        ),
    ],
)
def test_topologies_that_no_topics_do_for(subtopologies: list[Subtopology], why: str):
    with pytest.raises(KafkaError) as raised:
        _configured({}, *subtopologies)
    assert (raised.value.code, raised.value.message) == (ErrorCode.STREAMS_INVALID_TOPOLOGY, why)


def test_the_hash_of_a_group_is_that_of_its_topics_that_are_there():
    cluster = Cluster({"in": 2, "kept": 2})
    names = Topology(0, (Subtopology("0", ("in", "gone"), (), (TopicInfo("kept"),)),)).required_topics()
    there = {name: cluster.topic_id(name) for name in names if cluster.partition_count(name)}
    assert set(there) == {"in", "kept"}
    assert group_hash({name: topic_hash(name, topic_id, [[], []]) for name, topic_id in there.items() if topic_id})


@dataclass
class _Member:
    user_endpoint: tuple[str, int] | None
    assigned: TasksTupleWithEpochs


def test_an_endpoint_has_the_inputs_of_its_tasks():
    cluster = Cluster({"two": 2, "three": 3})
    subtopologies = configure(Topology(0, (Subtopology("0", ("two", "three")),)), 0, cluster).subtopologies
    tasks = TasksTupleWithEpochs({"0": {2: 1, 0: 1}}, {"0": frozenset({2})}, {"0": frozenset({1})})
    told = endpoint_to_partitions(_Member(("host", 9), tasks), subtopologies, cluster)
    assert told is not None
    assert told.user_endpoint == Endpoint("host", 9)
    assert sorted(told.active_partitions, key=lambda one: one.topic) == [
        TopicPartition("three", [0, 2]),
        TopicPartition("two", [0]),
    ]
    assert sorted(told.standby_partitions, key=lambda one: one.topic) == [
        TopicPartition("three", [1, 2]),
        TopicPartition("two", [1]),
    ]
    assert endpoint_to_partitions(_Member(None, tasks), subtopologies, cluster) is None
    for known, counts in ((None, cluster.counts), ({}, cluster.counts), (subtopologies, {"two": 2})):
        with pytest.raises(KafkaError):
            endpoint_to_partitions(_Member(("host", 9), tasks), known, Cluster(counts))


def test_4_3_tells_partitions_at_an_endpoint_that_a_topic_has_not():
    cluster = Cluster({"one": 1, "twenty": 20})
    subtopologies = configure(Topology(0, (Subtopology("0", ("one", "twenty")),)), 0, cluster).subtopologies
    tasks = TasksTupleWithEpochs({"0": {17: 1, 3: 1}}, {"0": frozenset({4})})
    told = endpoint_to_partitions(_Member(("host", 9), tasks), subtopologies, cluster, in_order=False)
    assert told is not None
    assert {one.topic: one.partitions for one in told.active_partitions} == {"one": [3], "twenty": [17, 3]}
    assert {one.topic: one.partitions for one in told.standby_partitions} == {"one": [4], "twenty": [4]}


def test_a_long_chain_against_the_order_of_kafka_takes_no_long_time():
    length = 10_000
    chain = [
        Subtopology(
            str(i),
            ("in",) if i == length - 1 else (),
            (),
            (),
            (f"r{i}",),
            () if i == length - 1 else (TopicInfo(f"r{i + 1}"),),
            tuple(CopartitionGroup((), (), (0,)) for _ in range(i != length - 1)),
        )
        for i in range(length)
    ]
    start = time.process_time()
    found = _configured({"in": 2}, *chain)
    assert time.process_time() - start < 5
    assert {topic.number_of_partitions for topic in found.internal_topics_to_create.values()} == {2}
