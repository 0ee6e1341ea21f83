"""Three nodes of Apache Kafka behind a proxy: nodes that crash and come back, leaders that move."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from confluent_kafka import Consumer, Producer

from kafkastub import KafkaProxy
from kafkastub.client import Client, topics
from kafkawire.messages.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from tests.clients.jvm import Jvm
from tests.conftest import APACHE_CONFIG
from tests.oracle.apache_cluster import ApacheCluster
from tests.waiting import SECONDS, until

pytestmark = pytest.mark.oracle

CONFIG = {
    **APACHE_CONFIG,
    "offsets.topic.replication.factor": 3,
    "offsets.topic.num.partitions": 3,
    "broker.session.timeout.ms": 6000,
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[ApacheCluster]:
    with ApacheCluster(3, CONFIG) as running:
        yield running


@pytest.fixture
def proxy(cluster: ApacheCluster) -> Iterator[KafkaProxy]:
    with KafkaProxy([node.bootstrap_servers for node in cluster.nodes.values() if node.running]) as running:
        yield running


def create(proxy: KafkaProxy, name: str, partitions: int) -> None:
    with proxy._client() as client:
        topics.create(client, name, partitions=partitions, replication_factor=3)
    proxy.wait_topic(name, partitions=partitions, timeout=SECONDS)
    until(lambda: all(proxy.leader_of(name, one) >= 0 for one in range(partitions)), "leaders")


def read_all(servers: str, topic: str, count: int, group: str) -> list[bytes]:
    consumer = Consumer({"bootstrap.servers": servers, "group.id": group, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    read: list[bytes] = []

    def some() -> bool:
        message = consumer.poll(0.2)
        if message is not None and message.error() is None:
            read.append(message.value())
        return len(read) >= count

    try:
        until(some, lambda: f"{len(read)} records of {count}", 2 * SECONDS)
    finally:
        consumer.close()
    return read


def test_each_of_three_nodes_has_a_port(cluster: ApacheCluster, proxy: KafkaProxy) -> None:
    assert sorted(proxy._proxy()._places.nodes) == [1, 2, 3]
    assert len(set(proxy.ports)) == 3


def test_a_node_crashes_and_comes_back_while_clients_write_and_read(cluster: ApacheCluster, proxy: KafkaProxy) -> None:
    create(proxy, "crashing", 6)
    producer = Producer({"bootstrap.servers": proxy.bootstrap_servers, "enable.idempotence": True})
    sent = []

    def write(what: str) -> None:
        for number in range(120):
            value = f"{what}/{number}".encode()
            sent.append(value)
            producer.produce("crashing", value, partition=number % 6)
        producer.poll(0)

    write("before")
    producer.flush(SECONDS)
    cluster.nodes[3].crash()
    write("while it is away")
    assert producer.flush(2 * SECONDS) == 0
    cluster.nodes[3].resume()
    write("behind")
    assert producer.flush(2 * SECONDS) == 0
    assert sorted(read_all(proxy.bootstrap_servers, "crashing", len(sent), "crashing")) == sorted(sent)


def test_leaders_that_move_are_found_by_what_answers_say(proxy: KafkaProxy) -> None:
    create(proxy, "moving", 1)
    producer = Producer({"bootstrap.servers": proxy.bootstrap_servers, "acks": "all"})
    for number in range(6):
        wanted = number % 3 + 1
        place = ReassignableTopic("moving", [ReassignablePartition(0, [wanted])])
        with proxy._client() as client:
            client.ask_controller(AlterPartitionReassignmentsRequest(topics=[place], timeout_ms=30_000))
        until(lambda wanted=wanted: proxy.leader_of("moving", 0) == wanted, f"leader {wanted}")
        producer.produce("moving", str(number).encode())
        assert producer.flush(SECONDS) == 0
    assert [one.value for one in proxy.records("moving")] == [str(number).encode() for number in range(6)]
    addresses = set(proxy.ports)
    with Client(proxy.bootstrap_servers) as client:
        assert {node.port for node in client.nodes()} == addresses


async def test_aiokafka_goes_on_while_all_connections_to_a_node_end(proxy: KafkaProxy) -> None:
    await asyncio.to_thread(create, proxy, "aio", 3)
    servers = proxy.bootstrap_servers
    read = []
    async with AIOKafkaProducer(bootstrap_servers=servers) as writing:
        for number in range(60):
            if number % 20 == 10:
                proxy._thread.call(lambda: [proxy._proxy().drop_connections(node) for node in (1, 2, 3)])
            await writing.send_and_wait("aio", str(number).encode(), partition=number % 3)
    async with AIOKafkaConsumer(
        "aio", bootstrap_servers=servers, group_id="aio", auto_offset_reset="earliest"
    ) as reading:
        while len(set(read)) < 60:
            record = await asyncio.wait_for(reading.getone(), SECONDS)
            read.append(record.value)
    assert set(read) == {str(number).encode() for number in range(60)}


def test_java_clients_find_all_of_it(jvm: Jvm, proxy: KafkaProxy) -> None:
    create(proxy, "java", 3)
    from tests.clients.adapters import connect
    from tests.clients.client import Message

    client = connect("java", proxy.bootstrap_servers, lambda: jvm)
    try:
        client.produce("java", [Message(f"v{number}", partition=number % 3) for number in range(30)])
    finally:
        client.close()
    assert len(read_all(proxy.bootstrap_servers, "java", 30, "java")) == 30
