"""Several listeners: clients are told the address of the one that they came in on."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer

from kafkastub import KafkaStub
from kafkastub.config import ConfigError
from kafkawire.codec import decode, encode
from kafkawire.messages.describe_cluster_request import DescribeClusterRequest
from kafkawire.messages.describe_cluster_response import DescribeClusterResponse
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.find_coordinator_response import FindCoordinatorResponse
from kafkawire.messages.metadata_request import MetadataRequest
from kafkawire.messages.metadata_response import MetadataResponse
from tests.process.serving import Serving
from tests.rawclient import RawClient

TWO = {
    "listeners": "INTERNAL://127.0.0.1:0,EXTERNAL://127.0.0.1:0",
    "listener.security.protocol.map": "INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT",
    "inter.broker.listener.name": "INTERNAL",
}


def told(servers: str) -> list[set[tuple[str, int]]]:
    """The brokers' addresses by Metadata, DescribeCluster and FindCoordinator (two forms)."""
    with RawClient(servers) as client:
        metadata = decode(MetadataResponse, 12, client.exchange(3, 12, encode(MetadataRequest(topics=None), 12)))
        cluster = decode(DescribeClusterResponse, 1, client.exchange(60, 1, encode(DescribeClusterRequest(), 1)))
        asked = FindCoordinatorRequest(key="g", coordinator_keys=["g"])
        one = decode(FindCoordinatorResponse, 3, client.exchange(10, 3, encode(asked, 3)))
        many = decode(FindCoordinatorResponse, 4, client.exchange(10, 4, encode(asked, 4)))
    return [
        {(node.host, node.port) for node in nodes}
        for nodes in (metadata.brokers, cluster.brokers, [one], many.coordinators)
    ]


@pytest.mark.behaviour("MD-11", "CL-1", "FC-9")
def test_clients_are_told_the_address_of_the_listener_that_they_came_in_on():
    advertised = "INTERNAL://kafka:19092,EXTERNAL://localhost:9092"
    with KafkaStub(config={**TWO, "advertised.listeners": advertised}) as stub:
        assert stub.bootstrap_servers == stub.bootstrap_servers_of("INTERNAL") == "kafka:19092"
        assert stub.bootstrap_servers_of("EXTERNAL") == "localhost:9092"
        internal, external = stub.ports
        assert told(f"127.0.0.1:{internal}") == [{("kafka", 19092)}] * 4
        assert told(f"127.0.0.1:{external}") == [{("localhost", 9092)}] * 4
        with pytest.raises(KeyError):
            stub.bootstrap_servers_of("ELSEWHERE")


def test_a_port_that_is_not_given_is_the_one_that_is_bound():
    with KafkaStub(config=TWO) as stub:
        internal, external = stub.ports
        assert told(f"127.0.0.1:{external}") == [{("127.0.0.1", external)}] * 4
        assert stub.bootstrap_servers_of("INTERNAL") == f"127.0.0.1:{internal}"


def test_clients_of_both_listeners_share_one_broker():
    with KafkaStub(topics={"orders": 1}, config={**TWO, "group.initial.rebalance.delay.ms": 0}) as stub:
        producer = Producer({"bootstrap.servers": stub.bootstrap_servers_of("INTERNAL")})
        producer.produce("orders", value="two teapots")
        producer.flush()
        consumer = Consumer(
            {
                "bootstrap.servers": stub.bootstrap_servers_of("EXTERNAL"),
                "group.id": "g",
                "auto.offset.reset": "earliest",
            }
        )
        consumer.subscribe(["orders"])
        message = consumer.poll(30)
        consumer.close()
        assert message is not None
        assert message.value() == b"two teapots"


def test_a_listener_that_is_not_advertised_has_no_brokers_to_tell():
    with KafkaStub(topics={"orders": 1}, config={**TWO, "advertised.listeners": "INTERNAL://kafka:1"}) as stub:
        metadata, cluster, one, many = told(f"127.0.0.1:{stub.ports[1]}")
        assert metadata == cluster == set()
        assert one == many == {("", -1)}


def test_the_advertised_address_can_be_set_after_the_start():
    with KafkaStub() as stub:
        address = stub.bootstrap_servers
        stub.advertise("localhost:19092")
        assert stub.bootstrap_servers == "localhost:19092"
        assert told(address) == [{("localhost", 19092)}] * 4
        stub.advertise("PLAINTEXT://[::1]:0")
        assert told(address) == [{("::1", stub.port)}] * 4
        for wrong in ("nowhere", "OTHER://h:1", "PLAINTEXT://0.0.0.0:1"):
            with pytest.raises(ConfigError):
                stub.advertise(wrong)
        assert told(address) == [{("::1", stub.port)}] * 4


def test_of_several_listeners_one_is_advertised_anew():
    with KafkaStub(config=TWO) as stub:
        internal, external = stub.ports
        with pytest.raises(ConfigError, match="EXTERNAL"):
            stub.advertise("h:1")
        stub.advertise("EXTERNAL://h:1")
        assert told(f"127.0.0.1:{external}") == [{("h", 1)}] * 4
        assert told(f"127.0.0.1:{internal}") == [{("127.0.0.1", internal)}] * 4


@pytest.mark.parametrize("host", ["", "0.0.0.0"])
def test_every_address_of_the_machine(host: str):
    """Of no host Kafka tells the machine's name."""
    config = {"listeners": f"PLAINTEXT://{host}:0"}
    if host:
        config["advertised.listeners"] = "PLAINTEXT://localhost:0"
    with KafkaStub(config=config) as stub:
        name = "localhost" if host else socket.gethostname()
        assert told(f"127.0.0.1:{stub.port}") == [{(name, stub.port)}] * 4
        assert stub.bootstrap_servers == f"{name}:{stub.port}"


def test_a_process_honours_the_listeners_of_its_file(tmp_path: Path):
    path = tmp_path / "server.properties"
    path.write_text("\n".join(f"{key}={value}" for key, value in TWO.items()))
    with Serving("--config-file", str(path), port=None) as process:
        internal, external = (int(one.rpartition(":")[2]) for one in process.ready_line.split()[3].split(","))
        assert told(f"127.0.0.1:{internal}")[0] == {("127.0.0.1", internal)}
        assert told(f"127.0.0.1:{external}")[0] == {("127.0.0.1", external)}
        assert process.stderr == ""


def test_a_node_with_another_id_leads_its_partitions():
    """Requests were once taken for node 1's, whatever its id."""
    with KafkaStub(topics={"orders": 1}, config={"node.id": 7}) as stub:
        producer = Producer({"bootstrap.servers": stub.bootstrap_servers, "message.timeout.ms": 60000})
        failures = []
        producer.produce("orders", value="x", on_delivery=lambda error, _: failures.append(error))
        producer.flush()
        assert failures == [None]


def test_every_listener_is_closed():
    with KafkaStub(config=TWO) as stub:
        ports = stub.ports
        told(f"127.0.0.1:{ports[0]}")
    for port in ports:
        with pytest.raises(ConnectionRefusedError):
            RawClient(f"127.0.0.1:{port}")
