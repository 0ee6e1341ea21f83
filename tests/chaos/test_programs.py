"""What chaos is for, with Java's clients and with franz-go: as test_workers.py has it with aiokafka."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.chaos import programs
from tests.chaos.orders import lost_by
from tests.chaos.programs import Program
from tests.oracle.jars import OracleError
from tests.toolchains import Unavailable

SEEDS = int(os.environ.get("CHAOS_SEEDS", "5"))
"""`make chaos` has a thousand."""
BUGS = ["commits_first", "forgets_to_rewind", "leaves_out"]


@pytest.fixture(scope="module", params=[programs.java, programs.go], ids=["java", "franz-go"])
def program(request: pytest.FixtureRequest) -> Iterator[Program]:
    try:
        command = request.param()
    except (OracleError, Unavailable) as missing:
        pytest.skip(str(missing))
    with Program(command) as running:
        yield running


@pytest.mark.parametrize("worker", ["classic-correct", "consumer-correct", *(f"classic-{bug}" for bug in BUGS)])
def test_a_plain_test_finds_nothing(program: Program, worker: str):
    assert not lost_by(program, worker, None)


@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_is_found_within_fifty_seeds(program: Program, bug: str):
    assert any(lost_by(program, f"classic-{bug}", seed, grace=1) for seed in range(50))


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_correct_worker_survives(program: Program, protocol: str):
    for seed in range(SEEDS):
        assert not lost_by(program, f"{protocol}-correct", seed), f"seed {seed}"
