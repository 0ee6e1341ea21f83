"""Kafka Streams with exactly_once_v2: killed in the middle, later ended in order, and started again each time.

The stores are in memory: what an instance has counted or waits to join with, the next one has from the changelog, up to
the last committed transaction.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from tests.programs.judging import aborted, each_once
from tests.programs.stage import Row, Stage
from tests.programs.streams.application import PARTITIONS, WORDS, Application

LINES: Final = 12_000
PAIRS: Final = 12_000
RATE: Final = 400
"""Records a second. There has to be a middle: what a dead instance has begun is over after its transaction.timeout.ms
of 10 s, looked for every 10 s, and until then the next one has nothing to restore from."""


def _interrupt(stage: Stage, application: Application, target: str) -> Iterator[str]:
    """Kill the first in a transaction, after committed ones; end the second in order. A third goes on."""
    first = application.start()
    stage.some_committed(target)
    stage.kill_in_transaction(first, target)
    yield "the first: killed in a transaction"
    second = application.start()
    second.says("RUNNING")
    stage.some_committed(target, stage.ends(target))
    second.terminate()
    yield "the second: ended in order, in the middle"
    application.start()


def count(stage: Stage) -> Iterator[str]:
    """Every word's counts, from one on, each once."""
    choice = random.Random(1).choices
    lines = [" ".join(choice(WORDS, k=4)) for _ in range(LINES)]
    source, target = (stage.create(stage.name(what), PARTITIONS) for what in ("lines", "counts"))
    rows: list[Row] = [(number % PARTITIONS, "", line) for number, line in enumerate(lines)]
    with stage.feeding(RATE, (source, rows)):
        yield from _interrupt(stage, Application(stage, "count", source, target), target)
    totals = Counter(word for line in lines for word in line.split())
    expected = [(word, str(number)) for word, total in totals.items() for number in range(1, total + 1)]
    yield from _told(stage, target, expected, "counts")


def join(stage: Stage) -> Iterator[str]:
    """Every order with its payment, each once; payments come in another order, some before their orders."""
    orders, payments, target = (stage.create(stage.name(what), PARTITIONS) for what in ("orders", "payments", "paid"))
    numbers = list(range(PAIRS))
    of_orders: list[Row] = [(number % PARTITIONS, str(number), f"order {number}") for number in numbers]
    random.Random(1).shuffle(numbers)
    of_payments: list[Row] = [(number % PARTITIONS, str(number), f"payment {number}") for number in numbers]
    with stage.feeding(RATE, (orders, of_orders), (payments, of_payments)):
        yield from _interrupt(stage, Application(stage, "join", orders, payments, target), target)
    expected = [(str(number), f"order {number}+payment {number}") for number in range(PAIRS)]
    yield from _told(stage, target, expected, "pairs")


def _told(stage: Stage, target: str, expected: Iterable[tuple[str, str]], what: str) -> Iterator[str]:
    expected = list(expected)
    stage.read_at_least(target, len(expected))
    yield stage.no_transaction_is_open(target)
    committed = stage.read(target)
    yield each_once(expected, ((one.key, one.value) for one in committed), what)
    yield aborted(committed, stage.read(target, committed=False))
