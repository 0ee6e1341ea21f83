"""docs/cli.md and docs/as-version.md: the commands print what stands there, the Python runs."""

from __future__ import annotations

import re
import shlex

import pytest

from kafkastub import KafkaStub
from tests.cli.kafkas_tools import run
from tests.docs.generated import DOCS

GUIDES = ["cli.md", "as-version.md"]


def blocks(guide: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / guide).read_text(), re.DOTALL)


def test_the_commands_print_what_the_guide_shows():
    said = "".join(blocks("cli.md", "console"))
    commands = [part.split("\n", 1) for part in re.split(r"^\$ ", said, flags=re.MULTILINE) if part]
    assert commands
    with KafkaStub() as stub:
        for command, expected in commands:
            words = shlex.split(command)[1:]
            done = run(*words, "--bootstrap-server", stub.bootstrap_servers)
            assert [line.rstrip() for line in (done.err + done.out).splitlines()] == expected.splitlines()


@pytest.mark.parametrize("guide", GUIDES)
def test_the_python_runs(guide: str):
    found = blocks(guide, "python")
    assert found
    for block in found:
        exec(compile(block, guide, "exec"), {})


def test_every_action_and_option_of_the_guide_exists():
    text = (DOCS / "cli.md").read_text()
    helps = [run("groups", action, "--help").out for action in ("list", "describe", "delete-offsets", "reset-offsets")]
    helps += [run("topics", "create", "--help").out, run("serve", "--help").out]
    known = set(re.findall(r"--[a-z][a-z-]*", "".join(helps)))
    actions = {"--list", "--describe", "--delete", "--delete-offsets", "--reset-offsets", "--create", "--alter"}
    mentioned = set(re.findall(r"--[a-z][a-z-]*", text))
    assert mentioned - known - actions == {"--validate-regex"}
