"""What is tried by tests with examples that are made: the same in each run in CI, something new everywhere else."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

_PLAYED = """
import json, random
import tests.conftest
from hypothesis import given, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test
{before}
found = []

@settings(max_examples=100)
@given(st.integers(0, 10**6), st.text(max_size=30))
def plays(number, text):
    found.append([number, text])

class Machine(RuleBasedStateMachine):
    @rule(number=st.integers())
    def one(self, number):
        found.append(number)

plays()
run_state_machine_as_test(Machine, settings=settings(max_examples=20, stateful_step_count=5))
print(json.dumps(found))
"""


def played(ci: str, before: str = "") -> list[object]:
    """The examples of a run of its own, with what was done in it `before`."""
    environment = {name: value for name, value in os.environ.items() if name != "CI"} | ({"CI": ci} if ci else {})
    done = subprocess.run(
        [sys.executable, "-c", _PLAYED.format(before=before)],
        env=environment, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    found: list[object] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("before", ["", "random.seed(7)", "import kafkastub.cli, tests.share_partitions.scenarios"])
def test_in_ci_examples_are_the_same_whatever_was_loaded_before(before: str):
    assert played("true", before) == played("true")


def test_elsewhere_each_run_has_examples_of_its_own():
    assert played("") != played("")
