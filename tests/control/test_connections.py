"""Connections of the control port: how long they may be silent, how many there may be, and who gives way."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from kafkastub import KafkaStub
from kafkastub.control import connections
from kafkastub.control.routes.journal import MOST_EXPORTS, MOST_FOLLOWING
from kafkawire.codec import encode
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.records import NewRecord, build_batch
from tests.control.conftest import Http
from tests.rawclient import RawClient
from tests.waiting import SECONDS, until

ASK = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
BODY = b"POST /v1/clock/advance HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n"


def connect(stub: KafkaStub, buffer: int | None = None) -> socket.socket:
    """`buffer`: so many bytes are taken in without being read."""
    made = socket.socket()
    if buffer is not None:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    made.settimeout(SECONDS)
    made.connect(("127.0.0.1", int(stub.control_url.rpartition(":")[2])))
    return made


@contextmanager
def asking(stub: KafkaStub, path: str, count: int) -> Iterator[list[socket.socket]]:
    """So many who ask for it, and read nothing."""
    with ExitStack() as opened:
        made = [opened.enter_context(connect(stub, 4096)) for _ in range(count)]
        for each in made:
            each.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        yield made


def is_ended(client: socket.socket) -> bool:
    """Whether the other side ends it, after whatever it has to say."""
    try:
        while client.recv(65536):
            pass
    except ConnectionResetError:
        pass
    return True


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "PATIENCE_SECONDS", 0.05)


@pytest.fixture
def long_journal(stub: KafkaStub) -> KafkaStub:
    """Of more bytes than the system takes off our hands for a client that does not read."""
    with RawClient(stub.bootstrap_servers) as client:
        for _ in range(6):
            client.exchange(18, 0, bytes(1 << 20))
    return stub


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("said", [b"", b"GET /hea", ASK[:-2], BODY, BODY + b"x" * 50, ASK + b"GET", ASK + BODY])
def test_who_does_not_go_on_asking_is_not_waited_for(stub: KafkaStub, said: bytes):
    with connect(stub) as client:
        client.sendall(said)
        assert is_ended(client)


@pytest.mark.usefixtures("hasty")
def test_a_byte_now_and_then_does_not_prolong_it(stub: KafkaStub):
    with connect(stub) as client:
        client.sendall(b"GET /health HTTP/1.1\r\n")
        client.settimeout(0.01)
        until(lambda: not _goes_on(client), "the end of it")


def _goes_on(client: socket.socket) -> bool:
    try:
        client.sendall(b"a")
        return bool(client.recv(1000))
    except TimeoutError:
        return True
    except OSError:
        return False


@pytest.mark.usefixtures("hasty")
def test_between_two_requests_there_is_more_time(stub: KafkaStub):
    with connect(stub) as client, connect(stub) as silent:
        for _ in range(2):
            client.sendall(ASK)
            assert client.recv(65536).startswith(b"HTTP/1.1 200")
            assert is_ended(silent)  # after so long a silence


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("path", ["/v1/journal/export?frames=true", "/v1/journal?frames=true&limit=10"])
def test_who_does_not_read_is_not_waited_for(long_journal: KafkaStub, path: str):
    with asking(long_journal, path, 1) as (client,):
        assert client.recv(1)  # the answer has begun
        until(lambda: not open_there(long_journal), "the end of it")
        assert is_ended(client)


def open_there(stub: KafkaStub) -> int:
    assert stub._control.port is not None
    return stub._control.port._server.connections


def whole_answer(asking: socket.socket) -> bytes:
    """One answer to its end: on a busy machine it comes in pieces."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += asking.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    (size,) = re.findall(rb"(?i)content-length: (\d+)", head)
    while len(body) < int(size):
        body += asking.recv(65536)
    return head


def test_there_is_room_for_who_asks(stub: KafkaStub, http: Http):
    """Whatever others hold: those who are silent give way, and nobody who asks does."""
    kept = [connect(stub) for _ in range(connections.MOST_IDLE // 2)]
    for each in kept:
        each.sendall(ASK)
        assert whole_answer(each).startswith(b"HTTP/1.1 200")
    with ExitStack() as opened:
        for said in (b"", b"GET /hea", BODY):
            for _ in range(connections.MOST_IDLE):
                opened.enter_context(connect(stub)).sendall(said)
            assert http.get("/health")[0] == 200
        for each in kept:  # they had asked before
            each.sendall(ASK)
            assert whole_answer(each).startswith(b"HTTP/1.1 200")
            each.close()
        until(lambda: open_there(stub) <= connections.MOST_IDLE + 2, "the ends of the others")


def test_an_export_that_nobody_reads_gives_way_to_another(
    long_journal: KafkaStub, http: Http, monkeypatch: pytest.MonkeyPatch
):
    path = "/v1/journal/export?frames=true"
    with asking(long_journal, path, MOST_EXPORTS) as stuck:
        for each in stuck:
            each.recv(1)  # it is under way
        monkeypatch.setattr(connections, "STUCK_SECONDS", 1e9)
        refused = http.client.get(path)
        assert (refused.status_code, refused.json()["error"]) == (
            429, f"{MOST_EXPORTS} exports are under way already: let some of them end",
        )  # fmt: skip
        monkeypatch.setattr(connections, "STUCK_SECONDS", 0.05)
        until(lambda: http.client.get(path).status_code == 200, "the place of one that is stuck")
        assert http.get("/health")[0] == 200


def test_so_many_follow_at_a_time(stub: KafkaStub, http: Http):
    with asking(stub, "/v1/journal/follow", MOST_FOLLOWING) as readers:
        for each in readers:
            assert each.recv(4096).startswith(b"HTTP/1.1 200")
        status, said = http.get("/v1/journal/follow")
        assert (status, said["error"]) == (
            429,
            f"{MOST_FOLLOWING} clients follow the journal already: let some of them end",
        )
        assert http.get("/v1/journal/wait", timeout=0)[0] == 408  # those are others
    with http.client.stream("GET", "/v1/journal/follow") as response:
        until(lambda: response.status_code == 200, "a place")


def test_who_waits_and_goes_leaves_the_place_at_once(stub: KafkaStub, http: Http):
    with asking(stub, "/v1/journal/wait?api=Heartbeat&timeout=60", 64):
        ring = stub._journal.ring
        assert ring is not None
        until(lambda: len(ring.watchers) == 64, "all of them")
        assert http.get("/v1/journal/wait", timeout=0)[0] == 429
    until(lambda: not ring.watchers, "the broker to notice")
    assert http.get("/v1/journal/wait", timeout=0)[0] == 408


def test_answers_that_nobody_reads_have_an_end(stub: KafkaStub, monkeypatch: pytest.MonkeyPatch):
    """A few KB of zstd, asked for by each of hundreds who then read a byte now and then, filled the memory."""
    monkeypatch.setattr(connections, "MOST_UNREAD", 20 << 20)
    monkeypatch.setattr(connections, "PATIENCE_SECONDS", 3600)  # who reads a byte now and then is not ended by it
    batch = build_batch([NewRecord(None, bytes(15 << 20), 0)], compression=4)
    data = [PartitionProduceData(0, batch)]
    with RawClient(stub.bootstrap_servers) as client:
        client.exchange(
            0, 9, encode(ProduceRequest(None, -1, 1000, [TopicProduceData("orders", partition_data=data)]), 9)
        )
    path = "/v1/topics/orders/partitions/0/records/0/value"
    with asking(stub, path, 1) as (first,):
        assert first.recv(1)
        with asking(stub, path, 1) as (second,):
            assert second.recv(1)
            until(lambda: open_there(stub) == 1, "the end of the first one")
            size = 1
            while piece := second.recv(1 << 20):
                size += len(piece)
                if size > 15 << 20:
                    break
            assert size > 15 << 20
