"""Requests that never end: what they take together, and what others notice."""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import threading
import time
from collections.abc import Iterator

import pytest

from kafkawire.api import ApiKey
from kafkawire.codec import decode, encode
from kafkawire.errors import ErrorCode
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.messages.produce_response import ProduceResponse
from kafkawire.records import NewRecord, build_batch
from tests.hostile.prober import LONGEST_MS, probing
from tests.hostile.test_hostile import linux, memory_mb
from tests.process.serving import Serving
from tests.rawclient import RawClient

ANNOUNCED = 95_000_000
LIMIT_MB = 16
SENT_MB = 8
"""By each of the hogs."""
HOGS = 20
STUCK = 0.3
"""Seconds in which nobody takes a byte of any of them."""
BEGIN = struct.pack(">ihh", ANNOUNCED, ApiKey.PRODUCE, 9)
PATIENCE = 30


@contextlib.contextmanager
def hogs(serving: Serving, count: int = HOGS) -> Iterator[None]:
    """So many connections have sent as much of a request as is taken."""
    with contextlib.ExitStack() as stack:
        left = {}
        for _ in range(count):
            one = stack.enter_context(socket.create_connection((serving.host, serving.port)))
            one.sendall(BEGIN)
            one.setblocking(False)
            left[one] = SENT_MB << 20
        piece, last = bytes(1 << 18), time.monotonic()
        while left and time.monotonic() - last < STUCK:
            for one in select.select([], list(left), [], 0.05)[1]:
                try:
                    left[one] -= one.send(piece)
                except BlockingIOError:
                    continue
                last = time.monotonic()
                if left[one] <= 0:
                    del left[one]
        yield


def produced(client: RawClient, size: int) -> int:
    """A request of so many bytes: the partition's error code."""
    batch = build_batch([NewRecord(b"k", b"v" * size, 1)])
    topics = [TopicProduceData(name="orders", partition_data=[PartitionProduceData(0, batch)])]
    answer = client.exchange(ApiKey.PRODUCE, 9, encode(ProduceRequest(None, 1, 1000, topics), 9))
    return decode(ProduceResponse, 9, answer).responses[0].partition_responses[0].error_code


@pytest.fixture(scope="module")
def serving() -> Iterator[Serving]:
    limit = f"kafkastub.unfinished.requests.max.bytes={LIMIT_MB << 20}"
    with Serving("--topic", "orders:1", "--config", limit, "message.max.bytes=50000000") as process:
        with RawClient(process.servers) as client:
            produced(client, 1 << 20)
        yield process


@linux
def test_requests_that_never_end_take_no_more_than_is_allowed_to_all_of_them(serving: Serving):
    before = memory_mb(serving)
    with RawClient(serving.servers) as honest, probing(serving.servers) as prober:
        with hogs(serving):
            during = memory_mb(serving)
            assert produced(honest, 100_000) == ErrorCode.NONE
        assert produced(honest, 1_000_000) == ErrorCode.NONE
    assert during - before < LIMIT_MB + SENT_MB + 24
    assert prober.longest_ms < LONGEST_MS


@linux
def test_a_large_request_waits_for_those_that_never_end_until_their_clients_have_gone(serving: Serving):
    codes: list[int] = []
    with RawClient(serving.servers, PATIENCE) as honest:
        with hogs(serving):
            sender = threading.Thread(target=lambda: codes.append(produced(honest, 20_000_000)))
            sender.start()
            sender.join(STUCK)
            assert codes == []
        sender.join(PATIENCE)
        assert codes == [ErrorCode.NONE]
        assert produced(honest, 20_000_000) == ErrorCode.NONE


@linux
def test_kafkas_own_limit_of_waiting_requests_counts_where_it_is_given():
    """Neither our own lower one nor our default, which would take all that is sent."""
    ours = f"kafkastub.unfinished.requests.max.bytes={LIMIT_MB << 20}"
    with Serving("--topic", "orders:1", "--config", "queued.max.request.bytes=104857600", ours) as process:
        before = memory_mb(process)
        with hogs(process):
            grown = memory_mb(process) - before
            assert grown > HOGS * SENT_MB // 3
            assert grown < 100
        with RawClient(process.servers) as client:
            assert produced(client, 100_000) == ErrorCode.NONE
