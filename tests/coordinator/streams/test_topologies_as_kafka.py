"""Topologies beside Kafka's own classes: the same tasks, topics to create, descriptions, endpoints and errors.

KAFKASTUB_TOPOLOGY_SEED=7 makes others, KAFKASTUB_TOPOLOGIES=100000 more of them.
"""

from __future__ import annotations

import os
import random
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from kafkastub.coordinator.streams.configured import ConfiguredTopology, InternalTopics, configure
from kafkastub.coordinator.streams.described_topology import topology_described
from kafkastub.coordinator.streams.endpoints import endpoint_to_partitions
from kafkastub.coordinator.streams.tasks import Tasks, TasksTupleWithEpochs, in_map_order
from kafkastub.coordinator.streams.topology import Topology
from kafkawire.codec import encode
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.java_order import string_order
from kafkawire.messages.streams_group_describe_response import DescribedGroup, StreamsGroupDescribeResponse
from kafkawire.messages.streams_group_heartbeat_response import StreamsGroupHeartbeatResponse
from kafkawire.messages.streams_group_topology_value import StreamsGroupTopologyValue
from tests.coordinator.streams.random_topologies import Cluster, topology
from tests.oracle.apache_kafka import run_java

_TOPOLOGIES = int(os.environ.get("KAFKASTUB_TOPOLOGIES", "4000"))
_SEED = int(os.environ.get("KAFKASTUB_TOPOLOGY_SEED", "1071"))
_HASH = 77
_VERSION = 1


@dataclass
class _Case:
    value: StreamsGroupTopologyValue
    counts: dict[str, int]
    tasks: TasksTupleWithEpochs
    user_endpoint: tuple[str, int] = ("host", 9000)

    @property
    def assigned(self) -> TasksTupleWithEpochs:
        return self.tasks

    def asked(self) -> str:
        """As the Java program reads it."""
        topics = ",".join(f"{name}:{count}" for name, count in self.counts.items()) or "-"
        tasks = " ".join(_shown(some) for some in (self.tasks.active, self.tasks.standby, self.tasks.warmup))
        return f"{_base64(encode(self.value, 0))} {topics} {tasks}"


@pytest.mark.oracle
def test_topologies_come_out_as_in_kafka():
    cases = list(_cases(random.Random(_SEED), _TOPOLOGIES))
    found = [_found(case) for case in cases]
    asked = "\n".join(case.asked() for case in cases) + "\n"
    done = run_java(Path(__file__).with_name("Topologies.java"), stdin=asked, timeout=600)
    assert done.returncode == 0, done.stderr
    wanted = [block.splitlines() for block in done.stdout.split("\n.\n")[:-1]]
    wanted = [[line for line in block if line != "."] for block in wanted]
    assert len(found) == len(wanted)
    for mine, its, case in zip(found, wanted, cases, strict=True):
        assert mine == its, case
    outcomes = Counter(_outcome(line) for block in found for line in block)
    for expected in (
        "ready",
        "MISSING_SOURCE_TOPICS",
        "Following",
        "Number",
        "Existing",
        "MISSING_INTERNAL_TOPICS",
        "loops",
        "sink",
        "No source",
        "UNKNOWN_SERVER_ERROR",
        "endpoint",
        "no endpoint",
    ):
        assert outcomes[expected] > _TOPOLOGIES // 1000, outcomes


def _cases(chance: random.Random, count: int) -> Iterator[_Case]:
    """Each topology with few topics, then with those that it lacked, most of the time."""
    while count > 0:
        cluster = Cluster()
        value = topology(chance, cluster)
        for _ in range(chance.choice((1, 2, 2, 3))):
            tasks = _tasks(chance, value)
            yield _Case(value, dict(cluster.counts), tasks)
            count -= 1
            _create(chance, value, cluster)


def _create(chance: random.Random, value: StreamsGroupTopologyValue, cluster: Cluster) -> None:
    try:
        missing = configure(Topology.of(value), _HASH, cluster).internal_topics_to_create
    except KafkaError:
        return
    forgotten, misfit = chance.choice(((0, 0), (0, 0), (0, 0), (0.1, 0), (0, 0.05), (0.2, 0.1)))
    for name, topic in missing.items():
        if chance.random() >= forgotten:
            cluster.counts[name] = topic.number_of_partitions + (chance.random() < misfit)


def _tasks(chance: random.Random, value: StreamsGroupTopologyValue) -> TasksTupleWithEpochs:
    ids = [one.subtopology_id for one in value.subtopologies]
    if chance.random() < 0.02:
        ids.append("unknown")

    def some() -> Tasks:
        return in_map_order(
            {
                name: frozenset(chance.sample(range(8), chance.choice((1, 2, 5))))
                for name in dict.fromkeys(ids)
                if chance.random() < 0.5
            }
        )

    return TasksTupleWithEpochs({i: dict.fromkeys(found, 1) for i, found in some().items()}, some(), some())


def _shown(tasks: Iterable[str]) -> str:
    assert isinstance(tasks, dict)
    return ";".join(f"{name}:{partition}" for name, some in tasks.items() for partition in some) or "-"


def _found(case: _Case) -> list[str]:
    lines: list[str] = []
    cluster = Cluster(case.counts)
    try:
        known = Topology.of(case.value)
        lines.append(f"R {','.join(known.required_topics())}")
        sources = known.sources()
        lines.append(
            "M" + "".join(f" {name}={sources[name].subtopology_id}" for name in sorted(sources, key=string_order))
        )
        configured = configure(known, _HASH, cluster)
    except KafkaError as error:
        return [*lines, f"X {_error(error)}"]
    lines += _lines(configured)
    ready = ConfiguredTopology(configured.epoch, _HASH, configured.subtopologies or {}, {}, None)
    lines.append(f"D {_described(known, ready)}")
    lines.append(f"U {_described(known, None)}")
    try:
        told = endpoint_to_partitions(case, configured.subtopologies, cluster)
        assert told is not None
        told.active_partitions = sorted(told.active_partitions, key=lambda one: (one.topic, str(list(one.partitions))))
        response = StreamsGroupHeartbeatResponse(partitions_by_user_endpoint=[told])
        lines.append(f"P {_base64(encode(response, _VERSION))}")
    except KafkaError as error:
        lines.append(f"P {_error(error)}")
    return lines


def _lines(configured: ConfiguredTopology) -> list[str]:
    error = configured.error
    why = "-" if error is None else f"{error.status.name} {error.message}"
    lines = [f"E {configured.epoch} {configured.metadata_hash} {why}"]
    for name, one in (configured.subtopologies or {}).items():
        lines.append(
            f"S {name} {one.number_of_tasks} {','.join(one.source_topics)} {','.join(one.repartition_sink_topics)} "
            f"{_internal(one.repartition_source_topics)} {_internal(one.state_changelog_topics)}"
        )
    for topic in configured.internal_topics_to_create.values():
        configs = "".join(f" {name}={value}" for name, value in topic.topic_configs)
        lines.append(f"I {topic.name} {topic.number_of_partitions} {topic.replication_factor or -1}{configs}")
    return lines


def _internal(topics: InternalTopics) -> str:
    shown = ""
    for name, one in topics.items():
        configs = ", ".join(f"{key}={value}" for key, value in one.topic_configs)
        shown += f"{name}:{one.number_of_partitions}:{one.replication_factor or '-'}{{{configs}}};"
    return f"[{shown}]"


def _described(known: Topology, configured: ConfiguredTopology | None) -> str:
    group = DescribedGroup(topology=topology_described(known, configured))
    return _base64(encode(StreamsGroupDescribeResponse(groups=[group]), _VERSION))


def _error(error: KafkaError) -> str:
    message = "-" if error.code is ErrorCode.UNKNOWN_SERVER_ERROR else error.message
    return f"{error.code.name} {message}"


def _outcome(line: str) -> str:
    """What kind of outcome a line tells."""
    kind, _, rest = line.partition(" ")
    if kind == "X":
        return next((word for word in ("loops", "sink", "No source") if word in rest), rest.split(" ")[0])
    if kind == "E":
        why = rest.split(" ")[2:]
        return "ready" if why == ["-"] else why[0] if why[0].startswith("MISSING") else why[1]
    if kind == "P":
        return "no endpoint" if rest.startswith("UNKNOWN") else "endpoint"
    return kind


def _base64(data: bytes) -> str:
    return b64encode(data).decode()
