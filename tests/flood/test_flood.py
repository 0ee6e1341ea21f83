"""Thousands of silent, slow and deaf clients, and what the others notice of them."""

from __future__ import annotations

import contextlib
import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from kafkawire.api import ApiKey
from kafkawire.codec import encode
from kafkawire.framing import frame
from kafkawire.header import request_header
from kafkawire.messages.heartbeat_request import HeartbeatRequest
from tests.flood.load import TOPIC
from tests.process.serving import Serving
from tests.rawclient import RawClient
from tests.waiting import until

ROOT = Path(__file__).parents[2]
TRIES = 4
"""Other processes on the machine may spoil a measurement: so often it is made again before it counts against us."""
PATIENCE = 300
"""Seconds that a machine under load may take."""
PER_CONNECTION = 8 << 10
"""Bytes of a connection that says nothing, or a byte at a time."""
PER_UNREADING = 3 << 20
"""Bytes of one that does not read its answers: those it is owed, and the requests that wait behind them."""
LEFT_OVER = 24 << 20
"""Bytes that may stay with the process when all are gone: of the allocator, whatever came before."""
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="this machine has no /proc")


class Sizes(NamedTuple):
    """How many of each kind, and how many requests are timed."""

    silent: int
    slow: int
    unreading: int
    requests: int

    @property
    def connections(self) -> int:
        return self.silent + self.slow + self.unreading


SMALL = Sizes(300, 30, 4, 1_000)
FULL = Sizes(5_000, 500, 100, 20_000)


class Broker:
    """A process that serves, and what it takes."""

    def __init__(self, serving: Serving) -> None:
        self.serving = serving
        self._proc = Path(f"/proc/{serving.process.pid}")

    @property
    def memory(self) -> int:
        """Bytes of memory that are the process's own."""
        for line in (self._proc / "smaps_rollup").read_text().splitlines():
            if line.startswith("Private_Dirty:"):
                return int(line.split()[1]) << 10
        raise AssertionError("the kernel says nothing of its memory")

    def settle(self) -> None:
        """Wait until the process has done what there was to do: it gives the processor back by itself."""
        deadline, quiet, before = time.monotonic() + PATIENCE, 0, self._switches()
        while quiet < 20:
            assert time.monotonic() < deadline, "the broker is busy all the time"
            time.sleep(0.02)
            state = (self._proc / "stat").read_text().rpartition(")")[2].split()[0]
            switches = self._switches()
            by_itself, by_others = (now - then for now, then in zip(switches, before, strict=True))
            waits = by_itself >= by_others and (by_itself > 0 or state == "S")
            quiet = quiet + 1 if waits else max(0, quiet - 3)
            before = switches

    def _switches(self) -> tuple[int, int]:
        """How often it gave the processor back, and how often that was taken away."""
        lines = (self._proc / "status").read_text().splitlines()[-2:]
        by_itself, by_others = (int(line.split()[1]) for line in lines)
        return by_itself, by_others

    @property
    def descriptors(self) -> int:
        return len(list((self._proc / "fd").iterdir()))


@contextlib.contextmanager
def flooding(broker: Broker, sizes: Sizes) -> Iterator[int]:
    """All of them are there inside the block; gives how many requests the unreading ones got rid of."""
    counts = (str(count) for count in (sizes.silent, sizes.slow, sizes.unreading))
    command = [sys.executable, "-m", "tests.flood.load", broker.serving.servers, *counts]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as load:
        assert load.stdout is not None
        try:
            told = json.loads(load.stdout.readline() or "{}")
            assert told.get("connected") == sizes.connections
            yield told["asked"]
        finally:
            assert load.stdin is not None
            load.stdin.close()
            load.wait(PATIENCE)


def p99(client: RawClient, requests: int) -> float:
    """Milliseconds in which 99 of 100 requests of an honest client are answered."""
    request = frame(request_header(ApiKey.HEARTBEAT, 3, 7, "raw", False) + encode(HeartbeatRequest("g", 1, "m"), 3))
    times = []
    for _ in range(requests):
        begin = time.perf_counter()
        client.socket.sendall(request)
        assert client.receive() is not None
        times.append(time.perf_counter() - begin)
    return sorted(times)[requests * 99 // 100] * 1000


def write_records(servers: str) -> None:
    """Batches of nearly as many bytes as a fetch asks for."""
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": servers, "batch.num.messages": 14, "linger.ms": 100})
    for _ in range(140):
        producer.produce(TOPIC, random.randbytes(1000))
    assert producer.flush(PATIENCE) == 0


def is_flooded(sizes: Sizes) -> None:
    with (
        Serving("--topic", f"{TOPIC}:1", "--log-level", "error") as serving,
        RawClient(serving.servers, PATIENCE) as honest,
    ):
        broker = Broker(serving)
        write_records(serving.servers)
        for _ in range(2):  # what is taken once is kept by the allocator and is no growth of the second time
            descriptors, memory = _once(broker, honest, sizes)
        until(lambda: broker.descriptors <= descriptors, lambda: f"{broker.descriptors} descriptors are left", PATIENCE)
        p99(honest, 100)
        until(lambda: broker.memory - memory < LEFT_OVER, lambda: f"{broker.memory - memory} bytes are left", PATIENCE)
        assert serving.stderr == ""


def _once(broker: Broker, honest: RawClient, sizes: Sizes) -> tuple[int, int]:
    """A flood that comes and goes: the descriptors and the memory before."""
    p99(honest, sizes.requests // 10)
    descriptors, memory = broker.descriptors, broker.memory
    ratios = []
    for _ in range(TRIES):
        broker.settle()
        unloaded = p99(honest, sizes.requests)
        with flooding(broker, sizes) as asked:
            assert asked >= sizes.unreading
            broker.settle()
            loaded = p99(honest, sizes.requests)
            grown = broker.memory - memory
            assert broker.descriptors >= descriptors + sizes.connections
        bound = (sizes.silent + sizes.slow) * PER_CONNECTION + sizes.unreading * PER_UNREADING + LEFT_OVER
        assert grown < bound
        ratios.append(loaded / unloaded)
        print(f"{unloaded=:.3f} ms {loaded=:.3f} ms, {grown >> 20} MB of {bound >> 20} MB, {asked} requests unread")
        if ratios[-1] < 3:
            break
    assert min(ratios) < 3
    return descriptors, memory


@linux
def test_others_hardly_notice_a_crowd_of_silent_slow_and_deaf_clients():
    is_flooded(SMALL)


@linux
@pytest.mark.soak
def test_others_hardly_notice_thousands_of_silent_slow_and_deaf_clients():
    is_flooded(FULL)
