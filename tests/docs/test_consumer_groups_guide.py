"""docs/consumer-groups.md: its programs run, its rules are taken, its tables are complete, its commands print that."""

from __future__ import annotations

import ast
import json
import re
import shlex

import httpx
import pytest

from kafkastub import KafkaStub
from kafkastub.views.groups import GroupView, MemberView
from tests.cli.kafkas_tools import run
from tests.docs.generated import DOCS
from tests.stub.consumers import AT_ONCE, Player, rounds

GUIDE = (DOCS / "consumer-groups.md").read_text()
PROGRAMS = re.findall(r"```python\n# (test_\w+)\.py\n(.*?)```", GUIDE, re.DOTALL)
RULES = re.findall(r"^\| .* \| `(api=.*)` \|$", GUIDE, re.MULTILINE)
BODIES = re.findall(r"^\| (PUT|POST) `(/v1/\S+)` \| `(\{.*\})` \|$", GUIDE, re.MULTILINE)


def test_every_program_has_the_name_of_a_file_but_for_the_configuration_that_all_share() -> None:
    (quick,) = re.findall(r"```python\n(QUICK = .*?)```", GUIDE, re.DOTALL)
    assert len(PROGRAMS) == GUIDE.count("```python") - 1
    shared = set(ast.literal_eval(ast.parse(quick).body[0].value).items())  # type: ignore[attr-defined]
    for _, text in PROGRAMS:
        (of_it,) = re.findall(r"^QUICK = (\{.*?\n\})", text, re.DOTALL | re.MULTILINE)
        assert set(ast.literal_eval(of_it).items()) >= shared


@pytest.mark.parametrize(("name", "text"), PROGRAMS, ids=[name for name, _ in PROGRAMS])
def test_a_program_runs_as_it_is(name: str, text: str) -> None:
    found: dict[str, object] = {}
    exec(compile(text, f"{name}.py", "exec"), found)
    (program,) = [each for key, each in found.items() if key.startswith("test_")]
    assert callable(program)
    program()


def test_every_rule_is_one_that_can_match() -> None:
    assert len(RULES) == 7
    with KafkaStub() as stub:
        for rule in RULES:
            call = ast.parse(f"rule({rule})", mode="eval").body
            assert isinstance(call, ast.Call)
            fields = {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}
            stub.faults.add(group="shipping", **fields)


def test_the_tables_name_all_that_is_told() -> None:
    told = set(re.findall(r"`(\w+)(?:\(\w*\))?`", "".join(re.findall(r"^\| `.*?\|", GUIDE, re.MULTILINE))))
    assert told >= {*GroupView.__dataclass_fields__, *MemberView.__dataclass_fields__, "view"} - {"group_id"}


def test_the_commands_and_the_port_say_what_the_guide_shows() -> None:
    (block,) = re.findall(r"```console\n(.*?)```", GUIDE, re.DOTALL)
    commands = [part.split("\n", 1) for part in re.split(r"^\$ ", block, flags=re.MULTILINE) if part]
    assert commands
    with KafkaStub(topics={"orders": 4}, config=AT_ONCE, control_port=0) as stub:
        one, two = (Player(stub, name, group="shipping") for name in ("one", "two"))
        rounds(one)
        rounds(one, two)
        for command, expected in commands:
            done = run(*shlex.split(command)[1:], "--bootstrap-server", stub.bootstrap_servers)
            said = (done.err + done.out).replace(stub.bootstrap_servers, "127.0.0.1:9092")
            assert [line.split() for line in said.splitlines()] == [line.split() for line in expected.splitlines()]
        assert len(BODIES) == 4
        for method, path, body in BODIES:
            assert httpx.request(method, stub.control_url + path, json=json.loads(body)).status_code == 200, path
        for each in (one, two):
            each.close()
