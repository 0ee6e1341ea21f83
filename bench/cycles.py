"""Requests that are different each time: cycles of steps, each of which is timed by itself.

What makes the next frame happens between the steps. Each step is a row of its own among the round trips; of the rates
there are those of whole cycles.
"""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from time import monotonic, perf_counter_ns

from bench.contestants import Contestant
from bench.frames import BadAnswer, Client
from bench.placement import APART, TOGETHER, placed
from bench.wire import ECHO, LEAST_ROUNDS, Effort, Measured, Series

Cycle = Callable[[], Iterator[int]]
"""Does the steps once; gives the nanoseconds of each."""
WARM_UP = 20
"""Cycles."""


def measure(
    steps: Sequence[str], contestants: Sequence[Contestant], effort: Effort, begin: Callable[[Client], Cycle]
) -> dict[str, Measured]:
    """The round trips of each step, of every contestant but the echo; `begin` is called before each round."""
    servers = deque(one for one in contestants if one.name != ECHO)
    found: dict[str, Measured] = {step: {one.name: Series() for one in servers} for step in steps}
    deadline = monotonic() + effort.most_seconds
    for number in range(effort.rounds):
        if number >= LEAST_ROUNDS and monotonic() > deadline:
            break
        servers.rotate()
        for contestant in servers:
            series = [found[step][contestant.name] for step in steps]
            if series[0].failure is None:
                try:
                    _round(contestant, series, effort, begin)
                except (BadAnswer, OSError) as error:
                    series[0].failure = f"{type(error).__name__}: {error}"
                    for one in series[1:]:
                        one.failure = series[0].failure
    return found


def _round(contestant: Contestant, series: list[Series], effort: Effort, begin: Callable[[Client], Cycle]) -> None:
    with Client(contestant.host, contestant.port) as client:
        cycle = begin(client)
        rates = []
        for placement in (TOGETHER, APART):
            with placed(contestant, placement):
                taken = _cycles(cycle, len(series), effort.seconds * len(series))
            rates.append(1e9 / statistics.fmean(map(sum, zip(*taken, strict=True))))
            for one, each in zip(series, taken, strict=True):
                each.sort()
                p50, p99 = (one.p50_us, one.p99_us) if placement == TOGETHER else (one.apart_p50_us, one.apart_p99_us)
                p50.append(statistics.median(each) / 1000)
                p99.append(each[min(len(each) - 1, len(each) * 99 // 100)] / 1000)
        for one in series:
            one.per_second.append(max(rates))


def _cycles(cycle: Cycle, steps: int, seconds: float) -> list[list[int]]:
    """The nanoseconds of each step, in order."""
    taken: list[list[int]] = [[] for _ in range(steps)]
    for _ in range(WARM_UP):
        list(cycle())
    until = perf_counter_ns() + int(seconds * 1e9)
    while perf_counter_ns() < until:
        for times, elapsed in zip(taken, cycle(), strict=True):
            times.append(elapsed)
    return taken
