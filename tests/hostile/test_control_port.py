"""The control port asked by who means no good: a Kafka client beside it waits no longer than for anybody's requests."""

from __future__ import annotations

import socket

from tests.hostile.prober import LONGEST_MS
from tests.hostile.waits import shortest_wait
from tests.process.serving import Controlled
from tests.waiting import SECONDS

HEAD = b"POST /v1/clock/advance HTTP/1.1\r\nHost: x\r\n"


def sent(process: Controlled, data: bytes) -> bytes:
    """The first of what is answered to these bytes; empty where the connection ends without a word."""
    with socket.create_connection(("127.0.0.1", int(process.url.rpartition(":")[2])), SECONDS) as client:
        try:
            client.sendall(data)
            return client.recv(4096)
        except ConnectionError:
            return b""


def test_a_body_of_a_million_chunks():
    """250 KB of them, which are read at once, took a fifth of a second, and 6 MB nearly one."""
    body = HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\n1\r\n" * 1_000_000 + b"0\r\n\r\n"
    with Controlled() as process:
        sent(process, b"GET /v1/clock HTTP/1.1\r\nHost: x\r\n\r\n")
        assert shortest_wait(process.servers, lambda: sent(process, body)) <= LONGEST_MS / 4
