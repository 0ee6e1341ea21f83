"""What chaos is for: workers with a bug pass plain tests, and some seed finds them out; a correct one survives all."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import pytest

from tests.chaos import workers
from tests.chaos.orders import lost_by
from tests.chaos.workers import working
from tests.waiting import SECONDS

SEEDS = int(os.environ.get("CHAOS_SEEDS", "25"))
"""`make chaos` has a thousand."""
BUGS = ["commits_first", "forgets_to_rewind", "leaves_out"]

# aiokafka leaves connections to the collector when it is cancelled in the middle of something.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(autouse=True)
def left_to_nobody_else() -> Iterator[None]:
    """What it leaves is collected here, not in whichever test comes next."""
    yield
    gc.collect()


@pytest.mark.parametrize("worker", ["correct", *BUGS])
def test_a_plain_test_finds_nothing(worker: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(workers, "PATIENCE", SECONDS)  # a busy machine is no bug of theirs
    assert not lost_by(working, worker, None)


@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_is_found_within_fifty_seeds(bug: str):
    assert any(lost_by(working, bug, seed, grace=1) for seed in range(50))


def test_a_correct_worker_survives():
    for seed in range(SEEDS):
        assert not lost_by(working, "correct", seed), f"seed {seed}"
