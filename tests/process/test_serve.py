"""`kafkastub serve`: what it says, where it listens, how it ends."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from signal import SIGINT, SIGTERM

import pytest

from kafkawire.codec import encode
from kafkawire.header import request_header
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafkawire.messages.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from kafkawire.messages.metadata_request import MetadataRequest
from tests.ports import reserved_port
from tests.process.serving import SOON, Serving, metadata, refused
from tests.rawclient import RawClient

SIGNALS = [pytest.param(SIGTERM, id="SIGTERM"), pytest.param(SIGINT, id="SIGINT")]


def test_the_ready_line_is_all_that_standard_output_has() -> None:
    with Serving() as process:
        assert process.ready_line == f"kafkastub ready on 127.0.0.1:{process.port} (profile kips)\n"
        assert [(node.host, node.port) for node in process.metadata().brokers] == [("127.0.0.1", process.port)]
        _, _, rest = process.stop(SIGTERM)
        assert rest == ""
        assert process.stderr == ""


def test_the_profile_is_named() -> None:
    with Serving("--profile", "kafka") as process:
        assert process.profile == "kafka"


def test_port_0_takes_any_free_port() -> None:
    with Serving() as one, Serving("--port", "0") as other:
        assert one.port != other.port
        assert metadata(one.servers).cluster_id != metadata(other.servers).cluster_id


def test_a_given_port_is_listened_on() -> None:
    with reserved_port() as port, Serving("--port", str(port)) as process:
        assert process.port == port
        assert process.metadata().brokers[0].port == port


def test_all_addresses_of_the_machine_can_be_listened_on() -> None:
    with Serving("--host", "0.0.0.0") as process:
        assert process.host == "0.0.0.0"
        assert [(node.host, node.port) for node in process.metadata().brokers] == [("127.0.0.1", process.port)]


def test_an_ipv6_address_is_written_in_brackets() -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    with Serving("--host", "::1") as process:
        assert process.host == "[::1]"
        with socket.create_connection(("::1", process.port)):
            pass


def test_clients_are_told_the_advertised_address() -> None:
    with Serving("--advertised", "broker.example:19092") as process:
        assert [(node.host, node.port) for node in process.metadata().brokers] == [("broker.example", 19092)]


def test_topics_are_there_from_the_start() -> None:
    with Serving("--topic", "orders:3", "audit:1", "--topic", "with.dots_and-dashes:2") as process:
        topics = {topic.name: len(topic.partitions) for topic in process.metadata().topics}
        assert topics == {"orders": 3, "audit": 1, "with.dots_and-dashes": 2}


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_it_with_status_0_at_once(number: int) -> None:
    with Serving() as process:
        status, seconds, _ = process.stop(number)
        assert status == 0
        assert seconds < SOON
        assert process.stderr == ""


@pytest.fixture
def busy() -> Iterator[tuple[Serving, list[RawClient]]]:
    """A process with idle clients, a parked join, a parked fetch, half a frame, and a client that does not read."""
    with Serving("--topic", *(f"{'long' * 50}-{number}:50" for number in range(20))) as process, ExitStack() as stack:
        clients = [stack.enter_context(closing(RawClient(process.servers))) for _ in range(6)]
        protocol = JoinGroupRequestProtocol(name="range", metadata=b"")
        join = JoinGroupRequest(
            group_id="parked", session_timeout_ms=10000, rebalance_timeout_ms=60000, protocol_type="consumer",
            protocols=[protocol],
        )  # fmt: skip
        clients[1].send(11, 3, encode(join, 3))
        partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
        fetch = FetchRequest(
            max_wait_ms=60000, min_bytes=1, max_bytes=1 << 20, session_epoch=-1,
            topics=[FetchTopic(topic=f"{'long' * 50}-0", partitions=[partition])],
        )  # fmt: skip
        clients[2].send(1, 11, encode(fetch, 11))
        clients[3].socket.sendall(b"\x00\x00\x01\x00half")
        everything = encode(MetadataRequest(topics=None), 4)
        for _ in range(300):
            clients[4].send(3, 4, everything)
        clients[5].exchange(3, 4, everything)
        yield process, clients


@pytest.mark.parametrize("number", SIGNALS)
def test_clients_at_work_do_not_hold_up_the_end(busy: tuple[Serving, list[RawClient]], number: int) -> None:
    process, clients = busy
    status, seconds, _ = process.stop(number)
    assert status == 0
    assert seconds < SOON
    assert process.stderr == ""
    assert all(client.receive() is None for client in clients[:4])
    with pytest.raises(ConnectionRefusedError):
        RawClient(process.servers)


def test_a_client_that_asks_for_much_and_reads_nothing_holds_nobody_up(busy: tuple[Serving, list[RawClient]]) -> None:
    """Replies to all that had arrived were once made in one go, before anybody else was served."""
    process, clients = busy
    clients[4].socket.settimeout(0.2)
    much = request(3, 4, encode(MetadataRequest(topics=None), 4)) * 1_000_000
    with pytest.raises(TimeoutError):
        clients[4].socket.sendall(much)
    process.metadata("others")
    status = Path(f"/proc/{process.process.pid}/status").read_text()
    [resident] = [int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")]
    assert resident < 100_000


def request(key: int, version: int, body: bytes) -> bytes:
    data = request_header(key, version, 1, "raw", False) + body
    return struct.pack(">i", len(data)) + data


def test_a_second_signal_while_it_ends_does_no_harm() -> None:
    with Serving() as process, closing(RawClient(process.servers)):
        process.process.send_signal(SIGTERM)
        status, _, _ = process.stop(SIGINT)
        assert status == 0
        assert process.stderr == ""


def test_a_port_that_is_taken_is_one_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        status, said = refused("--port", str(port))
    assert status != 0
    assert said.count("\n") == 1
    assert f"port {port} on 127.0.0.1 is taken" in said


@pytest.mark.parametrize("host", ["no-such-host.invalid", "192.0.2.1"], ids=["unknown", "of another machine"])
def test_a_host_that_cannot_be_listened_on_is_one_sentence(host: str) -> None:
    status, said = refused("--host", host, "--port", "0")
    assert status != 0
    assert said.startswith(f"kafkastub: cannot listen on {host}:0: ")
    assert said.count("\n") == 1


def test_it_serves_although_nobody_reads_its_standard_output() -> None:
    with reserved_port() as port, Serving("--port", str(port), deaf=True) as process:
        process.await_answer(port)
        assert process.stop(SIGTERM)[0] == 0
        assert process.stderr == ""


def test_what_is_no_kafka_request_is_logged_with_its_peer_and_disturbs_nobody() -> None:
    with Serving() as process:
        with closing(RawClient(process.servers)) as client:
            port = client.socket.getsockname()[1]
            client.socket.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert client.receive() is None
        with closing(RawClient(process.servers)) as client:
            client.socket.sendall(struct.pack(">ihhih", 10, 999, 0, 1, -1))
            assert client.receive() is None
        process.metadata()
        lines = process.stderr.splitlines()
        assert len(lines) == 2
        assert f"127.0.0.1:{port}" in lines[0]
        assert "999" in lines[1]


def test_it_starts_again_at_once_on_the_port_that_it_just_left() -> None:
    """Connections of the first are in TIME_WAIT then, for a minute: it says that the port is taken, or it starts."""
    with reserved_port() as port:
        with Serving("--port", str(port)) as first, closing(RawClient(first.servers)):
            first.metadata()
            first.stop(SIGTERM)
        with Serving("--port", str(port)) as second:
            second.metadata()
