"""What chaos is for: workers with a bug pass plain tests, and some seed finds them out; a correct one survives all."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import suppress

import pytest

from kafkastub import KafkaStub, RecordsTimeout
from tests.chaos import workers
from tests.chaos.workers import Worker, supervised
from tests.conftest import CONFIG
from tests.waiting import SECONDS

ORDERS = {str(number).encode() for number in range(60)}
SEEDS = int(os.environ.get("CHAOS_SEEDS", "25"))
"""`make chaos` has a thousand."""
BUGS = [workers.commits_first, workers.forgets_to_rewind, workers.leaves_out]


def missing_after(worker: Worker, seed: int | None, patience: float = 1.5) -> set[bytes]:
    """The orders that are not confirmed, once none was for `patience` seconds."""
    with KafkaStub(topics={"orders": 2, "confirmed": 1}, config=CONFIG, chaos=seed, chaos_level=2) as stub:
        for order in sorted(ORDERS, key=int):
            stub.produce("orders", order.decode(), partition=int(order) % 2)

        async def scenario() -> None:
            working = asyncio.create_task(supervised(worker, stub.bootstrap_servers))
            confirmed = 0
            with suppress(RecordsTimeout):
                while left(stub):
                    confirmed = len(await stub.aio.wait_records("confirmed", confirmed + 1, timeout=patience))
            while not working.done():  # wait_for may keep a cancellation to itself (Python 3.11)
                working.cancel()
                await asyncio.wait([working], timeout=1)

        asyncio.run(scenario())
        return left(stub)


def left(stub: KafkaStub) -> set[bytes]:
    return ORDERS - {record.value for record in stub.records("confirmed")}


@pytest.mark.parametrize("worker", [workers.correct, *BUGS], ids=lambda worker: worker.__name__)
def test_a_plain_test_finds_nothing(worker: Worker):
    assert not missing_after(worker, None)


@pytest.mark.parametrize("worker", BUGS, ids=lambda worker: worker.__name__)
def test_a_bug_is_found_within_fifty_seeds(worker: Worker):
    found: Iterator[int] = (seed for seed in range(50) if missing_after(worker, seed))
    assert next(found, None) is not None


def test_a_correct_worker_survives():
    for seed in range(SEEDS):
        assert not missing_after(workers.correct, seed, SECONDS), f"seed {seed}"
