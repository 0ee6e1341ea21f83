"""What passes: whole frames, pieces of them, large ones, answers in their order, and clients that do not read."""

from __future__ import annotations

import os
import socket
import struct
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkastub import KafkaProxy, KafkaStub
from kafkastub.client import Client
from kafkastub.client.records import produce, read
from kafkawire.api import ApiKey
from kafkawire.catalogue import response_class
from kafkawire.codec import decode, encode
from kafkawire.framing import frame
from kafkawire.header import is_flexible, request_header, response_header_size
from kafkawire.messages.api_versions_request import ApiVersionsRequest
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.list_groups_request import ListGroupsRequest
from kafkawire.messages.metadata_request import MetadataRequest
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.records import NewRecord, build_batch
from kafkawire.schema import Message
from tests.rawclient import RawClient
from tests.waiting import SECONDS, until


@pytest.fixture(scope="module")
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"t": 1, "large": 1}, config={"message.max.bytes": 1 << 26}) as running:
        yield running


@pytest.fixture(scope="module", params=["watched", "unwatched"])
def proxy(request: pytest.FixtureRequest, stub: KafkaStub) -> Iterator[KafkaProxy]:
    with KafkaProxy(stub.bootstrap_servers, journal=request.param == "watched") as running:
        yield running


def asked(request: Message, version: int, number: int) -> bytes:
    flexible = is_flexible(type(request), version)
    return frame(request_header(request.API_KEY, version, number, "raw", flexible), encode(request, version))


def produced(acks: int, version: int = 9, value: bytes = b"v", topic: str = "t") -> ProduceRequest:
    data = PartitionProduceData(index=0, records=build_batch([NewRecord(None, value, 0)]))
    return ProduceRequest(acks=acks, timeout_ms=1000, topic_data=[TopicProduceData(name=topic, partition_data=[data])])


def fetched(version: int, topic: str = "t", upto: int = 1 << 20) -> FetchRequest:
    part = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=upto)
    return FetchRequest(max_wait_ms=0, max_bytes=upto, topics=[FetchTopic(topic=topic, partitions=[part])])


def read_frames(sock: socket.socket, count: int) -> list[bytes]:
    with sock.makefile("rb") as stream:
        found = []
        for _ in range(count):
            size = stream.read(4)
            assert len(size) == 4, "the connection has ended"
            found.append(stream.read(int.from_bytes(size)))
        return found


ONES: list[tuple[Message, int]] = [
    (ApiVersionsRequest("a", "1"), 3),
    (ApiVersionsRequest("a", "1"), 0),
    (MetadataRequest(topics=[]), 4),
    (MetadataRequest(topics=None), 12),
    (FindCoordinatorRequest(key="g", coordinator_keys=["g"]), 2),
    (FindCoordinatorRequest(key="g", coordinator_keys=["g", "h"]), 4),
    (ListGroupsRequest(), 4),
    (produced(1, 3), 3),
    (produced(-1), 9),
    (produced(-1, 11), 11),
    (fetched(4), 4),
    (fetched(12), 12),
]


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.sampled_from(ONES), st.booleans()), min_size=1, max_size=12),
    st.lists(st.integers(1, 400), max_size=8),
)
def test_whatever_pieces_requests_come_in_each_is_answered_in_its_turn(
    proxy: KafkaProxy, chosen: list[tuple[tuple[Message, int], bool]], cuts: list[int]
) -> None:
    """With those between them that have no answer."""
    sent, wanted = b"", []
    for number, ((request, version), silent) in enumerate(chosen):
        if silent:
            sent += asked(produced(0, version=9), 9, 10_000 + number)
        sent += asked(request, version, number)
        wanted.append((request.API_KEY, version))
    with socket.create_connection((proxy.host, proxy.port), SECONDS) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        at = 0
        for cut in cuts:
            sock.sendall(sent[at : at + cut])
            at += cut
        sock.sendall(sent[at:])
        answers = read_frames(sock, len(wanted))
    for number, ((key, version), answer) in enumerate(zip(wanted, answers, strict=True)):
        assert int.from_bytes(answer[:4]) == number
        cls = response_class(key)
        body = answer[response_header_size(key, is_flexible(cls, version)) :]
        found: Any = decode(cls, version, body)
        assert getattr(found, "error_code", 0) == 0
        if key == ApiKey.METADATA:
            assert [(one.host, one.port) for one in found.brokers] == [(proxy.host, proxy.port)]


@pytest.mark.parametrize("size", [1 << 10, 1 << 20, 20 << 20])
def test_large_requests_and_answers_pass(proxy: KafkaProxy, size: int) -> None:
    value = os.urandom(size)
    with Client(proxy.bootstrap_servers) as client:
        offset, _ = produce(client, "large", 0, [NewRecord(None, value, 0)])
        found = read(client, "large", 0, offset)
    assert [one.value for one in found] == [value]


def test_a_large_answer_of_a_version_that_may_name_brokers_passes(proxy: KafkaProxy, stub: KafkaStub) -> None:
    """Fetch 17: its end is looked for while it passes."""
    with Client(proxy.bootstrap_servers) as client:
        value = os.urandom(3 << 20)
        offset, _ = produce(client, "large", 0, [NewRecord(None, value, 0)])
        topics = client.ask(MetadataRequest(topics=None)).topics
        (topic_id,) = [one.topic_id for one in topics if one.name == "large"]
        request = fetched(17, upto=1 << 30)
        request.topics[0].partitions[0].fetch_offset = offset  # there may be more than fits in front of it
        request.topics = [FetchTopic(topic_id=topic_id, partitions=request.topics[0].partitions)]
        answer = client.ask(request, version=17)
        (part,) = answer.responses[0].partitions
        assert value in bytes(part.records)


def test_bytes_that_are_no_frame_get_what_the_broker_says_to_them(proxy: KafkaProxy) -> None:
    for sent in (b"GET / HTTP/1.1\r\n\r\n", b"\xff\xff\xff\xff", b"\x00\x00\x00\x02\x00\x03", b"\x16\x03\x01\x02\x00"):
        with socket.create_connection((proxy.host, proxy.port), SECONDS) as sock:
            sock.sendall(sent + bytes(200))
            with suppress(ConnectionResetError):
                assert sock.recv(100) == b""


def test_an_api_that_nobody_knows_is_for_the_broker_to_refuse(proxy: KafkaProxy) -> None:
    with RawClient(proxy.bootstrap_servers) as client:
        client.send(999, 0, b"")
        assert client.receive() is None


def test_a_version_that_would_have_to_be_understood_and_is_not_does_not_pass(proxy: KafkaProxy) -> None:
    with RawClient(proxy.bootstrap_servers) as client:
        client.send(ApiKey.METADATA, 99, b"", flexible=True)
        assert client.receive() is None


def test_what_was_sent_before_the_client_has_closed_is_done(proxy: KafkaProxy) -> None:
    with Client(proxy.bootstrap_servers) as client:
        before = len(read(client, "t", 0))
    with socket.create_connection((proxy.host, proxy.port), SECONDS) as sock:
        sock.sendall(b"".join(asked(produced(0), 9, number) for number in range(50)))
    with Client(proxy.bootstrap_servers) as client:
        until(lambda: len(read(client, "t", 0)) == before + 50, "records of a producer with acks=0 that has gone")


def test_what_was_sent_before_the_broker_was_reached_is_done(stub: KafkaStub) -> None:
    with KafkaProxy(stub.bootstrap_servers, journal=False) as proxy:
        before = len(proxy.records("t"))
        for _ in range(20):
            with socket.create_connection((proxy.host, proxy.port), SECONDS) as sock:
                sock.sendall(b"".join(asked(produced(0), 9, number) for number in range(5)))
        until(lambda: len(proxy.records("t")) == before + 100, "records of producers that came and went")


def test_a_client_that_half_closes_gets_its_answers(proxy: KafkaProxy) -> None:
    with socket.create_connection((proxy.host, proxy.port), SECONDS) as sock:
        sock.sendall(asked(MetadataRequest(topics=None), 12, 1))
        sock.shutdown(socket.SHUT_WR)
        assert sock.recv(4)


def test_who_does_not_read_costs_little(stub: KafkaStub) -> None:
    """The answers that a client does not read stay with the broker, as they would directly."""
    with KafkaProxy(stub.bootstrap_servers, journal=False) as proxy:
        with Client(proxy.bootstrap_servers) as client:
            produce(client, "large", 0, [NewRecord(None, os.urandom(16 << 20), 0)])
        clients = [socket.create_connection((proxy.host, proxy.port), SECONDS) for _ in range(20)]
        for one in clients:
            one.sendall(b"".join(asked(fetched(12, "large", 1 << 30), 12, number) for number in range(8)))
        inner = proxy._proxy()

        def waiting() -> list[int]:
            return [one.transport.get_write_buffer_size() for one in list(inner.clients)]

        until(lambda: sum(size > 0 for size in waiting()) == 20, "answers that wait")
        time.sleep(0.5)
        assert max(waiting()) < 2 << 20
        for one in clients:
            one.close()


def test_requests_that_a_broker_does_not_read_cost_little() -> None:
    """A broker that accepts and reads nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor() as pool:
        from kafkastub.proxy.proxy import Proxy

        with KafkaStub() as stub, KafkaProxy(stub.bootstrap_servers, journal=False) as running:
            inner: Proxy = running._proxy()
            running._thread.call(lambda: setattr(inner.places[0], "port", server.getsockname()[1]))
            with socket.create_connection((running.host, running.port), SECONDS) as sock:
                accepted = pool.submit(server.accept)
                sock.settimeout(1)
                sent = 0
                big = asked(produced(0, value=bytes(1 << 20)), 9, 1)
                with suppress(TimeoutError):
                    while sent < 100:
                        sock.sendall(big)
                        sent += 1
                assert sent < 30
                accepted.result()[0].close()


def test_thousands_of_connections(stub: KafkaStub) -> None:
    from kafkastub.server.descriptors import raise_limit

    raise_limit()
    with KafkaProxy(stub.bootstrap_servers, journal=False) as proxy:
        clients = []
        try:
            for _ in range(1500):
                clients.append(socket.create_connection((proxy.host, proxy.port), SECONDS))
            for number, one in enumerate(clients):
                one.sendall(asked(ListGroupsRequest(), 4, number))
            for number, one in enumerate(clients):
                (answer,) = read_frames(one, 1)
                assert struct.unpack(">i", answer[:4])[0] == number
        finally:
            for one in clients:
                one.close()
        until(lambda: not proxy._proxy().clients, "connections that have gone")


def test_closing_lets_what_is_under_way_be_answered(stub: KafkaStub) -> None:
    with ThreadPoolExecutor() as pool, stub.faults.add(api="ListGroups", delay_ms=300) as late:
        proxy = KafkaProxy(stub.bootstrap_servers, drain=SECONDS).start()
        client = RawClient(proxy.bootstrap_servers)
        answer = pool.submit(client.exchange, ApiKey.LIST_GROUPS, 4, encode(ListGroupsRequest(), 4), True)
        late.wait(timeout=SECONDS)
        proxy.close()
        assert answer.result(SECONDS)
        assert client.receive() is None
        client.close()
