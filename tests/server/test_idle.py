"""`connections.max.idle.ms`: who does nothing is not kept, whatever state its connection is in."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from kafkastub import KafkaStub
from kafkawire.api import ApiKey
from kafkawire.codec import encode
from kafkawire.messages.sasl_handshake_request import SaslHandshakeRequest
from tests.rawclient import RawClient
from tests.server.test_server import answered, heartbeat, long_poll, metadata, request

IDLE_MS = 1500
pytestmark = pytest.mark.skipif(not hasattr(socket, "TCP_INFO"), reason="this machine has no TCP_INFO")
LATE = 20
"""Seconds that a busy machine may take for what is due."""
LISTENERS = {
    "listeners": "PLAINTEXT://127.0.0.1:0,TLS://127.0.0.1:0,SASL://127.0.0.1:0",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,TLS:SSL,SASL:SASL_PLAINTEXT",
    "sasl.enabled.mechanisms": "PLAIN",
    "connections.max.idle.ms": IDLE_MS,
}
HELLO = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
"""How a TLS handshake begins."""


@pytest.fixture(scope="module")
def stub() -> Iterator[KafkaStub]:
    topics = {f"a-topic-with-a-long-name-{number}": 3 for number in range(200)} | {"orders": 1}
    with KafkaStub(topics=topics, config=LISTENERS) as running:
        yield running


def is_ended(client: RawClient) -> bool:
    """Whether the broker has ended the connection; nothing is read for it."""
    state: int = client.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0]
    return state != 1  # TCP_ESTABLISHED


def test_who_does_nothing_is_not_kept(stub: KafkaStub):
    shake = request(ApiKey.SASL_HANDSHAKE, 1, 1, encode(SaslHandshakeRequest("PLAIN"), 1))
    states: dict[str, tuple[str, bytes]] = {
        "says nothing": ("PLAINTEXT", b""),
        "has said a byte": ("PLAINTEXT", b"\0"),
        "is in the middle of a frame": ("PLAINTEXT", heartbeat(1)[:9]),
        "announces much": ("PLAINTEXT", b"\x05\0\0\0abc"),
        "has its answer": ("PLAINTEXT", heartbeat(1)),
        "waits for its answer": ("PLAINTEXT", long_poll(1, wait_ms=120_000)),
        "says nothing where TLS is spoken": ("TLS", b""),
        "is in the middle of a handshake": ("TLS", HELLO),
        "does not say who it is": ("SASL", b""),
        "is about to say who it is": ("SASL", shake),
    }
    with ExitStack() as stack:
        clients = {}
        for name, (listener, said) in states.items():
            clients[name] = client = stack.enter_context(RawClient(stub.bootstrap_servers_of(listener)))
            client.socket.sendall(said)
        busy = stack.enter_context(RawClient(stub.bootstrap_servers_of("PLAINTEXT")))
        begin, ended, number = time.monotonic(), dict[str, float](), 0
        while len(ended) < len(clients) and time.monotonic() < begin + LATE:
            number += 1
            busy.socket.sendall(heartbeat(number))
            assert answered(busy, 1) == [number]
            for name, client in clients.items():
                if name not in ended and is_ended(client):
                    ended[name] = time.monotonic() - begin
            time.sleep(0.02)
        assert ended.keys() == clients.keys()
        assert min(ended.values()) > IDLE_MS / 1000 * 0.8


def test_who_does_not_read_is_not_kept(stub: KafkaStub):
    with RawClient(stub.bootstrap_servers_of("PLAINTEXT")) as client:
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.socket.setblocking(False)
        asked = b"".join(map(metadata, range(500)))
        deadline = time.monotonic() + LATE
        while not is_ended(client):
            assert time.monotonic() < deadline
            if select.select([], [client.socket], [], 0.02)[1]:
                try:
                    asked = asked[client.socket.send(asked) :] or asked
                except (BlockingIOError, ConnectionError):
                    continue


def test_an_answer_counts_as_something_that_happens(stub: KafkaStub):
    """Who waits for an answer nearly as long as it may is not closed with the answer."""
    with RawClient(stub.bootstrap_servers_of("PLAINTEXT")) as client:
        begin = time.monotonic()
        client.socket.sendall(long_poll(1, wait_ms=IDLE_MS // 2))
        assert answered(client, 1) == [1]
        waited = time.monotonic() - begin
        client.socket.settimeout(LATE)
        assert client.socket.recv(1) == b""
        assert time.monotonic() - begin > waited + IDLE_MS / 1000 * 0.9


def test_a_byte_counts_as_something_that_happens(stub: KafkaStub):
    with RawClient(stub.bootstrap_servers_of("PLAINTEXT")) as client:
        begin, sent = time.monotonic(), heartbeat(1)
        for at in range(len(sent)):
            client.socket.sendall(sent[at : at + 1])
            if time.monotonic() < begin + 2 * IDLE_MS / 1000:
                time.sleep(IDLE_MS / 1000 / 8)
        assert answered(client, 1) == [1]
        assert time.monotonic() - begin > 1.5 * IDLE_MS / 1000


def test_nobody_is_ever_idle_where_the_time_is_negative():
    with KafkaStub(config={"connections.max.idle.ms": -1}) as stub, RawClient(stub.bootstrap_servers) as client:
        client.socket.sendall(heartbeat(1))
        assert answered(client, 1) == [1]
        stub.clock.advance(days=1, timers=True)
        client.socket.sendall(heartbeat(2))
        assert answered(client, 1) == [2]
