"""What a hundred times as much costs: connections, groups, partitions and offsets, at four sizes each.

    python -m bench.scale                 the table
    python -m bench.scale --document      and docs/performance.md with its plot
    python -m bench.scale --quick         a tenth of the sizes

Each size is a process of its own. Times are processor time: what the machine does beside it does not count.
"""

from __future__ import annotations

import argparse
import gc
import json
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench.contestants import Contestant, Unavailable, module, stub
from bench.frames import Client, frame
from bench.scale_report import Scale, table, write

if TYPE_CHECKING:
    from kafkastub import KafkaStub

TOPIC: Final = "bench"
PARTITIONS: Final = 1000
COMMIT: Final = 8
_WINDOW: Final = 64
_TURNS: Final = 9
_ASKED: Final = 2000
"""Requests of one more client."""

SIZES: Final[dict[str, tuple[int, ...]]] = {
    "connections": (1_250, 2_500, 5_000, 10_000),
    "groups": (12_500, 25_000, 50_000, 100_000),
    "partitions": (12_500, 25_000, 50_000, 100_000),
    "offsets": (625_000, 1_250_000, 2_500_000, 5_000_000),
}


def measure(kind: str, count: int) -> Scale:
    """In a process of its own. Raises Unavailable where the stub does not do it."""
    done = subprocess.run(
        module("bench.scale", "--inner", kind, str(count)), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise Unavailable(f"no scale of {kind}: {(done.stderr.strip() or 'no output').splitlines()[-1]}")
    return Scale(**json.loads(done.stdout))


# -- in the process ----------------------------------------------------------------------------------------------------


def _resident() -> int:
    """Bytes that the process holds, without what is free in it."""
    gc.collect()
    from kafkastub.server.memory import give_back

    give_back()
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) * 1024


def _connections(count: int) -> Scale:
    """The broker is a process of its own: both ends of so many need more descriptors than one may have."""
    from kafkastub.server.descriptors import raise_limit

    raise_limit()
    with stub() as broker, Client(broker.host, broker.port) as first:
        alone, alone_p99 = _asked(first)
        before, begin = broker.resident_bytes(), _busy_seconds(broker)
        crowd = [_connected(broker.host, broker.port) for _ in range(count)]
        fill = _busy_seconds(broker) - begin
        each = (broker.resident_bytes() - before) / count
        with Client(broker.host, broker.port) as more:
            median, p99 = _asked(more)
        for one in crowd:
            one.close()
    return Scale("connections", count, each, 1e6 * fill / count, one_more=median / alone, one_more_p99=p99 / alone_p99)


def _busy_seconds(broker: Contestant) -> float:
    """The processor time of the broker's process so far."""
    assert broker.process is not None
    ran = Path(f"/proc/{broker.process.pid}/schedstat").read_text().split()[0]
    return int(ran) / 1e9


def _connected(host: str, port: int) -> socket.socket:
    """A connection that has asked for something and been answered, as every client's."""
    from kafkawire.messages.api_versions_request import ApiVersionsRequest

    opened = socket.create_connection((host, port))
    opened.sendall(frame(ApiVersionsRequest(), 0))
    size = int.from_bytes(opened.recv(4, socket.MSG_WAITALL), "big")
    opened.recv(size, socket.MSG_WAITALL)
    return opened


def _asked(client: Client) -> tuple[float, float]:
    """How long a request takes one client: the median and the 99th percentile, in us."""
    from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest

    taken = []
    wire = frame(FindCoordinatorRequest("g"), 2)
    for _ in range(_ASKED):
        begin = time.perf_counter()
        client.exchange(wire)
        taken.append(1e6 * (time.perf_counter() - begin))
    taken.sort()
    return taken[_ASKED // 2], taken[_ASKED * 99 // 100]


def _commits(groups: int, partitions: int) -> Iterator[bytes]:
    from bench.cases import commit_request

    for number in range(groups):
        yield frame(commit_request(f"bench-scale-{number:07}", partitions), COMMIT, number)


def _send(client: Client, wires: Iterator[bytes]) -> None:
    """All of them, some at a time on their way."""
    under_way = 0
    for wire in wires:
        client.socket.sendall(wire)
        under_way += 1
        if under_way == _WINDOW:
            for _ in range(_WINDOW):
                client.read_frame()
            under_way = 0
    for _ in range(under_way):
        client.read_frame()


def _of_groups(kind: str, count: int, groups: int, partitions: int) -> Scale:

    def fill(stub: KafkaStub) -> None:
        with Client(stub.host, stub.port) as client:
            _send(client, _commits(groups, partitions))

    return _kept(kind, count, {TOPIC: PARTITIONS}, fill)


def _partitions(count: int) -> Scale:
    from kafkawire.messages.create_topics_request import CreatableTopic, CreateTopicsRequest

    def fill(stub: KafkaStub) -> None:
        with Client(stub.host, stub.port) as client:
            for number in range(count // PARTITIONS):
                client.succeed(CreateTopicsRequest([CreatableTopic(f"{TOPIC}-{number}", PARTITIONS, 1)], 60_000), 5)

    return _kept("partitions", count, {}, fill)


def _kept(kind: str, count: int, topics: dict[str, int], fill: Callable[[KafkaStub], None]) -> Scale:
    """Memory and a sweep without a data directory, a start again with one."""
    from kafkastub import KafkaStub

    with KafkaStub(topics=topics) as running:
        running.clock.freeze()
        with Client(running.host, running.port) as first:
            alone, alone_p99 = _asked(first)
        before, begin = _resident(), time.process_time()
        fill(running)
        found = Scale(kind, count, 0.0, 1e6 * (time.process_time() - begin) / count)
        found.bytes_each = (_resident() - before) / count
        sweeps = []
        for _ in range(_TURNS):
            begin = time.process_time()
            running.expire_offsets_now()
            sweeps.append(1000 * (time.process_time() - begin))
        found.sweep_ms = sorted(sweeps)[_TURNS // 2]
        with Client(running.host, running.port) as more:
            median, p99 = _asked(more)
        found.one_more, found.one_more_p99 = median / alone, p99 / alone_p99
    with tempfile.TemporaryDirectory() as folder:
        config = {"kafkastub.flush": "never"}
        with KafkaStub(topics=topics, config=config, data_dir=folder) as running:
            fill(running)
        begin = time.process_time()
        with KafkaStub(config=config, data_dir=folder) as running:
            running.expire_offsets_now()  # waits until the coordinator has loaded
            found.restart_us = 1e6 * (time.process_time() - begin) / count
    return found


def _inner(kind: str, count: int) -> Scale:
    if kind == "connections":
        return _connections(count)
    if kind == "partitions":
        return _partitions(count)
    if kind == "groups":
        return _of_groups(kind, count, count, 1)
    return _of_groups(kind, count, count // PARTITIONS, PARTITIONS)


def run(sizes: dict[str, tuple[int, ...]], say: Callable[[str], None]) -> list[Scale]:
    """All of it, one after the other."""
    found = []
    for kind, counts in sizes.items():
        for count in counts:
            say(f"{count:,} {kind}")
            found.append(measure(kind, count))
    return found


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the sizes")
    parser.add_argument("--document", action="store_true", help="write docs/performance.md and its plot anew")
    parser.add_argument("-k", dest="kinds", action="append", choices=SIZES, help="this kind alone; may be repeated")
    given = parser.parse_args(arguments)
    sizes = {kind: SIZES[kind] for kind in given.kinds or SIZES}
    if given.quick:
        sizes = {kind: tuple(max(PARTITIONS, count // 10_000 * PARTITIONS) for count in sizes[kind]) for kind in sizes}
    found = run(sizes, lambda text: print(text, file=sys.stderr, flush=True))
    print(table(found))
    if given.document:
        write(found)
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--inner"]:
        print(json.dumps(asdict(_inner(sys.argv[2], int(sys.argv[3])))))
    else:
        sys.exit(main(sys.argv[1:]))
