"""What a million offsets cost beside commits: a sweep with nothing due, one with a hundredth due, and a restart.

Each is measured in a stub of its own, in a process of its own (`python -m bench.upkeep GROUPS`).
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from time import perf_counter_ns

from bench.cases import COMMIT, PARTITIONS, TOPIC, commit_request
from bench.contestants import Unavailable, module
from bench.frames import Client

DUE = 100
"""One group in so many is due in the second sweep."""


@dataclass
class Upkeep:
    """Milliseconds, with the way into the stub's thread and back."""

    offsets: int
    nothing_due_ms: float
    worst_ms: float
    """The first sweep behind the commits."""
    due: int
    """Offsets that the second kind of sweep expired."""
    due_ms: float
    restart_ms: float
    """From the start of a stub on the data directory until the last group's offsets can be fetched."""


def measure(groups: int) -> Upkeep:
    """Over `groups` times 1,000 offsets. Raises Unavailable where the stub does not do it."""
    done = subprocess.run(module("bench.upkeep", str(groups)), capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(f"no upkeep: {(done.stderr.strip() or 'no output').splitlines()[-1]}")
    return Upkeep(**json.loads(done.stdout))


def _fill(client: Client, groups: range) -> None:
    for number in groups:
        client.succeed(commit_request(f"bench-upkeep-{number:06}", PARTITIONS), COMMIT)


def _ms(since_ns: int) -> float:
    return (perf_counter_ns() - since_ns) / 1e6


def _sweeps(groups: int) -> tuple[list[float], int, float]:
    """What each sweep with nothing due took; how many offsets a due one expired, and what it took."""
    from kafkastub import KafkaStub

    taken: list[float] = []
    due = max(1, groups // DUE)
    with KafkaStub(topics={TOPIC: PARTITIONS}) as stub:
        stub.clock.freeze()
        with Client(stub.host, stub.port) as client:
            _fill(client, range(due))
            stub.clock.advance(hours=1)
            _fill(client, range(due, groups))
        for _ in range(9):
            start = perf_counter_ns()
            stub.expire_offsets_now()
            taken.append(_ms(start))
        start = perf_counter_ns()
        stub.clock.advance(days=7, hours=-1)
        due_ms = _ms(start)
        expired = stub.metrics()["offset-expirations"]
    return taken, expired, due_ms


def _restart(groups: int) -> float:
    from kafkastub import KafkaStub

    with tempfile.TemporaryDirectory() as folder:
        config = {"kafkastub.flush": "never"}
        with (
            KafkaStub(topics={TOPIC: PARTITIONS}, config=config, data_dir=folder) as stub,
            Client(stub.host, stub.port) as client,
        ):
            _fill(client, range(groups))
        start = perf_counter_ns()
        with KafkaStub(config=config, data_dir=folder) as stub:
            stub.expire_offsets_now()  # waits until the coordinator has loaded
            return _ms(start)


def _upkeep(groups: int) -> Upkeep:
    taken, expired, due_ms = _sweeps(groups)
    return Upkeep(
        groups * PARTITIONS, statistics.median(taken), max(taken), expired, due_ms, restart_ms=_restart(groups)
    )


if __name__ == "__main__":
    print(json.dumps(asdict(_upkeep(int(sys.argv[1])))))
