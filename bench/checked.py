"""What it costs to have the guarantees checked: a broker with a journal, and one with a journal that a check follows.

python -m bench.checked plain|checked    such a broker on a free port, until standard input ends

Each case has two fresh brokers: what a check sets aside is read when it is asked, or when `MOST_BYTES` of it wait.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Iterator

from bench import cases
from bench.contestants import Contestant, module, process_that_says_ready
from bench.frames import Client
from bench.observed import Watching, measured

NAME = "checked"
CASES = ("offset-commit/1", "offset-commit/10", "offset-fetch/10", "heartbeat", "produce/1x100B", "fetch/1MB")
LONG = "fetch/1MB, 512 of them"
"""So many that a check does not wait with all of them: it reads what is beyond `MOST_BYTES` while the broker serves."""
ROWS = (*CASES, LONG)
BUDGET = 0.95
"""Of the pipelined rate with a journal alone."""
_BYTES = 12 << 20
"""That a case may move, so that nothing is read while it is measured: less than half of what may wait."""
_LONG_BYTES = 512 << 20
_PLAIN, _CHECKED = "plain", "checked"


@contextlib.contextmanager
def _broker(which: str) -> Iterator[Contestant]:
    with process_that_says_ready(which, [*module("bench.checked"), which]) as running:
        with Client(running.host, running.port) as client:
            cases.prepare_server(client)
        yield running


def run(rounds: int) -> dict[str, Watching]:
    """By case. Raises Unavailable."""
    by_name = {case.name: case for case in cases.CASES}
    found: dict[str, Watching] = {}
    for row in ROWS:
        case, most_bytes = by_name[row.partition(",")[0]], _LONG_BYTES if row == LONG else _BYTES
        watching = found[row] = Watching()
        for _ in range(rounds):
            with _broker(_PLAIN) as plain, _broker(_CHECKED) as checked:
                watching.plain.append(measured(case, plain, most_bytes))
                watching.watched.append(measured(case, checked, most_bytes))
    return found


async def _serve(which: str) -> None:
    from kafkastub.config import BrokerConfig, Profile
    from kafkastub.guarantees.following import follower_of
    from kafkastub.journal import DEFAULT_BYTES, DEFAULT_ENTRIES, Ring
    from kafkastub.server.broker import Broker
    from kafkastub.server.logs import process_logger

    config = BrokerConfig({"group.initial.rebalance.delay.ms": 0}, Profile.named("kips"))
    broker = Broker(config, process_logger("console", "warning"))
    await broker.start()
    ring = Ring(DEFAULT_ENTRIES, DEFAULT_BYTES)
    broker.observer.set_journal(ring)
    if which == _CHECKED:
        follower_of(ring, broker.name_of)
    print(f"{which} ready on {broker.host}:{broker.port}", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.buffer.read)
    await broker.stop()


if __name__ == "__main__":
    import gc

    from kafkastub.server.loops import new_event_loop

    gc.freeze()
    gc.set_threshold(50_000, 20, 100)  # as `kafkastub serve` has it
    loop = new_event_loop()
    loop.run_until_complete(_serve(sys.argv[1]))
    loop.close()
