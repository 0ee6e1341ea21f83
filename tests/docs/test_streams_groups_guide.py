"""docs/streams-groups.md: its programs run beside its application, its tables are complete, its commands print that."""

from __future__ import annotations

import ast
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from kafkastub import KafkaStub
from kafkastub.stub.of_groups import GroupOfType
from kafkastub.stub.streams_groups import StubStreamsGroup
from kafkastub.views.streams_groups import StreamsMemberView, SubtopologyView, TaskView, TopologyView
from kafkawire.messages.streams_group_heartbeat_request import Subtopology, Topology
from tests.cli.kafkas_tools import run
from tests.docs.generated import DOCS
from tests.oracle.jars import TOOLS, compiled, java_command
from tests.streams_instance import QUICK, Instance, settle

GUIDE = (DOCS / "streams-groups.md").read_text()
PROGRAMS = re.findall(r"```python\n# (test_\w+)\.py\n(.*?)```", GUIDE, re.DOTALL)
CALLS = re.findall(r"^\| (GET|PUT|POST) `(/v1/\S+)` \| (?:`(\{.*?\})`)?.*\|$", GUIDE, re.MULTILINE)
GIVEN = re.findall(r"^```python\nQUICK = (.*?)```", GUIDE, re.DOTALL | re.MULTILINE)


@pytest.fixture
def application(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`java Words` runs what the guide has."""
    (text,) = re.findall(r"```java\n(.*?)```", GUIDE, re.DOTALL)
    source = tmp_path / "Words.java"
    source.write_text(text)
    command = java_command("Words", classes=compiled(source, TOOLS), release=TOOLS)
    monkeypatch.setenv("CLASSPATH", command[command.index("-cp") + 1])


@pytest.mark.usefixtures("application")
@pytest.mark.parametrize(("name", "text"), PROGRAMS, ids=[name for name, _ in PROGRAMS])
def test_a_program_runs_as_it_is(name: str, text: str, tmp_path: Path) -> None:
    found: dict[str, Any] = {}
    exec(compile(text, f"{name}.py", "exec"), found)
    (program,) = [each for key, each in found.items() if key.startswith("test_")]
    assert found["QUICK"] == ast.literal_eval(GIVEN[0]) == QUICK
    checked: Callable[[Path], None] = program
    checked(tmp_path / "state")


def test_the_tables_name_all_that_is_told() -> None:
    rows = "".join(re.findall(r"^\|.*\|", GUIDE, re.MULTILINE))
    told = set(re.findall(r"`(?:group\[[^`]*|(\w+)(?:\(\w*\))?)`", rows))
    fields = {*StreamsMemberView.__dataclass_fields__, *TaskView._fields, *TopologyView._fields}
    fields |= set(SubtopologyView.__dataclass_fields__) | {"inputs", "stateful"}
    named = {*vars(GroupOfType), *vars(StubStreamsGroup)} - {"view", "end_session", "shut_down"}
    group = {name for name in named if not name.startswith("_")}
    assert told >= fields | group


def test_the_commands_and_the_port_say_what_the_guide_shows() -> None:
    (block,) = re.findall(r"```console\n(.*?)```", GUIDE, re.DOTALL)
    commands = [part.split("\n", 1) for part in re.split(r"^\$ ", block, flags=re.MULTILINE) if part]
    assert commands
    topology = Topology(0, [Subtopology("0", source_topics=["lines"])])
    with (
        KafkaStub(topics=["lines"], config=QUICK, control_port=0) as stub,
        Instance(stub.bootstrap_servers, "one", topology=topology) as one,
    ):
        settle(one)
        for command, expected in commands:
            done = run(*shlex.split(command)[1:], "--bootstrap-server", stub.bootstrap_servers)
            assert [line.split() for line in done.out.splitlines()] == [line.split() for line in expected.splitlines()]
        assert len(CALLS) == 7
        for method, path, body in CALLS:
            content = json.loads(body) if body else None
            assert httpx.request(method, stub.control_url + path, json=content).status_code == 200, path
