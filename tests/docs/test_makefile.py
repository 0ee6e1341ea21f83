"""What the Makefile does itself."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("targets", "status", "said"),
    [("help help", 0, "make nightly: all passed: help help"), ("no-such help", 2, "make nightly: failed: no-such")],
)
def test_nightly_runs_all_of_it_and_says_what_failed(targets: str, status: int, said: str) -> None:
    done = subprocess.run(
        ["make", "nightly", f"NIGHTLY={targets}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == status
    assert said in (done.stdout + done.stderr).splitlines()
    assert "make nightly       what takes hours" in done.stdout  # by help, which came last
