"""Random scenarios of every kind on three nodes of Apache Kafka: one node is asked directly, and through a proxy.

Two of the nodes are cordoned (KIP-1066), so that whatever is created is led by the one that is asked. Otherwise the
draw by which Kafka places partitions would decide which answers there are.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from kafkastub import KafkaProxy
from kafkastub.client import Client, records, topics
from kafkastub.client.errors import BrokerError
from kafkastub.client.routing import Node
from kafkastub_conformance.differential.broker import visiting
from kafkastub_conformance.differential.running import KINDS, compare, scripts
from kafkawire.errors import ErrorCode
from kafkawire.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from tests.conftest import APACHE_CONFIG
from tests.oracle.apache_cluster import ApacheCluster
from tests.waiting import SECONDS, until

pytestmark = pytest.mark.oracle_proxy

SEEDS = range(1, 9)
DRAWN = frozenset({"port", "controller_id"})
"""The other nodes' ports are the proxy's; which node is called the controller, Kafka draws for each answer."""
BROKER = 4
"""The type of a broker's configuration."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[ApacheCluster]:
    with ApacheCluster(3, APACHE_CONFIG) as running:
        for node in (2, 3):
            resource = AlterConfigsResource(BROKER, str(node), [AlterableConfig("cordoned.log.dirs", 0, "*")])
            with Client(running.nodes[node].bootstrap_servers) as client:
                (answer,) = client.ask(IncrementalAlterConfigsRequest(resources=[resource])).responses
                assert not answer.error_code, answer
        with Client(running.nodes[1].bootstrap_servers) as client:
            numbers = itertools.count()
            until(lambda: _led_by(client, f"placed-{next(numbers)}") == {1}, "a controller that knows", SECONDS)
        yield running


def _led_by(client: Client, topic: str) -> set[int]:
    """Who leads the partitions of a topic that is created."""
    topics.create(client, topic, partitions=12)
    until(lambda: None not in _leaders(client, topic), "leaders")
    return {leader.id for leader in _leaders(client, topic) if leader is not None}


def _leaders(client: Client, topic: str) -> list[Node | None]:
    """Of each partition; of a topic that the asked broker has not heard of yet, none."""
    try:
        return list(records.partitions(client, topic).values())
    except BrokerError as error:
        if error.code != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            raise
        return [None]


@pytest.mark.parametrize("kind", KINDS)
def test_random_scenarios(cluster: ApacheCluster, kind: str) -> None:
    directly = cluster.nodes[1].bootstrap_servers
    with KafkaProxy([node.bootstrap_servers for node in cluster.nodes.values()]) as proxy:
        place = next(one for one in proxy._proxy().places if one.node_id == 1)
        assert len(proxy.ports) == 3
        with visiting(directly, "Kafka") as one, visiting(f"127.0.0.1:{place.bound[1]}", "the proxy") as other:
            one.ignore = other.ignore = DRAWN
            done = compare(scripts([kind], SEEDS), one, other)
    assert [(result.name, result.reason, result.difference) for result in done.results if result.bad] == []
    assert len(done.results) == len(SEEDS)
