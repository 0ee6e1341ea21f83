"""A run with a deadline begins no test behind it, and says how many that were."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.deadline import UNTIL

SOURCE = """
import pytest

@pytest.mark.parametrize("n", range(6))
def test_it(n): pass
"""


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    root = Path(__file__).parents[1]
    pytester.makeconftest(
        f"import sys\nsys.path.insert(0, {str(root)!r})\nfrom tests.deadline import keep as pytest_configure"
    )
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function")
    pytester.makepyfile(SOURCE)

    def run(until: float | None, *arguments: str) -> pytest.RunResult:
        if until is None:
            monkeypatch.delenv(UNTIL, raising=False)
        else:
            monkeypatch.setenv(UNTIL, str(until))
        return pytester.runpytest_subprocess(*arguments)

    return run


@pytest.mark.parametrize("workers", ["0", "2"])
def test_behind_the_deadline_nothing_is_begun(run, workers: str):
    result = run(time.time() - 1, "-n", workers)
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result.stdout.fnmatch_lines([f"the time of {UNTIL} was over: 6 tests were not begun", "*no tests ran in*"])


@pytest.mark.parametrize("seconds", [None, 3600])
def test_before_it_everything_is_run(run, seconds: float | None):
    result = run(None if seconds is None else time.time() + seconds, "-n", "2")
    result.assert_outcomes(passed=6)
    result.stdout.no_fnmatch_line("*were not begun*")
