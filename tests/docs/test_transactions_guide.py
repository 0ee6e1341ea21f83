"""docs/transactions.md: its programs run, its rules are taken, its commands print what stands there."""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
import shlex

import pytest

from kafkastub import KafkaStub
from tests.cli.kafkas_tools import run
from tests.docs.generated import DOCS
from tests.stub.test_transactions import producing
from tests.waiting import SECONDS

GUIDE = (DOCS / "transactions.md").read_text()
PROGRAMS = re.findall(r"```python\n# (test_\w+)\.py\n(.*?)```", GUIDE, re.DOTALL)
RULES = re.findall(r"^\| .* \| `(api=.*)` \|$", GUIDE, re.MULTILINE)
MARCH = 1_772_366_400_000
"""2026-03-01T12:00:00Z in ms."""


def test_every_program_has_the_name_of_a_file() -> None:
    assert len(PROGRAMS) == GUIDE.count("```python")


@pytest.mark.parametrize(("name", "text"), PROGRAMS, ids=[name for name, _ in PROGRAMS])
def test_a_program_runs_as_it_is(name: str, text: str) -> None:
    found: dict[str, object] = {}
    exec(compile(text, f"{name}.py", "exec"), found)
    (program,) = [each for key, each in found.items() if key.startswith("test_")]
    assert callable(program)
    outcome = program()
    if inspect.iscoroutine(outcome):
        asyncio.run(outcome)


def test_every_rule_is_one_that_can_match() -> None:
    assert len(RULES) == 6
    with KafkaStub() as stub:
        for rule in RULES:
            call = ast.parse(f"rule({rule})", mode="eval").body
            assert isinstance(call, ast.Call)
            fields = {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}
            stub.faults.add(transactional_id="shop", **fields)


def test_the_commands_print_what_the_guide_shows() -> None:
    (block,) = re.findall(r"```console\n(.*?)```", GUIDE, re.DOTALL)
    commands = [part.split("\n", 1) for part in re.split(r"^\$ ", block, flags=re.MULTILINE) if part]
    assert commands
    with KafkaStub(topics={"orders": 1}) as stub:
        stub.clock.freeze()
        stub.clock.set(MARCH)
        producing(stub, partitions=1).commit_transaction(SECONDS)
        stub.transactions.hang("orders", 0)
        for command, expected in commands:
            done = run(*shlex.split(command)[1:], "--bootstrap-server", stub.bootstrap_servers)
            assert [line.rstrip() for line in (done.err + done.out).splitlines()] == expected.splitlines(), command
        assert stub.transactions.find_hanging() == []


def test_every_option_of_the_guide_exists() -> None:
    actions = ("list", "describe", "describe-producers", "abort", "find-hanging", "force-terminate")
    known = set(re.findall(r"--[a-z][a-z-]*", "".join(run("transactions", one, "--help").out for one in actions)))
    assert set(re.findall(r"--[a-z][a-z-]*", GUIDE)) <= known
