"""A difference as a file: a scenario that `kafkastub conform --scenario` replays, and a test for pytest."""

from __future__ import annotations

import re
from pprint import pformat

from kafkastub_conformance.differential.compare import Difference
from kafkastub_conformance.differential.scenario import Scenario

WIDTH = 110

TEST = '''"""{title}

{fields}

Expected is what {reference} answered, got what {tested} did. KAFKA_STUB_BOOTSTRAP names another broker to test.
{again}"""

import os

from kafkastub.conformance.differential import replayed

BROKER = os.environ.get("KAFKA_STUB_BOOTSTRAP", "{address}")

SCENARIO = {scenario}


def test_{name}() -> None:
    difference = replayed(SCENARIO, BROKER)
    assert difference is None, f"\\n{{difference}}"
'''


def scenario_of(difference: Difference) -> Scenario:
    """The scenario as far as the difference, with the expected answers."""
    scenario = difference.scenario
    return Scenario(
        scenario.name, scenario.groups, scenario.config, scenario.steps[: difference.index + 1], scenario.ignore
    )


def python_test(difference: Difference, tested: str, reference: str, command: str = "") -> str:
    """The source of a test that fails where the difference is, and passes where it is not.

    Args:
        tested, reference: what the two brokers are called; the address in the test is the one in `tested`.
        command: what found it.
    """
    step, answered = difference.step.title(), not difference.fields[0].path.startswith("state")
    address = re.search(r"[^\s()]+:\d+", tested)
    return TEST.format(
        title=_prose(f"{step} is answered otherwise." if answered else f"A group is otherwise after {step}."),
        fields="\n".join(_prose(f"- {one}") for one in difference.fields[:10]),
        reference=_prose(reference),
        tested=_prose(tested),
        again=f"\nFound by: {_prose(command)}\n" if command else "",
        address=address[0] if address else "localhost:9092",
        scenario=pformat(scenario_of(difference).to_json(), width=WIDTH, sort_dicts=False),
        name=file_name(difference),
    )


def file_name(difference: Difference) -> str:
    """A name for the files, and of the test: groups_7_heartbeat_v4_error_code."""
    last = difference.signature[1].rpartition(".")[2]
    words = f"{difference.scenario.name} {difference.step.title().partition(' on ')[0]} {last}"
    return re.sub(r"\W+", "_", words, flags=re.ASCII).strip("_").lower()


def _prose(text: str) -> str:
    """Text that may stand in a docstring."""
    return text.replace("\\", "\\\\").replace('"""', "'''")
