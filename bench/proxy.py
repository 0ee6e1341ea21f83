"""What the proxy costs in front of Apache Kafka, by Kafka's perf tools and one request at a time: `make bench-proxy`.

All take turns on one machine: directly, through a proxy, and through one with a journal, metrics and a fault rule. With
8 clients, eight producers, or consumers, work at once, and their MB/s are added.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter_ns

from bench import sustained
from bench.cases import create_topic, delete_topic
from bench.contestants import Contestant, Unavailable, kafka, process_that_says_ready
from bench.frames import BadAnswer, Client
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.records import NewRecord, build_batch
from kafkawire.schema import Message

RULE = "- {api: Produce, client_id: nobody, delay_ms: 1}\n"
BATCH = 50


@contextmanager
def proxy(name: str, to: Contestant, *options: str) -> Iterator[Contestant]:
    command = [sys.executable, "-m", "kafkastub.cli", "proxy", "--to", f"{to.host}:{to.port}", "--port", "0", *options]
    with process_that_says_ready(name, command) as running:
        yield running


@contextmanager
def all_three() -> Iterator[list[Contestant]]:
    with ExitStack() as stack, TemporaryDirectory() as folder:
        rules = Path(folder) / "rules.yaml"
        rules.write_text(RULE)
        direct = stack.enter_context(kafka())
        plain = stack.enter_context(proxy("proxy", direct))
        watched = stack.enter_context(proxy("proxy, watched", direct, "--control-port", "0", "--faults", str(rules)))
        yield [direct, plain, watched]


def latency(contestants: list[Contestant], rounds: int) -> None:
    """p50 of a request that waits for the one before, in microseconds, and what a proxy itself works for one."""
    processes = {one.name: one.process for one in contestants if one.name.startswith("proxy")}
    batch = build_batch([NewRecord(None, bytes(1024), 0)])
    data = PartitionProduceData(index=0, records=batch)
    requests: dict[str, tuple[Message, int]] = {
        "FindCoordinator": (FindCoordinatorRequest(key="g", coordinator_keys=["g"]), 4),
        "OffsetCommit of 1": (
            OffsetCommitRequest(
                group_id="bench-proxy",
                topics=[OffsetCommitRequestTopic("bench-proxy", [OffsetCommitRequestPartition(0, 1)])],
            ),
            8,
        ),
        "Produce of 1 KB": (
            ProduceRequest(
                acks=1, timeout_ms=1000, topic_data=[TopicProduceData(name="bench-proxy", partition_data=[data])]
            ),
            11,
        ),
    }
    with ExitStack() as stack:
        clients = {one.name: stack.enter_context(Client(one.host, one.port)) for one in contestants}
        first = clients[contestants[0].name]
        with suppress(BadAnswer):
            create_topic(first, "bench-proxy", 1)
        try:
            for name, (request, version) in requests.items():
                took: dict[str, list[int]] = {one: [] for one in clients}
                busy = dict.fromkeys(processes, 0)
                for _ in range(rounds):
                    for one, client in clients.items():
                        worked = _busy_ns(processes.get(one))
                        for _ in range(BATCH):
                            began = perf_counter_ns()
                            client.ask(request, version)
                            took[one].append(perf_counter_ns() - began)
                        if one in busy:
                            busy[one] += _busy_ns(processes[one]) - worked
                told = "  ".join(f"{one} {statistics.median(values) / 1000:.0f} us" for one, values in took.items())
                print(f"{name:<20} {told}", flush=True)
                each = "  ".join(f"{one} {ns / rounds / BATCH / 1000:.0f} us" for one, ns in busy.items())
                print(f"{'  processor time':<20} {each}", flush=True)
        finally:
            delete_topic(first, "bench-proxy")


def _busy_ns(process: subprocess.Popen[str] | None) -> int:
    """What its first thread, which has the loop, has had of a processor."""
    if process is None:
        return 0
    try:
        return int(Path(f"/proc/{process.pid}/schedstat").read_text().split()[0])
    except OSError:
        raise Unavailable("processor time is read from /proc, which is not here") from None


def throughput(contestants: list[Contestant], rounds: int, records: int, clients: int) -> None:
    """MB/s of Kafka's own tools, the sum of all clients."""
    load, jars = sustained.Load(f"proxy/1KB/{clients}", 1024, records), sustained._jars()
    found: dict[str, list[tuple[float, float]]] = {one.name: [] for one in contestants}
    busy = {one.name: 0 for one in contestants if one.name.startswith("proxy")}
    for number in range(rounds):
        for one in contestants:
            worked = _busy_ns(one.process)

            def run(client: int, one: Contestant = one, number: int = number) -> tuple[float, float]:
                series = sustained.Throughput()
                topic = f"bench-proxy-{clients}-{number}-{client}"
                sustained._measure_one(jars, one, topic, load, records, series)
                return series.produced[0], series.consumed[0]

            with ThreadPoolExecutor(clients) as pool:
                each = list(pool.map(run, range(clients)))
            found[one.name].append((sum(one[0] for one in each), sum(one[1] for one in each)))
            if one.name in busy:
                busy[one.name] += _busy_ns(one.process) - worked
    _print(f"produced, {clients} x 1 KB", found, lambda pair: pair[0])
    _print(f"consumed, {clients} x 1 KB", found, lambda pair: pair[1])
    megabytes = rounds * clients * records / 1024  # each goes in, and comes out
    told = "  ".join(f"{name} {ns / 1e6 / megabytes:.2f} ms" for name, ns in busy.items())
    print(f"{'  a MB in and out':<20} {told}", flush=True)


def _print(what: str, found: dict[str, list[tuple[float, float]]], of: Callable[[tuple[float, float]], float]) -> None:
    medians = {name: statistics.median(map(of, values)) for name, values in found.items()}
    first = next(iter(medians.values()))
    told = "  ".join(f"{name} {value:.1f} MB/s ({value / first:.2f})" for name, value in medians.items())
    print(f"{what:<20} {told}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--records", type=int, default=300_000)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8])
    given = parser.parse_args()
    try:
        with all_three() as contestants:
            latency(contestants, given.rounds * 10)
            for clients in given.clients:
                throughput(contestants, given.rounds, given.records // clients, clients)
    except Unavailable as missing:
        print(missing, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
