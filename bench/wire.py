"""Round trips and pipelined requests of all contestants, in rounds.

A round measures every contestant once, in an order that rotates, so that what disturbs the machine disturbs all of them
alike; the echo comes last, because it answers with as many bytes as another one did. Ratios are taken inside a round
and then their median; medians of the absolute numbers stand beside. Round trips are kept for each placement; of the
rates each contestant keeps its better one.
"""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import monotonic

from bench.cases import Case
from bench.contestants import Contestant
from bench.echo import MARK, SET_ANSWER_SIZE
from bench.frames import BadAnswer, Client
from bench.load import Request, pipelined, round_trips, verify
from bench.placement import APART, TOGETHER, placed
from kafkawire.schema import Message

ECHO = "echo"
LEAST_ROUNDS = 3


@dataclass(frozen=True)
class Effort:
    """How much a run measures."""

    rounds: int
    seconds: float
    """Of each single measurement."""
    most_seconds: float = 15.0
    """For a case: on a busy machine there are then fewer rounds, but at least `LEAST_ROUNDS`."""


@dataclass
class Series:
    """One contestant's numbers for one case, a number a round."""

    p50_us: list[float] = field(default_factory=list)
    p99_us: list[float] = field(default_factory=list)
    """Client and server on one processor."""
    apart_p50_us: list[float] = field(default_factory=list)
    apart_p99_us: list[float] = field(default_factory=list)
    """The server on the others."""
    per_second: list[float] = field(default_factory=list)
    """Pipelined, in the placement that suits it better."""
    answer_size: int = 0
    failure: str | None = None


Measured = dict[str, Series]
"""By contestant."""


def measure(case: Case, contestants: Sequence[Contestant], effort: Effort) -> Measured:
    """Measure one case. A contestant that fails is left out of the rounds that follow; its failure is kept."""
    found: Measured = {contestant.name: Series() for contestant in contestants}
    servers = deque(contestant for contestant in contestants if contestant.name != ECHO)
    echoes = [contestant for contestant in contestants if contestant.name == ECHO]
    deadline = monotonic() + effort.most_seconds
    for number in range(effort.rounds):
        if number >= LEAST_ROUNDS and monotonic() > deadline:
            break
        reference: Request | None = None
        servers.rotate()
        for contestant in servers:
            series = found[contestant.name]
            if series.failure is None:
                try:
                    reference = _measure_one(case, contestant, series, effort)
                except (BadAnswer, OSError) as error:
                    series.failure = f"{type(error).__name__}: {error}"
        for contestant in echoes:
            if reference is not None:
                _measure_echo(reference, case, contestant, found[contestant.name], effort)
    return found


def _measure_one(case: Case, contestant: Contestant, series: Series, effort: Effort) -> Request:
    with Client(contestant.host, contestant.port) as client:
        message: Message = case.prepare(client)
        try:
            request = Request.prepared(client, message, case.version)
            verify(client, request)
            _take(client, contestant, request, case, series, effort)
            verify(client, request)
        finally:
            case.done(client, message)
    return request


def _measure_echo(request: Request, case: Case, contestant: Contestant, series: Series, effort: Effort) -> None:
    with Client(contestant.host, contestant.port) as client:
        client.exchange(SET_ANSWER_SIZE.pack(SET_ANSWER_SIZE.size - 4, MARK, request.answer_size))
        _take(client, contestant, request, case, series, effort)


def _take(client: Client, contestant: Contestant, request: Request, case: Case, series: Series, effort: Effort) -> None:
    rates = []
    trips = ((TOGETHER, series.p50_us, series.p99_us), (APART, series.apart_p50_us, series.apart_p99_us))
    for placement, p50_us, p99_us in trips:
        with placed(contestant, placement):
            taken = round_trips(client, request, effort.seconds, case.limit)
            rates.append(pipelined(client, request, effort.seconds, case.limit))
        taken.sort()
        p50_us.append(statistics.median(taken) / 1000)
        p99_us.append(taken[min(len(taken) - 1, len(taken) * 99 // 100)] / 1000)
    series.per_second.append(max(rates))
    series.answer_size = request.answer_size


def ratio(measured: Measured, attribute: str, of: str, to: str) -> float | None:
    """The median over the rounds of `of`'s number by `to`'s in the same round; None where one has none or failed."""
    ours, theirs = measured.get(of), measured.get(to)
    if ours is None or theirs is None or ours.failure or theirs.failure:
        return None
    pairs = list(zip(getattr(ours, attribute), getattr(theirs, attribute), strict=False))
    return statistics.median(a / b for a, b in pairs) if pairs else None


def middle(measured: Measured, attribute: str, of: str) -> float | None:
    """The median over the rounds; None where there is nothing."""
    series = measured.get(of)
    values = getattr(series, attribute) if series is not None and not series.failure else []
    return statistics.median(values) if values else None
