"""docs/share-groups.md: its programs run, its rules are taken, its tables are complete, its commands print that."""

from __future__ import annotations

import ast
import json
import re
import shlex
from pathlib import Path

import httpx
import pytest
from confluent_kafka import ShareConsumer

from kafkastub import KafkaStub
from kafkastub.views.share_groups import RecordsView, SharePartitionView
from tests.cli.kafkas_tools import run
from tests.docs.generated import DOCS
from tests.oracle.apache_kafka import run_java

GUIDE = (DOCS / "share-groups.md").read_text()
PROGRAMS = re.findall(r"```python\n# (test_\w+)\.py\n(.*?)```", GUIDE, re.DOTALL)
RULES = re.findall(r"^\| .* \| `(api=.*)` \|$", GUIDE, re.MULTILINE)
CALLS = re.findall(r"^\| (GET|PUT|POST) `(/v1/\S+)` \| (?:`(\{.*\})` )?.*\|$", GUIDE, re.MULTILINE)
(QUICK,) = (
    ast.literal_eval(text) for text in re.findall(r"^```python\nQUICK = (.*?)```", GUIDE, re.DOTALL | re.MULTILINE)
)


@pytest.mark.parametrize(("name", "text"), PROGRAMS, ids=[name for name, _ in PROGRAMS])
def test_a_program_runs_as_it_is(name: str, text: str) -> None:
    found: dict[str, object] = {}
    exec(compile(text, f"{name}.py", "exec"), found)
    (program,) = [each for key, each in found.items() if key.startswith("test_")]
    assert found["QUICK"] == QUICK
    assert callable(program)
    program()


def test_the_java_program_renews_a_lock_for_a_minute(tmp_path: Path) -> None:
    (text,) = re.findall(r"```java\n(.*?)```", GUIDE, re.DOTALL)
    source = tmp_path / "Renewing.java"
    source.write_text(text)
    with KafkaStub(topics=["orders"], config=QUICK, control_port=0) as stub:
        stub.share_groups.configure("workers", {"share.auto.offset.reset": "earliest"})
        stub.produce("orders", "order 1")
        done = run_java(source, stub.bootstrap_servers, stub.control_url)
        assert (done.returncode, done.stdout) == (0, "order 1 took a minute, delivery 1\n"), done.stderr
        assert stub.share_groups["workers"]["orders", 0].lag == 0


def test_every_rule_is_one_that_can_match() -> None:
    assert len(RULES) == 7
    with KafkaStub() as stub:
        for rule in RULES:
            call = ast.parse(f"rule({rule})", mode="eval").body
            assert isinstance(call, ast.Call)
            fields = {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}
            stub.faults.add(group="workers", **fields)


def test_the_tables_name_all_that_is_told() -> None:
    told = set(re.findall(r"`(\w+)(?:\(\w*\))?`", "".join(re.findall(r"^\| `.*?\|", GUIDE, re.MULTILINE))))
    views = {name for one in (SharePartitionView, RecordsView) for name in vars(one) if not name.startswith("_")}
    attributes = {"start", "end", "ranges", "is_loaded", "group_id", "topic", "partition"}
    assert told >= (views | attributes) - {"index"}


def test_the_commands_and_the_port_say_what_the_guide_shows() -> None:
    (block,) = re.findall(r"```console\n(.*?)```", GUIDE, re.DOTALL)
    commands = [part.split("\n", 1) for part in re.split(r"^\$ ", block, flags=re.MULTILINE) if part]
    assert commands
    with KafkaStub(topics=["orders"], config=QUICK, control_port=0) as stub:
        stub.share_groups.configure("workers", {"share.auto.offset.reset": "earliest"})
        for number in range(4):
            stub.produce("orders", f"order {number}")
        worker = ShareConsumer(
            {
                "bootstrap.servers": stub.bootstrap_servers,
                "group.id": "workers",
                "client.id": "one",
                "share.acknowledgement.mode": "explicit",
            }
        )
        worker.subscribe(["orders"])
        messages = []
        while not messages:
            messages = list(worker.poll(0.1))
        for message in messages[:2]:
            worker.acknowledge(message)
        worker.commit_sync()
        for command, expected in commands:
            done = run(*shlex.split(command)[1:], "--bootstrap-server", stub.bootstrap_servers)
            said = (done.err + done.out).replace(stub.bootstrap_servers, "127.0.0.1:9092")
            assert [line.split() for line in said.splitlines()] == [line.split() for line in expected.splitlines()]
        for message in messages[2:]:
            worker.acknowledge(message)
        worker.commit_sync()
        assert len(CALLS) == 6
        for method, path, body in CALLS:
            content = json.loads(body) if body else None
            assert httpx.request(method, stub.control_url + path, json=content).status_code == 200, path
        worker.close()
