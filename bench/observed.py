"""What it costs to be watched: journal, metrics and one fault rule that matches nothing, all on and all off.

python -m bench.observed    such a broker on a free port, until standard input ends
"""

from __future__ import annotations

import asyncio
import contextlib
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bench import cases
from bench.contestants import Contestant, Unavailable, module, process_that_says_ready, stub
from bench.frames import Client
from bench.load import Request, pipelined, verify

NAME = "observed"
CASES = (
    "offset-commit/1",
    "offset-commit/10",
    "offset-commit/100",
    "offset-fetch/10",
    "heartbeat",
    "streams-heartbeat",
    "produce/1x100B",
)
BUDGET = 0.85
"""Of the pipelined rate without."""
_DELAYS = ("group.initial.rebalance.delay.ms", "group.streams.initial.rebalance.delay.ms")
REQUESTS = 20_000
SECONDS = 60
_FEWEST = 8


@contextlib.contextmanager
def _observed() -> Iterator[Contestant]:
    with process_that_says_ready(NAME, module("bench.observed")) as running:
        yield running


@dataclass
class Watching:
    """Nanoseconds of the server's processor time for a pipelined request, a number a round."""

    plain: list[float] = field(default_factory=list)
    watched: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """The pipelined rate with everything on, by the one without: what a server with a processor of its own does."""
        return statistics.median(a / b for a, b in zip(self.plain, self.watched, strict=True))


def run(rounds: int) -> dict[str, Watching]:
    """By case. Raises Unavailable."""
    found: dict[str, Watching] = {}
    with stub() as plain, _observed() as watched:
        for contestant in (plain, watched):
            with Client(contestant.host, contestant.port) as client:
                cases.prepare_server(client)
        for case in cases.CASES:
            if case.name in CASES:
                watching = found[case.name] = Watching()
                for _ in range(rounds):
                    watching.plain.append(measured(case, plain))
                    watching.watched.append(measured(case, watched))
    return found


def measured(case: cases.Case, contestant: Contestant, most_bytes: int | None = None) -> float:
    """Nanoseconds of the server's processor time for a request; of requests and answers of so many bytes at most."""
    count = min(REQUESTS, case.limit)
    with Client(contestant.host, contestant.port) as client:
        message = case.prepare(client)
        try:
            request = Request.prepared(client, message, case.version)
            verify(client, request)
            if most_bytes is not None:
                count = max(_FEWEST, min(count, most_bytes // (len(request.frames(1)[0]) + request.answer_size)))
            pipelined(client, request, SECONDS, count // 4)
            before = processor_ns(contestant)
            pipelined(client, request, SECONDS, count)
            taken = processor_ns(contestant) - before
            verify(client, request)
        finally:
            case.done(client, message)
    return taken / count


def processor_ns(contestant: Contestant) -> int:
    """How long the server has had a processor. It does not depend on who else wants one."""
    assert contestant.process is not None
    try:
        return int(Path(f"/proc/{contestant.process.pid}/schedstat").read_text().split()[0])
    except OSError:
        raise Unavailable("processor time is read from /proc, which is not here") from None


async def _serve() -> None:
    from kafkastub.config import BrokerConfig, Profile
    from kafkastub.faults import FaultRule
    from kafkastub.journal import DEFAULT_BYTES, DEFAULT_ENTRIES, Ring
    from kafkastub.server.broker import Broker
    from kafkastub.server.logs import process_logger
    from kafkastub.server.watching.metrics import Metrics
    from kafkastub.stub.faults import attach

    loop = asyncio.get_running_loop()
    broker = Broker(
        BrokerConfig(dict.fromkeys(_DELAYS, 0), Profile.named("kips")),
        process_logger("console", "warning"),
    )
    await broker.start()
    broker.observer.set_journal(Ring(DEFAULT_ENTRIES, DEFAULT_BYTES))
    broker.observer.set_metrics(Metrics())
    attach(broker, [FaultRule(api="OffsetCommit", group="nobody's", error="NOT_COORDINATOR")])
    print(f"{NAME} ready on {broker.host}:{broker.port}", flush=True)
    await loop.run_in_executor(None, sys.stdin.buffer.read)
    await broker.stop()


if __name__ == "__main__":
    import gc

    from kafkastub.server.loops import new_event_loop

    gc.freeze()
    gc.set_threshold(50_000, 20, 100)  # as `kafkastub serve` has it
    loop = new_event_loop()
    loop.run_until_complete(_serve())
    loop.close()
