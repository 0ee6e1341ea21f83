"""Three nodes of Apache Kafka for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafkawire.messages.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from tests.nodes.asking import ask
from tests.oracle.apache_cluster import ApacheCluster

RACKS = ("a", "b", "c")
CONFIG: dict[str, object] = {
    "group.initial.rebalance.delay.ms": 0,
    "offsets.topic.num.partitions": 3,
    "replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector",
}
# A node that ends tells the controller, or it would be missed only when its session is over; on a busy machine it may
# be a while until it is registered again. Leaders move when a test says so.
_OF_KAFKA: dict[str, object] = {
    "controlled.shutdown.enable": True,
    "broker.session.timeout.ms": 60_000,
    "initial.broker.registration.timeout.ms": 300_000,
    "auto.leader.rebalance.enable": False,
}


def create_offsets_topic(servers: str) -> None:
    """`__consumer_offsets`, led by each node in turn."""
    assigned = [CreatableReplicaAssignment(index, one) for index, one in enumerate(([1, 2, 3], [2, 3, 1], [3, 1, 2]))]
    topic = CreatableTopic("__consumer_offsets", -1, -1, assigned, [CreatableTopicConfig("cleanup.policy", "compact")])
    answer = ask(servers, CreateTopicsRequest([topic], timeout_ms=60_000), 5).topics[0]
    assert answer.error_code == 0, answer


@pytest.fixture(scope="package")
def apache_cluster() -> Iterator[ApacheCluster]:
    with ApacheCluster(3, CONFIG | _OF_KAFKA, racks=RACKS) as kafka:
        create_offsets_topic(kafka.nodes[1].bootstrap_servers)
        yield kafka
