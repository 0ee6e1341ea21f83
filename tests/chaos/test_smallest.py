"""A worker with a bug, and the smallest trouble that finds it: what is printed is a test file, and that fails."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MOST_ACTS = 3
SOURCE = """
import time

import pytest
from tests.chaos.orders import COUNT, HEARTBEATS, LEVEL, PARTITIONS, all_committed, left, order
from tests.chaos.workers import working
from tests.conftest import CONFIG
from tests.waiting import SECONDS, until


@pytest.mark.parametrize("worker", ["forgets_to_rewind"])
@pytest.mark.kafka_stub(
    topics={"orders": PARTITIONS, "confirmed": 1}, config={**CONFIG, **HEARTBEATS}, chaos=range(50), chaos_level=LEVEL
)
def test_every_order_is_confirmed(kafka_stub, worker):
    order(kafka_stub, 0, COUNT)
    with working(worker, kafka_stub.bootstrap_servers):
        all_committed(kafka_stub)
        over = time.monotonic() + 1
        until(lambda: not left(kafka_stub) or time.monotonic() > over, "the end of the grace", 2 * SECONDS)
    assert not left(kafka_stub)
"""


def test_the_smallest_trouble_of_a_worker_with_a_bug_is_a_test_file_that_fails(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyfile(test_worker=SOURCE)
    plugin = "-p", "kafkastub.pytest_plugin"
    found = pytester.runpytest_subprocess(*plugin, "-x", "--kafka-stub-shrink", "test_worker.py").stdout.str()
    sizes = re.search(r"^(\d+) of (\d+) acts of seed \d+, level 2: \d+ runs, ", found, re.M)
    assert sizes is not None, found
    assert 1 <= int(sizes[1]) <= MOST_ACTS < int(sizes[2])
    printed = re.search(r"^# (test_\w+\.py), next to test_worker\.py\n(.*?)^(?:-|=){3}", found, re.M | re.S)
    assert printed is not None, found
    pytester.path.joinpath(printed[1]).write_text(printed[2])
    if "the test failed each time" in found:  # on a busy machine it may fail without any reason, or not fail
        again = pytester.runpytest_subprocess(*plugin, printed[1])
        again.assert_outcomes(failed=1)
        again.stdout.fnmatch_lines(["*assert not *left*"])
