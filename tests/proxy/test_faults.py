"""What is the proxy's own about faults: fetch sessions, topics by ids, answers in their order, what holds cost."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from kafkastub import KafkaProxy, KafkaStub, NotInFront
from kafkastub.client import Client
from kafkawire.api import ApiKey
from kafkawire.messages.list_groups_request import ListGroupsRequest
from kafkawire.messages.metadata_request import MetadataRequest
from tests.proxy.test_passing import asked, produced, read_frames
from tests.rawclient import RawClient
from tests.waiting import SECONDS, until


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"t": 2, "u": 1}) as running:
        yield running


@pytest.fixture
def proxy(stub: KafkaStub) -> Iterator[KafkaProxy]:
    with KafkaProxy(stub.bootstrap_servers) as running:
        yield running


def test_a_rule_about_a_topic_meets_a_fetch_session_that_is_older(proxy: KafkaProxy) -> None:
    """The client names nothing any more, and by id before that."""
    producer = Producer({"bootstrap.servers": proxy.bootstrap_servers})
    consumer = Consumer(
        {"bootstrap.servers": proxy.bootstrap_servers, "group.id": "g", "fetch.wait.max.ms": 20, "log_level": 2}
    )
    consumer.assign([TopicPartition("t", 0, 0), TopicPartition("t", 1, 0), TopicPartition("u", 0, 0)])
    producer.produce("t", b"1", partition=0)
    producer.flush(SECONDS)
    until(lambda: consumer.poll(0.1), "a record")
    with proxy.faults.add(api="Fetch", topic="u", error="NOT_LEADER_OR_FOLLOWER", times=3) as fault:
        until(lambda: consumer.poll(0.02) is None and fault.hits == 3, "a fetch session that meets the rule")
    producer.produce("u", b"2", partition=0)
    producer.flush(SECONDS)
    until(lambda: consumer.poll(0.1), "another record")
    consumer.close()
    fetches = proxy.journal.requests(api="Fetch", error="NOT_LEADER_OR_FOLLOWER")
    assert len(fetches) == 3


def test_answers_keep_their_order_around_an_error(proxy: KafkaProxy) -> None:
    with proxy.faults.add(api="ListGroups", every=2, error="COORDINATOR_NOT_AVAILABLE"):
        sent = b"".join(
            asked(ListGroupsRequest() if number % 3 else MetadataRequest(topics=[]), 4, number) for number in range(60)
        )
        with socket.create_connection((proxy.host, proxy.port), SECONDS) as sock:
            sock.sendall(sent)
            answers = read_frames(sock, 60)
    assert [int.from_bytes(answer[:4]) for answer in answers] == list(range(60))
    errors = [int.from_bytes(answer[9:11]) for number, answer in enumerate(answers) if number % 3]
    assert errors == [0, 15] * 20


def test_what_comes_before_a_connection_that_ends_is_answered_and_nothing_behind_it_is_done(
    stub: KafkaStub, proxy: KafkaProxy
) -> None:
    with proxy.faults.add(api="ListGroups", drop="before"):
        sent = b"".join([
            asked(produced(1), 9, 1), asked(ListGroupsRequest(), 4, 2), asked(produced(1), 9, 3),
        ])  # fmt: skip
        with socket.create_connection((proxy.host, proxy.port), SECONDS) as sock:
            sock.sendall(sent)
            (answer,) = read_frames(sock, 1)
            assert int.from_bytes(answer[:4]) == 1
            assert sock.recv(1) == b""
    assert len(stub.records("t", 0)) == 1


def test_a_producer_without_acks_that_meets_an_error_loses_its_connection(proxy: KafkaProxy) -> None:
    with proxy.faults.add(api="Produce", error="NOT_LEADER_OR_FOLLOWER"), RawClient(proxy.bootstrap_servers) as client:
        client.socket.sendall(asked(produced(0), 9, 1))
        assert client.receive() is None


def test_a_client_that_is_held_is_not_read_without_end(proxy: KafkaProxy) -> None:
    with (
        proxy.faults.add(api="ListGroups", hold="before") as fault,
        socket.create_connection((proxy.host, proxy.port), SECONDS) as sock,
        ThreadPoolExecutor() as pool,
    ):
        sock.sendall(asked(ListGroupsRequest(), 4, 0))
        fault.wait(held=1, timeout=SECONDS)
        sock.settimeout(SECONDS)
        behind = asked(produced(1, value=bytes(100_000)), 9, 1) * 200
        sending = pool.submit(sock.sendall, behind)
        (client,) = [one for one in proxy._proxy().clients if one.info.peer.endswith(f":{sock.getsockname()[1]}")]
        until(lambda: not client.is_read, "a client that is not read")
        assert client._held < 2 << 20
        fault.release()
        assert len(read_frames(sock, 201)) == 201
        sending.result(SECONDS)


def test_rules_of_the_whole_answer_go_with_other_addresses(proxy: KafkaProxy) -> None:
    """An answer that is late, throttled, or put together names the proxy all the same."""
    for rule in ({"delay_ms": 1}, {"throttle_time_ms": 7}, {"topic": "t", "error": "LEADER_NOT_AVAILABLE"}):
        with proxy.faults.add(api="Metadata", **rule) as fault, Client(proxy.bootstrap_servers) as client:
            answer: Any = client.ask(MetadataRequest(topics=None), version=12)
            assert [(one.host, one.port) for one in answer.brokers] == [(proxy.host, proxy.port)]
            assert fault.hits == 1 or rule.get("topic")


def test_an_api_that_the_cluster_does_not_have_cannot_be_met() -> None:
    from kafkastub import FaultError

    with (
        KafkaStub(as_version="2.8") as old,
        KafkaProxy(old.bootstrap_servers) as proxy,
        pytest.raises(FaultError, match="does not serve it"),
    ):
        proxy.faults.add(api=ApiKey.CONSUMER_GROUP_HEARTBEAT, error=16)


@pytest.mark.parametrize(
    "name", ["clock", "snapshot", "groups", "share_groups", "transactions", "nodes", "quotas", "metrics"]
)
def test_what_only_a_stub_can_do_is_refused_in_python(proxy: KafkaProxy, name: str) -> None:
    with pytest.raises(NotInFront, match=f"^{name} needs a stub, and this is a proxy in front of a cluster: "):
        getattr(proxy, name)
    with pytest.raises(AttributeError, match="has no attribute 'clok'"):
        _ = proxy.clok


async def test_it_works_in_an_async_with(stub: KafkaStub) -> None:
    async with KafkaProxy(stub.bootstrap_servers) as proxy:
        assert proxy.ports
    assert "not running" in repr(proxy)
    proxy.close()
