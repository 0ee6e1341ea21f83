"""`--kafka-stub-shrink`: a test that fails under chaos shows the smallest trouble that it needs, as a test file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ASKS = """
from kafkastub.client import Client
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest

REFUSED = 15  # COORDINATOR_NOT_AVAILABLE

@pytest.fixture
def count():
    return 150

def told(stub, count):
    with Client(stub.bootstrap_servers) as client:
        asked = FindCoordinatorRequest(key="g", coordinator_keys=["g"])
        return [client.ask(asked).coordinators[0].error_code for _ in range(count)]
"""
FAILS = (
    ASKS
    + """
@pytest.mark.parametrize("code", [REFUSED])
@pytest.mark.kafka_stub(topics=["orders"], config={"group.max.size": 9}, chaos=[7], chaos_level=3)
def test_it(kafka_stub, count, code):
    assert code not in told(kafka_stub, count)

class TestAll:
    @pytest.mark.kafka_stub(chaos=[5])
    def test_passes(self, kafka_stub):
        pass
"""
)


def shown(result: pytest.RunResult) -> tuple[str, str]:
    """Name and text of the file that is shown."""
    found = re.search(r"^# (test_\w+\.py), next to \S+\n(.*?)^(?:-|=){3}", result.stdout.str(), re.M | re.S)
    assert found is not None, result.stdout.str()
    return found[1], found[2]


def test_a_failure_shows_the_smallest_trouble_and_that_fails_again(run, pytester: pytest.Pytester) -> None:
    result = run(FAILS, "--kafka-stub-shrink")
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(
        [
            "*failed. It runs again to find the smallest chaos with which it fails: 200 times and 300 s at most",
            "*smallest chaos*",
            "1 of * acts of seed 7, level 3: * runs, * s",
            "The list was played 3 more times, and the test failed each time.",
            "    FindCoordinator #1: COORDINATOR_NOT_AVAILABLE",
        ]
    )
    name, text = shown(result)
    assert 'ChaosAct("FindCoordinator", 1, error="COORDINATOR_NOT_AVAILABLE"),' in text.replace("'", '"')
    Path(pytester.path / name).write_text(text)
    again = pytester.runpytest_subprocess("-p", "kafkastub.pytest_plugin", name)
    again.assert_outcomes(failed=1)
    again.stdout.fnmatch_lines(["*assert 15 not in*", "*a list of 1 acts, 0 still to come*"])


def test_one_that_fails_without_trouble_is_told(run) -> None:
    result = run(
        ASKS
        + """
@pytest.mark.kafka_stub(topics=["orders"], chaos=[7], chaos_level=3)
def test_it(kafka_stub):
    told(kafka_stub, 150)
    assert 0
""",
        "--kafka-stub-shrink",
        "--kafka-stub-shrink-runs",
        "20",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["0 of * acts of seed 7, level 3: 8 runs*", "The test fails without chaos, too."])


def test_another_failure_is_not_taken_for_it(run) -> None:
    """Where a part of the acts makes the test fail elsewhere, that is another matter."""
    result = run(
        ASKS
        + """
@pytest.mark.kafka_stub(topics=["orders"], chaos=[7], chaos_level=3)
def test_it(kafka_stub):
    told(kafka_stub, 150)
    acts = len(kafka_stub.chaos.acts)
    assert acts > 2
    assert acts < 2
""",
        "--kafka-stub-shrink",
    )
    result.stdout.fnmatch_lines(["3 of * acts of seed 7, level 3*"])


def test_bounds_are_kept_and_fixtures_that_are_shared_live_once(run) -> None:
    result = run(
        ASKS
        + """
made = []
runs = []

@pytest.fixture(scope="module")
def shared():
    made.append(1)
    yield made
    made.append(2)

@pytest.mark.kafka_stub(topics=["orders"], chaos=[7], chaos_level=3)
def test_it(kafka_stub, shared):
    runs.append(1)
    told(kafka_stub, 150)
    assert len(kafka_stub.chaos.acts) < 3

def test_behind(shared):
    assert made == [1]
    assert len(runs) == 1 + 12
""",
        "--kafka-stub-shrink",
        "--kafka-stub-shrink-runs",
        "12",
    )
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["The search ended after 9 runs. A smaller list may exist."])


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--kafka-stub-shrink-runs", "3"], "*--kafka-stub-shrink-runs=3 is refused: it must be 9 or more*"),
        (["--kafka-stub-shrink-seconds", "0"], "*--kafka-stub-shrink-seconds=0 is refused*"),
        (["--pdb"], "*--kafka-stub-shrink is refused with --pdb*"),
    ],
)
def test_what_makes_no_sense_is_refused(run, options: list[str], why: str) -> None:
    result = run("def test_it(): pass", "--kafka-stub-shrink", *options)
    assert result.ret != 0
    result.stderr.fnmatch_lines([why])
