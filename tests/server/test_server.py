"""Connections on a real loop: back-pressure both ways, idle ones, and the end."""

from __future__ import annotations

import asyncio
import logging
import select
import socket
import struct
from collections.abc import Callable, Iterator

import pytest

from kafkastub import KafkaStub
from kafkastub.config import BrokerConfig, Profile
from kafkastub.server import protocol
from kafkastub.server.broker import Broker
from kafkastub.server.logs import library_logger
from kafkastub.server.loops import new_event_loop
from kafkawire.api import ApiKey
from kafkawire.codec import decode, encode
from kafkawire.framing import frame
from kafkawire.header import request_header
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafkawire.messages.heartbeat_request import HeartbeatRequest
from kafkawire.messages.metadata_request import MetadataRequest
from kafkawire.messages.metadata_response import MetadataResponse
from tests.rawclient import RawClient

STUCK = 0.5
"""Seconds without a byte taken from which a broker counts as not reading."""
FLOOD = 64 << 20
"""Bytes that nobody should take who has something better to do; the kernel's buffers take some 6 MB."""


def request(key: int, version: int, correlation_id: int, body: bytes, padding: int = 0) -> bytes:
    """A frame, with so many bytes behind the request (they are ignored)."""
    return frame(request_header(key, version, correlation_id, "raw", False) + body + bytes(padding))


def heartbeat(correlation_id: int, padding: int = 0) -> bytes:
    return request(ApiKey.HEARTBEAT, 3, correlation_id, encode(HeartbeatRequest("g", 1, "m"), 3), padding)


def long_poll(correlation_id: int, wait_ms: int) -> bytes:
    asked = FetchTopic(topic="orders", partitions=[FetchPartition(partition=0, partition_max_bytes=1000)])
    body = encode(FetchRequest(max_wait_ms=wait_ms, min_bytes=1, session_epoch=-1, topics=[asked]), 11)
    return request(ApiKey.FETCH, 11, correlation_id, body)


def metadata(correlation_id: int, padding: int = 0) -> bytes:
    return request(ApiKey.METADATA, 1, correlation_id, encode(MetadataRequest(topics=None), 1), padding)


def send_until_stuck(client: RawClient, make: Callable[[int], bytes], first: int) -> tuple[int, bytes]:
    """Send requests until the broker takes no more: the next number, and what of the last one was not taken."""
    client.socket.setblocking(False)
    number, rest, total = first, b"", 0
    while total < FLOOD:
        _, writable, _ = select.select([], [client.socket], [], STUCK)
        if not writable:
            client.socket.settimeout(60)
            return number, rest
        if not rest:
            rest = make(number)
            number += 1
        sent = client.socket.send(rest)
        total += sent
        rest = rest[sent:]
    raise AssertionError(f"the broker takes {total} bytes and more")


def answered(client: RawClient, count: int) -> list[int]:
    answers = [client.receive() for _ in range(count)]
    return [struct.unpack_from(">i", answer)[0] for answer in answers if answer is not None]


def test_a_client_that_does_not_read_is_not_read():
    """And gets all its answers in their order once it reads; others are served meanwhile."""
    with (
        KafkaStub(topics={f"a-topic-with-a-long-name-{i}": 3 for i in range(100)}) as stub,
        RawClient(stub.bootstrap_servers) as client,
        RawClient(stub.bootstrap_servers) as other,
    ):
        last, rest = send_until_stuck(client, lambda number: metadata(number, padding=4000), 1)
        other.socket.sendall(heartbeat(7))
        assert answered(other, 1) == [7]
        first = client.receive()
        assert first is not None
        assert len(decode(MetadataResponse, 1, first[4:]).topics) == 100
        received = [1, *answered(client, last - 3)]
        client.socket.sendall(rest)
        assert received + answered(client, 1) == list(range(1, last))


def test_a_client_whose_answer_is_not_there_yet_is_not_read_for_ever():
    with (
        KafkaStub(topics={"orders": 1}) as stub,
        RawClient(stub.bootstrap_servers) as client,
        RawClient(stub.bootstrap_servers) as other,
    ):
        client.socket.sendall(long_poll(1, wait_ms=100_000))
        last, rest = send_until_stuck(client, lambda number: heartbeat(number, padding=2000), 2)
        other.socket.sendall(heartbeat(7))
        assert answered(other, 1) == [7]
        stub.clock.advance(seconds=100, timers=True)
        received = answered(client, last - 2)
        client.socket.sendall(rest)
        assert received + answered(client, 1) == list(range(1, last))


def test_a_connection_that_ends_is_one_line_with_who_sent_what(caplog: pytest.LogCaptureFixture):
    with (
        caplog.at_level(logging.INFO, "kafkastub"),
        KafkaStub() as stub,
        RawClient(stub.bootstrap_servers) as client,
    ):
        host, port = client.socket.getsockname()
        client.socket.sendall(heartbeat(1) + frame(heartbeat(2)[4:-2]) + heartbeat(3))
        assert answered(client, 1) == [1]
        assert client.receive() is None
    (line,) = [record.getMessage() for record in caplog.records]
    assert f"{host}:{port}" in line
    assert "Heartbeat v3" in line
    assert "HeartbeatRequest v3: group_instance_id at byte 10: 2 bytes wanted, 0 left" in line


@pytest.fixture(params=[asyncio.new_event_loop, new_event_loop], ids=["asyncio", "default"])
def loop(request: pytest.FixtureRequest) -> Iterator[asyncio.AbstractEventLoop]:
    made = request.param()
    yield made
    made.close()


def test_the_end_is_orderly(loop: asyncio.AbstractEventLoop):
    """Clients of all kinds are cut off, what was answered is sent, and nothing is left on the loop."""

    async def run() -> None:
        broker = Broker(BrokerConfig({}, Profile.named("kips")), library_logger())
        await broker.start(topics={"orders": 1})
        streams = [await asyncio.open_connection("127.0.0.1", broker.port) for _ in range(5)]
        (answered, waiting, half, silent, unread) = streams
        answered[1].write(heartbeat(1) + heartbeat(2))
        assert (await answered[0].readexactly(14))[4:8] == b"\0\0\0\1"
        waiting[1].write(heartbeat(1) + long_poll(2, 100_000) + heartbeat(3))
        half[1].write(heartbeat(1) + b"\0\0\0\x20abc")
        for reader, _ in (waiting, half):
            await reader.readexactly(14)
        unread[1].write(metadata(1) * 1000)
        await broker.stop()
        assert (await answered[0].read())[4:8] == b"\0\0\0\2"
        for reader, _ in (waiting, half, silent):
            assert await reader.read() == b""
        with pytest.raises(OSError):
            await asyncio.open_connection("127.0.0.1", broker.port)
        for _, writer in streams:
            writer.close()
        await asyncio.gather(*(writer.wait_closed() for _, writer in streams), return_exceptions=True)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    async def run_in_time() -> None:
        async with asyncio.timeout(60):
            await run()

    loop.run_until_complete(run_in_time())


def test_what_a_client_does_not_read_is_not_kept_for_ever_when_its_connection_has_ended(
    loop: asyncio.AbstractEventLoop, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(protocol, "_LAST_WORDS_SECONDS", 0.05)

    async def run() -> None:
        broker = Broker(BrokerConfig({}, Profile.named("kips")), library_logger())
        await broker.start(topics={f"a-topic-with-a-long-name-{i}": 3 for i in range(100)})
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.setblocking(False)
            await loop.sock_connect(client, ("127.0.0.1", broker.port))
            await loop.sock_sendall(client, heartbeat(1))
            await loop.sock_recv(client, 14)
            (protocol,) = broker._server.connections
            small = protocol.transport.get_extra_info("socket")
            small.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
            await loop.sock_sendall(client, b"".join(map(metadata, range(50))) + b"\xff" * 4)
            async with asyncio.timeout(60):
                await protocol.gone
        await broker.stop()

    loop.run_until_complete(run())


def test_a_client_that_resets_its_connection_leaves_nothing(caplog: pytest.LogCaptureFixture):
    with KafkaStub(topics={"orders": 1}) as stub, RawClient(stub.bootstrap_servers) as other:
        for data in (b"", heartbeat(1)[:7], long_poll(1, 60_000), long_poll(1, 60_000) + heartbeat(2)):
            with RawClient(stub.bootstrap_servers) as client:
                client.socket.sendall(data)
                client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        other.socket.sendall(heartbeat(7))
        assert answered(other, 1) == [7]
    assert [record.getMessage() for record in caplog.records] == []
