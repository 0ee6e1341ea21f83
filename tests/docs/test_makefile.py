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


def test_a_release_names_its_steps_and_what_is_not_ready() -> None:
    done = subprocess.run(
        ["make", "--no-print-directory", "release", "ARGS=--dry-run"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    steps = [line.removeprefix("make ") for line in done.stdout.splitlines() if line.startswith("make ")]
    assert steps[0] == "check"
    known = {line.partition(":")[0] for line in (ROOT / "Makefile").read_text().splitlines() if ":" in line}
    assert set(steps) <= known
    ready = {line for line in done.stderr.splitlines() if line.startswith("not ready: ")}
    version = next(iter((ROOT / "tests/upgrades").glob("*.tar.xz"))).name.removesuffix(".tar.xz")
    assert f"not ready: tests/upgrades/{version}.tar.xz is missing" not in "".join(ready)
