"""Nodes that come, go, stop and come back: a proxy's clients see what those of the cluster see."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient

from kafkastub import KafkaProxy, KafkaStub
from kafkastub.client import Client
from kafkastub.proxy.places import Place, Unanswered
from kafkawire.messages.metadata_request import MetadataRequest
from tests.conftest import CONFIG
from tests.waiting import SECONDS, until


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"orders": 6}, nodes=3, config=CONFIG) as running:
        yield running


@pytest.fixture
def proxy(stub: KafkaStub) -> Iterator[KafkaProxy]:
    with KafkaProxy(stub.bootstrap_servers) as running:
        yield running


def brokers(servers: str) -> dict[int, tuple[str, int]]:
    with Client(servers) as client:
        answer = client.ask(MetadataRequest(topics=[]))
    return {one.node_id: (one.host, one.port) for one in answer.brokers}


def is_refused(address: tuple[str, int]) -> bool:
    with suppress(ConnectionRefusedError), socket.create_connection(address, SECONDS):
        return False
    return True


def test_each_node_has_a_port_here(stub: KafkaStub, proxy: KafkaProxy) -> None:
    found = brokers(proxy.bootstrap_servers)
    assert sorted(found) == [1, 2, 3]
    assert sorted(port for _, port in found.values()) == sorted(proxy.ports)
    assert not set(proxy.ports) & set(stub.ports)
    assert proxy.bootstrap_servers == ",".join(f"127.0.0.1:{port}" for port in proxy.ports)


def test_a_rule_of_one_node_is_of_that_node(proxy: KafkaProxy) -> None:
    with proxy.faults.add(api="Metadata", node=2, drop="before") as fault:
        found = brokers(f"127.0.0.1:{proxy.ports[0]}")
        with suppress(Exception):
            brokers(f"127.0.0.1:{found[2][1]}")
        assert fault.hits == 1


def test_from_one_address_all_nodes_are_found(stub: KafkaStub) -> None:
    with KafkaProxy(f"127.0.0.1:{stub.ports[2]}") as proxy:
        assert len(proxy.ports) == 3


def test_a_node_that_is_new_has_a_port_when_somebody_hears_of_it(stub: KafkaStub, proxy: KafkaProxy) -> None:
    node = stub.add_node()
    found = brokers(proxy.bootstrap_servers)
    assert sorted(found) == [1, 2, 3, node.id]
    assert found[node.id][1] == proxy.ports[3]
    assert sorted(brokers(f"127.0.0.1:{proxy.ports[3]}")) == [1, 2, 3, node.id]


def test_a_node_that_has_gone_refuses_connections_here_too(stub: KafkaStub, proxy: KafkaProxy) -> None:
    found = brokers(proxy.bootstrap_servers)
    stub.nodes[2].stop()
    assert sorted(brokers(f"127.0.0.1:{found[1][1]}")) == [1, 3]
    until(lambda: is_refused(found[2]), "a port that is closed")
    stub.nodes[2].start()
    until(lambda: not is_refused(found[2]), "a port that is open again")
    until(lambda: brokers(f"127.0.0.1:{found[2][1]}") == found, "the same addresses")


def test_a_connection_ends_when_its_node_does(stub: KafkaStub, proxy: KafkaProxy) -> None:
    found = brokers(proxy.bootstrap_servers)
    with socket.create_connection(found[3], SECONDS) as sock:
        until(lambda: any(one.broker for one in proxy._proxy().clients), "a connection")
        stub.nodes[3].stop()
        with suppress(ConnectionResetError):
            assert sock.recv(1) == b""


def test_who_waits_for_a_node_that_does_not_answer_waits_as_long_as_the_first(
    proxy: KafkaProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each would hold a connection as long as the network takes: a host that drops what it is sent says nothing."""
    waiting, over = [], threading.Event()

    async def connect(place: Place, make: object) -> None:
        waiting.append(place)
        if len(waiting) > 1:
            await asyncio.Event().wait()
        await asyncio.to_thread(over.wait)
        raise Unanswered("no connection")

    monkeypatch.setattr(proxy._proxy(), "connect", connect)
    with ExitStack() as clients:
        at = proxy.host, proxy.ports[1]
        socks = [clients.enter_context(socket.create_connection(at, SECONDS)) for _ in range(5)]
        until(lambda: len(waiting) == 5, "five that wait")
        over.set()
        for sock in socks:
            with suppress(ConnectionResetError):
                assert sock.recv(1) == b""
        until(lambda: not proxy._proxy().clients, "nobody who waits")


def test_clients_go_on_while_nodes_stop_and_come_back(stub: KafkaStub, proxy: KafkaProxy) -> None:
    sent: list[bytes] = []
    producer = Producer({"bootstrap.servers": proxy.bootstrap_servers, "acks": "all", "enable.idempotence": True})
    for node in (1, 2, 3):
        stub.nodes[node].stop()
        for number in range(60):
            value = f"{node}/{number}".encode()
            producer.produce("orders", value, partition=number % 6)
            sent.append(value)
        assert producer.flush(5) >= 0
        stub.nodes[node].start()
        assert producer.flush(SECONDS) == 0
    consumer = Consumer(
        {"bootstrap.servers": proxy.bootstrap_servers, "group.id": "g", "auto.offset.reset": "earliest"}
    )
    consumer.subscribe(["orders"])
    read: list[bytes] = []

    def some() -> bool:
        message = consumer.poll(0.1)
        if message is not None and message.error() is None:
            read.append(message.value())
        return len(read) >= len(sent)

    until(some, lambda: f"{len(read)} records of {len(sent)}")
    consumer.close()
    assert sorted(read) == sorted(sent)


def test_leaders_that_move_are_found(stub: KafkaStub, proxy: KafkaProxy) -> None:
    producer = Producer({"bootstrap.servers": proxy.bootstrap_servers, "acks": "all"})
    for node in (1, 2, 3):
        stub.move_leader("orders", 0, node)
        producer.produce("orders", str(node).encode(), partition=0)
        assert producer.flush(SECONDS) == 0
    assert [one.value for one in proxy.records("orders", 0)] == [b"1", b"2", b"3"]


def test_a_cluster_that_is_asked_what_it_is_names_the_proxy(proxy: KafkaProxy) -> None:
    admin = AdminClient({"bootstrap.servers": proxy.bootstrap_servers})
    nodes = admin.describe_cluster(request_timeout=SECONDS).result().nodes
    assert sorted(node.port for node in nodes) == sorted(proxy.ports)


def test_a_proxy_with_fixed_ports_gives_them_in_order(stub: KafkaStub) -> None:
    first = _three_in_a_row()
    with KafkaProxy(stub.bootstrap_servers, port=first, advertised="localhost:50000") as proxy:
        assert proxy.ports == [first, first + 1, first + 2]
        assert proxy.bootstrap_servers == "localhost:50000,localhost:50001,localhost:50002"


def _three_in_a_row() -> int:
    """The first of three ports that nobody has."""
    for first in range(15_000, 32_000, 7):
        with suppress(OSError), ExitStack() as taken:
            for port in range(first, first + 3):
                taken.enter_context(socket.create_server(("127.0.0.1", port)))
            return first
    raise AssertionError("there are no free ports")
