"""Clients of the control port that take places and do nothing with them: others are served all the same."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack

import httpx
import pytest

from tests.hostile.machine import machine
from tests.hostile.prober import LONGEST_MS, probing
from tests.process.test_control_port import Controlled
from tests.rawclient import RawClient
from tests.waiting import SECONDS, until

MANY = 150
ATTEMPTS = 3
"""A machine may be busy for a moment; what holds others up does so every time."""


@pytest.fixture(scope="module")
def process() -> Iterator[Controlled]:
    """With a journal that is larger than what the system takes off a process' hands for one who does not read."""
    with Controlled("--topic", "orders:1") as process:
        with RawClient(process.servers) as client:
            for _ in range(6):
                client.exchange(18, 0, bytes(1 << 20))
        for _ in range(3):  # what is loaded at the first request is loaded
            httpx.post(f"{process.url}/v1/clock/advance", json={"by": "0s"}, timeout=SECONDS)
        yield process


def taken(process: Controlled, opened: ExitStack, said: bytes) -> socket.socket:
    """A connection to the control port that has said this, and reads nothing."""
    made = opened.enter_context(socket.socket())
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    made.settimeout(SECONDS)
    made.connect(("127.0.0.1", int(process.url.rpartition(":")[2])))
    made.sendall(said)
    return made


def get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode()


def slowest_ms(process: Controlled, said: bytes) -> tuple[float, float]:
    """The longest that a client of Kafka and /health, which has to be good, waited in an attack: the best of three."""
    best = (float("inf"), float("inf"))
    for _ in range(ATTEMPTS):
        longest = 0.0
        with ExitStack() as opened, probing(process.servers) as prober:
            for _ in range(MANY):
                taken(process, opened, said)
            for _ in range(20):
                begin = time.perf_counter()
                with taken(process, opened, get("/health")) as client:
                    answer = client.recv(65536)
                longest = max(longest, machine().quiet_ms(begin, 1000 * (time.perf_counter() - begin)))
                assert answer.startswith(b"HTTP/1.1 200"), answer
        best = (min(best[0], prober.longest_ms), min(best[1], longest))
        if max(best) <= LONGEST_MS:
            break
    return best


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"GET /health HTTP/1.1\r\nHost: x\r\n",
        b"POST /v1/clock/advance HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n{",
    ],
    ids=["silent", "half a head", "half a body"],
)
def test_many_that_ask_nothing_keep_nobody_out(process: Controlled, said: bytes):
    assert max(slowest_ms(process, said)) <= LONGEST_MS


@pytest.mark.parametrize(
    "path",
    [
        "/v1/journal/wait?api=Heartbeat&timeout=60",
        "/v1/journal/follow",
        "/v1/journal/export?frames=true",
        "/v1/journal?frames=true&messages=true&limit=10",
    ],
)
def test_many_that_ask_for_what_lasts_keep_nobody_out(process: Controlled, path: str):
    """So many requests at once are work for a moment; /health is answered meanwhile, and nobody is sent away."""
    kafka_ms, _ = slowest_ms(process, get(path))
    assert kafka_ms <= LONGEST_MS


def test_exports_that_nobody_reads_do_not_keep_others_from_theirs(process: Controlled):
    path = "/v1/journal/export?frames=true"
    with ExitStack() as opened:
        for _ in range(4):
            assert taken(process, opened, get(path)).recv(1)
        with httpx.Client(base_url=process.url, timeout=SECONDS) as client:
            until(lambda: client.get(path).status_code == 200, "an export of its own")


def test_those_who_wait_and_go_keep_nobody_from_waiting(process: Controlled):
    path = "/v1/journal/wait?api=Heartbeat&timeout="
    with ExitStack() as opened:
        for _ in range(64):
            taken(process, opened, get(path + "60"))
        with httpx.Client(base_url=process.url, timeout=SECONDS) as client:
            until(lambda: client.get(path + "0").status_code == 429, "all places to be taken")
    with httpx.Client(base_url=process.url, timeout=SECONDS) as client:
        until(lambda: client.get(path + "0").status_code == 408, "a place")
