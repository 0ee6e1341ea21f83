"""Features, the quorum and brokers that are taken out: the same requests to the stub and to Apache Kafka 4.4.0."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkawire.messages.add_raft_voter_request import AddRaftVoterRequest, Listener
from kafkawire.messages.api_versions_request import ApiVersionsRequest
from kafkawire.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from kafkawire.messages.describe_cluster_request import DescribeClusterRequest
from kafkawire.messages.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kafkawire.messages.describe_quorum_request import DescribeQuorumRequest, PartitionData, TopicData
from kafkawire.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kafkawire.messages.metadata_request import MetadataRequest
from kafkawire.messages.remove_raft_voter_request import RemoveRaftVoterRequest
from kafkawire.messages.unregister_broker_request import UnregisterBrokerRequest
from kafkawire.messages.unregister_controller_request import UnregisterControllerRequest
from kafkawire.messages.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from kafkawire.schema import Message, Struct
from tests.conftest import APACHE_CONFIG, CONFIG
from tests.nodes.asking import ask
from tests.oracle.apache_cluster import ApacheCluster
from tests.oracle.apache_kafka import ApacheKafka
from tests.waiting import until

ELSEWHERE = bytes(range(1, 17))
METADATA = DescribeQuorumRequest([TopicData("__cluster_metadata", [PartitionData(0)])])
VERSIONS = ApiVersionsRequest(client_software_name="test", client_software_version="1.0")
NAMES = ("group.version", "share.version", "streams.version", "transaction.version", "no.such", "")
ELIGIBLE = "eligible.leader.replicas.version"
CLIENT_METRICS = 16
"""The type of a subscription to clients' metrics as a resource."""
OFFSETS = {"high_watermark", "log_end_offset"}
TIMES = {"last_fetch_timestamp", "last_caught_up_timestamp"}

_changes = itertools.count(1000)

Asked = list[tuple[Message, int]]


def shown(value: Any) -> Any:
    """An answer as data, without what differs from broker to broker."""
    if isinstance(value, Struct | Message):
        return {row[0]: _field(row[0], getattr(value, row[0])) for row in value.FIELDS if hasattr(value, row[0])}
    if isinstance(value, list | tuple):
        return [shown(one) for one in value]
    if isinstance(value, str):
        return re.sub(r"directoryId=(?!AQIDBAUGBwgJCgsMDQ4PEA)[\w-]{22}|cluster id \"[\w-]{22}\"", "(an id)", value)
    return value


def _field(name: str, value: Any) -> Any:
    if name in OFFSETS | TIMES:
        return value > 0
    if name == "replica_directory_id":
        return value == bytes(16)
    if name in ("host", "port"):
        return bool(value)
    if name == "observers":
        return sorted(shown(value), key=lambda one: int(one["replica_id"]))
    return shown(value)


def update(version: int, *updates: tuple[str, int, int], validate_only: bool = False) -> tuple[Message, int]:
    keys = [FeatureUpdateKey(name, level, upgrade_type=kind if version else 1) for name, level, kind in updates]
    return UpdateFeaturesRequest(60_000, keys, validate_only and version > 0), version


def refused_updates() -> Iterator[tuple[Message, int]]:
    """In version 0 there is no dry run: only what is refused, or changes nothing."""
    for version in range(3):
        yield update(version)
        for name in NAMES:
            for level in (-1, 7):
                yield update(version, (name, level, 1))
        for level in (0, 6, 7, 20, 32, 33, 34):
            for kind in (1, 2, 3) if version else (1,):
                yield update(version, ("metadata.version", level, kind), validate_only=True)
        for level in (0, 1, 2):
            for kind in (1, 2, 3) if version else (1,):
                yield update(version, ("kraft.version", level, kind), validate_only=True)
        yield update(version, ("share.version", 2, 1), ("share.version", 9, 1), validate_only=True)
        yield update(version, ("share.version", 9, 1), ("share.version", 2, 1), validate_only=True)
        yield update(version, *((name, 9, 1) for name in NAMES))
        yield update(version, *((name, 9, 1) for name in reversed(NAMES)))
        yield update(version, ("group.version", 1, 1), ("metadata.version", 6, 1))
        yield update(version, *((f"feature-{number}", 0, 1) for number in range(40)))
    for version in (1, 2):
        for name in NAMES:
            for level in range(3):
                for kind in range(-1, 5):
                    yield update(version, (name, level, kind), validate_only=True)


def of_the_quorum() -> Iterator[tuple[Message, int]]:
    for version in range(3):
        yield METADATA, version
        for topics in (
            [],
            [("__cluster_metadata", [1])],
            [("__cluster_metadata", [0, 1])],
            [("__cluster_metadata", [])],
            [("__cluster_metadata", [0]), ("x", [0])],
            [("x", [0, 2]), ("y", [])],
        ):
            rows = [TopicData(name, [PartitionData(index) for index in indexes]) for name, indexes in topics]
            yield DescribeQuorumRequest(rows), version
    here, other = Listener("CONTROLLER", "localhost", 9093), Listener("b", "nowhere", 1)
    more = [Listener(name, "h", 2) for name in ("x", "y", "SASL_SSL", "b")]
    for version in (0, 1):
        for cluster_id in (None, "", "other"):
            for voter, directory in ((-1, ELSEWHERE), (1, bytes(16)), (1, ELSEWHERE)):
                for listeners in ([], [here], [other], [other, here, *more], [other, *more], [here, other, here]):
                    yield AddRaftVoterRequest(cluster_id, 1000, voter, directory, listeners), version
    for cluster_id in (None, "", "other"):
        for voter, directory in ((-1, ELSEWHERE), (1, bytes(16)), (1, ELSEWHERE), (7, ELSEWHERE)):
            yield RemoveRaftVoterRequest(cluster_id, voter, directory), 0
    for node_id in (1, 2, -1, 1000):
        yield UnregisterControllerRequest(node_id), 0
    for node_id in (2, -1, 1000):
        yield UnregisterBrokerRequest(node_id), 0


def last_voter(servers: str) -> Any:
    """What is said to who would remove the only voter there is."""
    (voter,) = ask(servers, METADATA, 2).topics[0].partitions[0].current_voters
    return shown(ask(servers, RemoveRaftVoterRequest(None, 1, voter.replica_directory_id), 0))


def finalized(servers: str) -> dict[str, int]:
    return {one.name: one.max_version_level for one in ask(servers, VERSIONS, 4).finalized_features}


def settled(servers: str) -> None:
    """Until the broker has learnt of what its controller did by now.

    It tells the epoch of features first and acts behind that: when a second change is seen, the first is done.
    """
    for _ in range(2):
        change = AlterConfigsResource(
            CLIENT_METRICS, "settled", [AlterableConfig("interval.ms", 0, str(next(_changes)))]
        )
        ask(servers, IncrementalAlterConfigsRequest([change]), 1)
        done = ask(servers, METADATA, 2).topics[0].partitions[0].high_watermark
        until(lambda done=done: ask(servers, VERSIONS, 4).finalized_features_epoch >= done - 1, "what was done")  # type: ignore[misc]


def answers(servers: str, asked: Asked) -> list[Any]:
    return [(type(request).__name__, version, shown(ask(servers, request, version))) for request, version in asked]


def changes(servers: str) -> list[Any]:
    """What was answered, and which levels there are then."""
    found = []
    for each in (
        [("share.version", 1, 2)],
        [("share.version", 0, 3), ("group.version", 0, 2)],
        [("group.version", 1, 1), ("share.version", 2, 2)],
        [("group.version", 1, 1), ("share.version", 2, 1)],
        [("streams.version", 0, 2), ("transaction.version", 0, 2)],
        [("transaction.version", 1, 1)],
        [("transaction.version", 2, 1), ("streams.version", 1, 1), ("metadata.version", 33, 1)],
        [("share.version", 9, 9), ("share.version", 1, 2)],
    ):
        for version in (1, 2):
            for validate_only in (True, False):
                request, _ = update(version, *each, validate_only=validate_only)
                found.append(shown(ask(servers, request, version)))
                settled(servers)
                found.append(finalized(servers))
    return found


def minimums(servers: str) -> list[Any]:
    """Of replicas in sync: what brokers may have while there are eligible leaders, and while there are none."""
    found = []
    for level, kind in ((1, 1), (0, 2), (1, 1)):
        found.append(shown(ask(servers, *update(2, (ELIGIBLE, level, kind)))))
        settled(servers)
        found.append(_minimum(servers))
        for name, operation, value in (("1", 0, "2"), ("", 1, None)):
            change = AlterConfigsResource(4, name, [AlterableConfig("min.insync.replicas", operation, value)])
            found.append(shown(ask(servers, IncrementalAlterConfigsRequest([change]), 1)))
            settled(servers)
            found.append(_minimum(servers))
    return found


def _minimum(servers: str) -> Any:
    asked = [DescribeConfigsResource(4, name, ["min.insync.replicas"]) for name in ("1", "")]
    results = ask(servers, DescribeConfigsRequest(resources=asked, include_synonyms=True), 4).results
    return [[(one.name, one.value, one.source) for one in each.synonyms] for row in results for each in row.configs]


def out(servers: str) -> list[Any]:
    """The only broker is taken out."""
    ask(servers, CreateTopicsRequest(topics=[CreatableTopic("t", 1, 1)], timeout_ms=10_000), 5)
    found = [shown(ask(servers, UnregisterBrokerRequest(1), 0)) for _ in range(2)]
    until(lambda: not ask(servers, MetadataRequest(topics=[]), 12).brokers, "the broker is out")
    metadata = ask(servers, MetadataRequest(topics=None), 12)
    partitions = [
        (one.error_code, one.leader_id, list(one.isr_nodes), list(one.offline_replicas))
        for topic in metadata.topics
        if topic.name == "t"
        for one in topic.partitions
    ]
    cluster = ask(servers, DescribeClusterRequest(include_fenced_brokers=True), 2)
    return [*found, metadata.controller_id, partitions, cluster.controller_id, len(cluster.brokers)]


Play = Callable[[str], list[Any]]
PLAYS: dict[str, Play] = {
    "refused updates": lambda servers: answers(servers, list(refused_updates())),
    "the quorum": lambda servers: answers(servers, list(of_the_quorum())),
    "the last voter": lambda servers: [last_voter(servers)],
    "changes": changes,
    "minimums": minimums,
    "out": out,
}
"""In this order: the last one ends the broker's use."""


@pytest.mark.oracle
def test_a_broker_answers_as_kafka() -> None:
    with ApacheKafka(APACHE_CONFIG) as kafka, KafkaStub(config=CONFIG) as stub:
        for name, play in PLAYS.items():
            assert (name, play(stub.bootstrap_servers)) == (name, play(kafka.bootstrap_servers))


class _Static(ApacheKafka):
    """With a quorum of a fixed list."""

    def _properties(self, controller_port: int, logs: Path) -> str:
        whole = super()._properties(controller_port, logs)
        return whole.replace("controller.quorum.bootstrap.servers=", "controller.quorum.voters=1@")


def static(servers: str) -> list[Any]:
    found: list[Any] = [finalized(servers), *answers(servers, list(of_the_quorum()))]
    for level, kind, validate_only in ((0, 1, False), (0, 2, False), (1, 2, False), (1, 1, True), (1, 1, False)):
        request, version = update(2, ("kraft.version", level, kind), validate_only=validate_only)
        found.append(shown(ask(servers, request, version)))
        settled(servers)
        found.append(finalized(servers))
    return [*found, *answers(servers, list(of_the_quorum()))]


@pytest.mark.oracle
def test_a_static_quorum_answers_as_kafka() -> None:
    config = {**CONFIG, "controller.quorum.voters": "1@localhost:9093"}
    with _Static(APACHE_CONFIG) as kafka, KafkaStub(config=config) as stub:
        assert static(stub.bootstrap_servers) == static(kafka.bootstrap_servers)


def of_three(nodes: dict[int, str]) -> list[Any]:
    """Node 1 is the controller; 3 is taken out while it runs."""

    def cluster(node_id: int) -> list[int]:
        told = ask(nodes[node_id], MetadataRequest(topics=[]), 12).brokers
        return sorted(one.node_id for one in told)

    found: list[Any] = []
    for servers in nodes.values():
        found.append(shown(ask(servers, METADATA, 2)))
        found += [shown(ask(servers, UnregisterControllerRequest(node_id), 0)) for node_id in (1, 2, 4)]
    ask(nodes[1], CreateTopicsRequest(topics=[CreatableTopic("t", 6, 3)], timeout_ms=10_000), 5)
    found += [shown(ask(nodes[2], UnregisterBrokerRequest(3), 0)) for _ in range(2)]
    for node_id in nodes:
        until(lambda node_id=node_id: cluster(node_id) == [1, 2], "two brokers")  # type: ignore[misc]
    until(lambda: ask(nodes[1], MetadataRequest(topics=None), 12).topics, "the topic")
    (topic,) = (one for one in ask(nodes[1], MetadataRequest(topics=None), 12).topics if one.name == "t")
    found += [sorted(one.isr_nodes) for one in topic.partitions]
    found.append({one.leader_id for one in topic.partitions} <= {1, 2})
    for count in (2, 3):
        wide = CreatableTopic(f"wide-{count}", 1, count)
        found.append(shown(ask(nodes[1], CreateTopicsRequest([wide], 10_000, validate_only=True), 5)))
    found += [shown(ask(servers, METADATA, 2)) for servers in nodes.values()]
    return found


@pytest.mark.oracle
def test_three_nodes_answer_as_kafka() -> None:
    with ApacheCluster(3, APACHE_CONFIG) as kafka, KafkaStub(config=CONFIG, nodes=3) as stub:
        theirs = {node_id: node.bootstrap_servers for node_id, node in kafka.nodes.items()}
        until(lambda: len(ask(theirs[1], METADATA, 2).topics[0].partitions[0].observers) == 2, "both others to look on")
        assert of_three({node_id: stub.nodes[node_id].bootstrap_servers for node_id in stub.nodes}) == of_three(theirs)
