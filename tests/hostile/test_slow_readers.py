"""Clients that ask for long answers and hardly read them: what they take, and what others notice."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator, Sequence

import pytest

from kafkawire.api import ApiKey
from kafkawire.codec import decode, encode
from kafkawire.messages.describe_log_dirs_request import DescribeLogDirsRequest
from kafkawire.messages.describe_log_dirs_response import DescribeLogDirsResponse
from tests.hostile.prober import LONGEST_MS, probing
from tests.hostile.slow_readers import CONFIG, TOPICS, Long, fill, requests, share_fetch
from tests.hostile.test_hostile import linux, memory_mb
from tests.hostile.waits import TRIES
from tests.process.serving import Serving
from tests.rawclient import RawClient

PIPELINED = 40
RECEIVE_BUFFER = 8192
OWED_MB = 1.5
"""What a client is owed that does not read, beside one answer."""
SHARE_FETCH_MB = 5
"""The most that a share fetch asks for."""
FLAT_MB = 40
QUIET = 0.5
"""Seconds in which nothing more is taken, and nothing more is held."""


@pytest.fixture
def serving() -> Iterator[Serving]:
    with Serving("--topic", *TOPICS, "--config", *CONFIG) as process:
        fill(process.servers)
        yield process


def size_mb(serving: Serving, one: Long) -> float:
    with RawClient(serving.servers) as client:
        client.socket.sendall(one.frame)
        size = client.drain()
    assert size is not None
    return size / 1e6


@contextlib.contextmanager
def readers(serving: Serving, each: Sequence[Long]) -> Iterator[list[socket.socket]]:
    """A client for each, which has asked again and again, and reads a byte now and then until nothing moves."""
    with contextlib.ExitStack() as stack:
        left = {}
        for one in each:
            sock = stack.enter_context(socket.socket())
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
            sock.connect((serving.host, serving.port))
            sock.setblocking(False)
            left[sock] = one.frame * PIPELINED
        last, most = time.monotonic(), 0.0
        while time.monotonic() - last < QUIET:
            for sock, data in left.items():
                with contextlib.suppress(BlockingIOError):
                    left[sock] = data[sock.send(data) :] if data else data
                with contextlib.suppress(BlockingIOError):
                    sock.recv(1)
            time.sleep(0.01)
            if (now := memory_mb(serving)) > most + 1:
                most, last = now, time.monotonic()
        yield list(left)


def is_read_slowly(serving: Serving, kinds: Sequence[Long], clients: int) -> None:
    owed = sum(clients * (OWED_MB + 1.6 * size_mb(serving, one)) for one in kinds)
    waits, before = [], memory_mb(serving)
    while len(waits) < TRIES and (not waits or waits[-1] > LONGEST_MS):
        with probing(serving.servers) as prober, readers(serving, list(kinds) * clients):
            grown = memory_mb(serving) - before
        waits.append(prober.longest_ms)
        print([one.key.name for one in kinds], f"{prober.longest_ms:.0f} ms, {grown:.0f} MB of {owed:.0f}")
        assert grown < owed + FLAT_MB
    assert min(waits) < LONGEST_MS


@linux
def test_slow_readers_of_every_long_answer_do_not_hold_others_up(serving: Serving):
    is_read_slowly(serving, list(requests(serving.servers)), 1)
    fetches = [share_fetch(serving.servers, f"AAAAAAAAAAAAAAAAAAAAA{number}") for number in range(5)]
    before = memory_mb(serving)
    with probing(serving.servers) as prober, readers(serving, fetches):
        assert memory_mb(serving) - before < len(fetches) * (OWED_MB + SHARE_FETCH_MB) + FLAT_MB
        assert serving.stderr == ""
    assert prober.longest_ms < LONGEST_MS


@linux
@pytest.mark.soak
def test_many_slow_readers_of_each_long_answer_do_not_hold_others_up(serving: Serving):
    for one in requests(serving.servers):
        is_read_slowly(serving, [one], 20)


@linux
@pytest.mark.behaviour("LD-6")
def test_logs_of_internal_topics_that_were_never_read_are_measured_while_others_are_served(serving: Serving):
    """They are encoded for it: 36 bytes of a request held everybody up for a second and a half."""
    with RawClient(serving.servers) as client:
        with probing(serving.servers) as prober:
            body = client.exchange(ApiKey.DESCRIBE_LOG_DIRS, 4, encode(DescribeLogDirsRequest(None), 4))
        told = decode(DescribeLogDirsResponse, 4, body)
    (one,) = told.results
    sizes = {topic.name: [row.partition_size for row in topic.partitions] for topic in one.topics}
    assert min(sizes["__consumer_offsets"]) > 0
    assert len(sizes["large"]) == 2000
    assert prober.longest_ms < LONGEST_MS
