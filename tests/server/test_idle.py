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
from tests.waiting import until

IDLE_MS = 1500
pytestmark = pytest.mark.skipif(not hasattr(socket, "TCP_INFO"), reason="this machine has no TCP_INFO")
AT_LEAST = IDLE_MS / 1000 * 0.9
"""Seconds for which nobody is idle for too long: the broker counts in whole milliseconds."""
LATE = 20
"""Seconds that a busy machine may take for what is due."""
TRIES = 5
"""A machine that stands still for a second makes a client idle that meant to be none: so often it is tried again."""
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


class Busy:
    """Somebody who does something all the time. It may lose its connection only after it had no chance to."""

    def __init__(self, servers: str, stack: ExitStack) -> None:
        self._servers = servers
        self._stack = stack
        self._connect()

    def _connect(self) -> None:
        self._last = time.monotonic()
        self._client = self._stack.enter_context(RawClient(self._servers, LATE))
        self._number = 0

    def ask(self) -> None:
        self._number += 1
        before, self._last = self._last, time.monotonic()
        try:
            self._client.socket.sendall(heartbeat(self._number))
            served = answered(self._client, 1) == [self._number]
        except ConnectionError:
            served = False
        if not served:
            assert time.monotonic() - before > AT_LEAST
            self._connect()


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
        clients, since = {}, {}
        for name, (listener, said) in states.items():
            since[name] = time.monotonic()
            clients[name] = client = stack.enter_context(RawClient(stub.bootstrap_servers_of(listener)))
            client.socket.sendall(said)
        busy = Busy(stub.bootstrap_servers_of("PLAINTEXT"), stack)
        lasted: dict[str, float] = {}

        def all_ended() -> bool:
            busy.ask()
            for name, client in clients.items():
                if name not in lasted and is_ended(client):
                    lasted[name] = time.monotonic() - since[name]
            return lasted.keys() == clients.keys()

        until(all_ended, lambda: f"still there: {clients.keys() - lasted.keys()}", LATE)
        assert min(lasted.values()) > AT_LEAST


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
        client.socket.settimeout(LATE)
        begin = time.monotonic()
        client.socket.sendall(long_poll(1, wait_ms=IDLE_MS // 2))
        assert answered(client, 1) == [1]
        assert client.socket.recv(1) == b""
        assert time.monotonic() - begin > 1.5 * AT_LEAST  # the wait for the answer, and the time from then on


def test_a_byte_counts_as_something_that_happens(stub: KafkaStub):
    for _ in range(TRIES):
        longest = _byte_by_byte(stub)
        if longest is None:
            return
        assert longest > AT_LEAST
    pytest.fail(f"the machine took a pause of {longest} s each time")


def _byte_by_byte(stub: KafkaStub) -> float | None:
    """A request that takes longer than one may be idle; if it is not answered, the longest time between two bytes."""
    with RawClient(stub.bootstrap_servers_of("PLAINTEXT"), LATE) as client:
        begin, sent, pauses = time.monotonic(), heartbeat(1), [0.0]
        last = begin
        try:
            for at in range(len(sent)):
                client.socket.sendall(sent[at : at + 1])
                pauses.append(time.monotonic() - last)
                last = time.monotonic()
                if time.monotonic() < begin + 2 * IDLE_MS / 1000:
                    select.select([client.socket], [], [], IDLE_MS / 1000 / 8)  # nothing comes, the end neither
            is_answered = answered(client, 1) == [1]
        except ConnectionError:
            is_answered = False
        assert time.monotonic() - begin > 1.5 * IDLE_MS / 1000 or not is_answered
        return None if is_answered else max(*pauses, time.monotonic() - last)


def test_nobody_is_ever_idle_where_the_time_is_negative():
    with KafkaStub(config={"connections.max.idle.ms": -1}) as stub, RawClient(stub.bootstrap_servers) as client:
        client.socket.sendall(heartbeat(1))
        assert answered(client, 1) == [1]
        assert not select.select([client.socket], [], [], 0.3)[0]  # a time that is over already would end it at once
        client.socket.sendall(heartbeat(2))
        assert answered(client, 1) == [2]
