"""What it takes to keep a stub's state and to put it back: 100 topics, a million records, some groups.

In a stub of its own, in a process of its own (`python -m bench.snapshots RECORDS`). Half of the topics have records in
batches of a hundred, the others one by one: what is measured must not go by either. Between a snapshot and its restore
a test's worth is written, and deleting and creating the topics, which does less, stands beside it.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter_ns

from bench.contestants import Unavailable, module

NAME = "snapshots"
TOPICS, GROUPS, ROUNDS = 100, 20, 21
BATCH = 100


@dataclass
class Snapshots:
    """Milliseconds, medians, with the way into the stub's thread and back."""

    records: int
    take_ms: float
    restore_ms: float
    worst_restore_ms: float
    recreate_ms: float
    """All topics deleted and created again, over one connection, empty."""
    save_ms: float
    load_ms: float
    """To a file, and from there into a new stub."""
    file_mb: float


def measure(records: int) -> Snapshots:
    """Of so many records. Raises Unavailable where the stub does not do it."""
    done = subprocess.run(module("bench.snapshots", str(records)), capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(f"no snapshots: {(done.stderr.strip() or 'no output').splitlines()[-1]}")
    return Snapshots(**json.loads(done.stdout))


def _ms(since_ns: int) -> float:
    return (perf_counter_ns() - since_ns) / 1e6


def _fill(stub: object, records: int) -> None:
    """Past the network, which is not what is measured."""
    from kafkawire.records import NewRecord, build_batch

    broker = stub._running()  # type: ignore[attr-defined]
    batches = {
        size: build_batch([NewRecord(None, b"x" * 100, 1_700_000_000_000)] * size, base_offset=0, leader_epoch=-1)
        for size in (1, BATCH)
    }

    def fill() -> None:
        state, each = broker.state, records // TOPICS
        for number in range(TOPICS):
            topic = state.cluster.topics[f"bench-{number}"]
            log, size = state.logs.log(topic.topic_id, 0), BATCH if number % 2 else 1
            for _ in range(each // size):
                log.append(batches[size], leader_epoch=0, now_ms=1_700_000_000_000)

    stub._call(fill)  # type: ignore[attr-defined]
    for number in range(GROUPS):
        offsets = {(f"bench-{topic}", 0): 1 for topic in range(TOPICS)}
        stub.commit(f"bench-{number}", offsets)  # type: ignore[attr-defined]


def _snapshots(records: int) -> Snapshots:
    from kafkastub import KafkaStub, Snapshot

    names = [f"bench-{number}" for number in range(TOPICS)]
    with KafkaStub(topics=names) as stub, tempfile.TemporaryDirectory() as folder:
        _fill(stub, records)
        taken: list[float] = []
        restored: list[float] = []
        for _ in range(ROUNDS):
            start = perf_counter_ns()
            saved = stub.snapshot()
            taken.append(_ms(start))
            for name in names[:10]:
                stub.produce(name, "more")
            stub.commit("bench-more", {("bench-0", 0): 1})
            start = perf_counter_ns()
            stub.restore(saved)
            restored.append(_ms(start))
        path = Path(folder) / "seed.kafkastub"
        start = perf_counter_ns()
        saved.save(path)
        save_ms = _ms(start)
        start = perf_counter_ns()
        with KafkaStub(snapshot=Snapshot.load(path)):
            load_ms = _ms(start)
        size, recreate_ms = path.stat().st_size, _recreated(stub, names)
    return Snapshots(
        records, statistics.median(taken), statistics.median(restored), max(restored), recreate_ms, save_ms, load_ms,
        size / 1e6,
    )  # fmt: skip


def _recreated(stub: object, names: list[str]) -> float:
    from kafkastub.client import Client, topics

    with Client(stub.bootstrap_servers) as client:  # type: ignore[attr-defined]
        start = perf_counter_ns()
        for name in names:
            topics.delete(client, [name])
        for name in names:
            topics.create(client, name)
        return _ms(start)


if __name__ == "__main__":
    print(json.dumps(asdict(_snapshots(int(sys.argv[1])))))
