"""Requests that wait, of clients that do not: what they wanted to wait for goes with their connections."""

from __future__ import annotations

import re
import socket
import struct
from pathlib import Path

import pytest

from kafkawire.api import ApiKey
from kafkawire.codec import encode
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from tests.hostile.prober import LONGEST_MS, probing
from tests.persistence.speaker import Speaker
from tests.process.serving import Serving
from tests.rawclient import RawClient

DAYS_24 = 2**31 - 1
PARTITIONS = 500
FLAT_MB = 16
"""More than the process differs by when it does the same things again; a fraction of what the fetches would hold."""

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="this machine has no /proc")


def memory_mb(serving: Serving) -> float:
    status = Path(f"/proc/{serving.process.pid}/status").read_text()
    found = re.search(r"VmRSS:\s*(\d+) kB", status)
    assert found
    return int(found[1]) / 1024


def waiting_fetch() -> bytes:
    """For every partition of `wide`, without a session, until 24 days are over."""
    partitions = [FetchPartition(partition=index, fetch_offset=0, partition_max_bytes=1) for index in range(PARTITIONS)]
    topics = [FetchTopic(topic="wide", partitions=partitions)]
    return encode(FetchRequest(max_wait_ms=DAYS_24, min_bytes=1, session_epoch=-1, topics=topics), 11)


def fetch_and_go(serving: Serving, times: int, pace: RawClient) -> None:
    """Fetch, wait until that is parked, and close: with a reset every other time."""
    body = waiting_fetch()
    for number in range(times):
        client = RawClient(serving.servers)
        client.send(ApiKey.FETCH, 11, body)
        client.send(ApiKey.API_VERSIONS, 0, b"")  # waits behind it
        pace.exchange(ApiKey.API_VERSIONS, 0, b"")
        if number % 2:
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()


def longest_while_fetches_are_abandoned(serving: Serving, times: int) -> float:
    """The longest that others waited meanwhile."""
    with probing(serving.servers) as prober, RawClient(serving.servers) as pace:
        fetch_and_go(serving, times, pace)
    return prober.longest_ms


def test_fetches_of_24_days_that_nobody_waits_for():
    with Serving("--topic", f"wide:{PARTITIONS}", "--topic", "quiet:1") as serving, polling(serving):
        longest_while_fetches_are_abandoned(serving, 50)
        before = memory_mb(serving)
        longest = min(longest_while_fetches_are_abandoned(serving, 150) for _ in range(3))
        assert longest <= LONGEST_MS
        assert memory_mb(serving) - before < FLAT_MB
        with Speaker(serving.servers) as speaker:
            assert speaker.produce("wide", 0, b"v") == (0, 0)
        assert serving.stderr == ""


def polling(serving: Serving) -> RawClient:
    """Somebody who waits as honest clients do, so that a deadline is always near."""
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1)
    topics = [FetchTopic(topic="quiet", partitions=[partition])]
    client = RawClient(serving.servers)
    asked = FetchRequest(max_wait_ms=60_000, min_bytes=1, session_epoch=-1, topics=topics)
    client.send(ApiKey.FETCH, 11, encode(asked, 11))
    return client
