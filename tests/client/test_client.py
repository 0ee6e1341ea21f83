"""The outbound client: connecting, negotiating, routing, and what it says when something is wrong."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from kafkastub import KafkaStub
from kafkastub.client import (
    BrokerError,
    Client,
    Connection,
    ConnectionClosed,
    NotABroker,
    NotListening,
    TimedOut,
    Unsupported,
    plain,
)
from kafkastub.client.groups import commit, describe, list_groups, offsets
from kafkastub.client.topics import EARLIEST, LATEST, list_offsets, names
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.list_groups_request import ListGroupsRequest
from kafkawire.messages.metadata_request import MetadataRequest
from kafkawire.messages.offset_delete_request import OffsetDeleteRequest


@contextmanager
def somebody(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server that does `answer` with each connection: its address."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    answer(connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
    thread.join()


def say(data: bytes) -> Callable[[socket.socket], None]:
    def answer(connection: socket.socket) -> None:
        connection.recv(1000)
        connection.sendall(data)

    return answer


def be_silent(connection: socket.socket) -> None:
    while connection.recv(1000):
        pass


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"orders": 3}) as stub:
        yield stub


def test_nobody_listens():
    with pytest.raises(NotListening, match=r"^nobody listens at 127\.0\.0\.1:1: connection refused$"):
        Client("127.0.0.1:1").nodes()


@pytest.mark.parametrize("data", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x15\x03\x01\x00\x02\x02\x46", b"\0\0\0\2hi"])
def test_somebody_else_listens(data: bytes):
    with somebody(say(data)) as address, pytest.raises(NotABroker, match=f"{address}.* not a Kafka broker"):
        Client(address).nodes()


def test_somebody_hangs_up():
    with somebody(say(b"")) as address, pytest.raises(ConnectionClosed, match=f"{address} closed .* TLS or SASL"):
        Client(address).nodes()


def test_somebody_says_nothing():
    with (
        somebody(be_silent) as address,
        pytest.raises(TimedOut, match=f"^{address} did not answer ApiVersions in time$"),
    ):
        Client(address, timeout=0.3).nodes()


@pytest.mark.parametrize("text", ["", ",", "localhost", "localhost:", ":9092", "localhost:x", "localhost:70000", "a:0"])
def test_what_is_no_address_is_refused(text: str):
    with pytest.raises(ValueError, match="expected HOST:PORT"):
        Client(text)


def test_the_first_that_answers_serves(stub: KafkaStub):
    with Client(f"127.0.0.1:1, {stub.bootstrap_servers}") as client:
        assert [(node.host, node.port) for node in client.nodes()] == [(stub.host, stub.port)]


def test_where_none_answers_each_is_named():
    with pytest.raises(NotListening, match=r"127\.0\.0\.1:1: .*; nobody listens at 127\.0\.0\.1:2"):
        Client(["127.0.0.1:1", "127.0.0.1:2"]).nodes()


@pytest.mark.parametrize("release", ["2.1", "2.3", "2.4", "2.8", "4.3", "4.4"])
def test_the_highest_common_version_is_spoken(release: str):
    with KafkaStub(as_version=release) as stub, Client(stub.bootstrap_servers) as client:
        told = client.connection().negotiate()
        assert client.connection().common_version(ApiKey.METADATA) == told[ApiKey.METADATA][1]
        assert client.ask(MetadataRequest(topics=None)).topics == ()


def test_an_api_that_the_broker_does_not_have():
    with KafkaStub(as_version="2.3") as stub, Client(stub.bootstrap_servers) as client:
        with pytest.raises(Unsupported, match=rf"{stub.bootstrap_servers} does not support OffsetDelete$"):
            client.ask(OffsetDeleteRequest())
        with pytest.raises(ConnectionClosed, match=r"closed the connection instead of answering OffsetDelete$"):
            client.ask(OffsetDeleteRequest(), version=0)
        assert client.nodes()


def test_any_version_and_raw_frames(stub: KafkaStub):
    with Connection(stub.host, stub.port) as connection:
        assert [connection.ask(ListGroupsRequest(), version).error_code for version in range(6)] == [0] * 6
        correlation_id = connection.send_raw(ApiKey.LIST_GROUPS, 0, b"")
        assert connection.receive(correlation_id)[4:] == b"\0\0\0\0\0\0"


def test_requests_can_be_pipelined(stub: KafkaStub):
    with Connection(stub.host, stub.port) as connection:
        sent = [connection.send(ListGroupsRequest(), 0) for _ in range(10)]
        assert [len(connection.receive(number)) for number in sent] == [10] * 10


def test_a_connection_that_was_closed_is_opened_anew(stub: KafkaStub):
    opened = []

    def connector(host: str, port: int, timeout: float) -> socket.socket:
        opened.append(plain(host, port, timeout))
        return opened[-1]  # type: ignore[return-value]

    with Client(stub.bootstrap_servers, connector=connector) as client:
        client.nodes()
        opened[0].shutdown(socket.SHUT_RDWR)
        assert client.nodes()
    assert len(opened) == 2


@contextmanager
def loading_until_it_said_so(stub: KafkaStub, api: str) -> Iterator[None]:
    """The coordinator is loading until the first request of this API was told so."""

    def release() -> None:
        stub.journal.wait_for(api=api, timeout=60)
        stub.expire_offsets_now()  # which finishes loading

    with stub.coordinator_loading():
        thread = threading.Thread(target=release)
        thread.start()
        yield
        thread.join()
    first, *more = stub.journal.requests(api=api)
    assert list(first.error_names) == ["COORDINATOR_LOAD_IN_PROGRESS"]
    assert not more[-1].error_names


def test_a_coordinator_that_loads_is_waited_for(stub: KafkaStub):
    with Client(stub.bootstrap_servers) as client, loading_until_it_said_so(stub, "OffsetCommit"):
        commit(client, "g", {("orders", 0): 0})
        assert offsets(client, "g")["orders", 0].offset == 0


def test_a_coordinator_that_loads_for_too_long(stub: KafkaStub):
    with Client(stub.bootstrap_servers, timeout=2) as client, stub.coordinator_loading():
        client.nodes()
        with pytest.raises(BrokerError) as raised:
            commit(client, "g", {("orders", 0): 0})
        assert raised.value.code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


def test_what_was_said_is_told_where_the_time_is_up_in_the_middle_of_the_last_attempt(stub: KafkaStub):
    """It was "did not answer OffsetCommit in time", although it had answered."""
    with Client(stub.bootstrap_servers, timeout=2) as client, stub.coordinator_loading():
        client.nodes()
        stub.faults.add(api="OffsetCommit", silent=True, after=1)
        with pytest.raises(BrokerError) as raised:
            commit(client, "g", {("orders", 0): 0})
        assert raised.value.code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


def test_a_list_of_groups_waits_for_the_coordinator_too(stub: KafkaStub):
    with Client(stub.bootstrap_servers) as client:
        commit(client, "g", {("orders", 0): 0})
        with loading_until_it_said_so(stub, "ListGroups"):
            assert [listing.group_id for listing in list_groups(client)] == ["g"]


def test_every_node_is_asked_for_what_is_its_own():
    with KafkaStub(topics={"orders": 6}, nodes=3) as stub, Client(stub.bootstrap_servers) as client:
        groups = [f"group-{number}" for number in range(9)]
        for group in groups:
            commit(client, group, {("orders", partition): 0 for partition in range(6)})
        assert {describe(client, group).coordinator.id for group in groups} == {1, 2, 3}
        assert sorted(listing.group_id for listing in list_groups(client)) == groups
        assert list_offsets(client, {("orders", partition): LATEST for partition in range(6)}) == {
            ("orders", partition): 0 for partition in range(6)
        }


def test_leaders_are_asked_for_their_partitions(stub: KafkaStub):
    with Client(stub.bootstrap_servers) as client:
        wanted = {("orders", 0): EARLIEST, ("orders", 2): LATEST}
        assert list_offsets(client, wanted) == {("orders", 0): 0, ("orders", 2): 0}
        with pytest.raises(BrokerError) as refused:
            list_offsets(client, {("orders", 3): LATEST})
    assert refused.value.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize("release", ["2.1", "2.4", "2.8", "3.9", None])
def test_groups_of_any_release_can_be_asked_for(release: str | None):
    with KafkaStub(topics={"orders": 1}, as_version=release) as stub, Client(stub.bootstrap_servers) as client:
        commit(client, "g", {("orders", 0): 7})
        assert offsets(client, "g")["orders", 0].offset == 7
        assert describe(client, "g").state == "Empty"
        assert "orders" in names(client)


def test_a_refusal_reads_as_in_java():
    error = BrokerError(ErrorCode.NON_EMPTY_GROUP)
    assert error.as_java_prints_it == ("org.apache.kafka.common.errors.GroupNotEmptyException: The group is not empty.")
    assert BrokerError(12345).code == ErrorCode.UNKNOWN_SERVER_ERROR


@pytest.mark.oracle
def test_errors_are_called_as_in_java():
    from pathlib import Path

    from kafkastub.client.errors import _MESSAGES, java_class_of, message_of
    from tests.oracle.apache_kafka import run_java

    told = run_java(Path(__file__).with_name("DumpErrors.java")).stdout.splitlines()
    for line in told:
        code, name, message = line.split("|", 2)
        known = ErrorCode(int(code))
        assert java_class_of(known) == name
        if known in _MESSAGES:
            assert message_of(known) == message
