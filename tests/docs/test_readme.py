"""The README is a promise: every snippet and command in it runs."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import OF_A_USER
from tests.waiting import SECONDS

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text()
SNIPPETS = re.findall(r"```python\n# (test_\w+\.py)\n(.*?)```", README, re.DOTALL)
COMMANDS = [line for block in re.findall(r"```console\n(.*?)```", README, re.DOTALL) for line in block.splitlines()]


def test_every_snippet_has_the_name_of_a_file():
    assert len(SNIPPETS) == README.count("```python")


@pytest.mark.parametrize(("name", "text"), SNIPPETS, ids=[name for name, _ in SNIPPETS])
def test_a_snippet_runs_as_it_is(tmp_path: Path, name: str, text: str):
    (tmp_path / name).write_text(text)
    (tmp_path / "pytest.ini").write_text("[pytest]\nasyncio_mode = auto\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *OF_A_USER, name],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


def test_every_make_target_that_the_readme_names_exists():
    named = set(re.findall(r"\bmake ([a-z]+)", README))
    known = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert named - known == set()


@pytest.mark.parametrize("command", [c for c in COMMANDS if " serve " in c or c == "make run"])
def test_a_serving_command_gets_ready_and_ends(command: str):
    words = command.split()
    if words[0] == "make":  # the port of the README may be taken on this machine
        words.append("ARGS=--port 0")
    # As a user types it: the make that runs these tests would have its own make say where it is.
    outside = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    process = subprocess.Popen(
        words,
        cwd=ROOT,
        env=outside,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        ready = process.stdout.readline()
        assert re.fullmatch(r"kafkastub ready on 127\.0\.0\.1:\d+ \(profile kips\)\n", ready)
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.communicate(timeout=SECONDS)


def test_the_options_of_the_readme_are_those_of_the_command():
    said = subprocess.run(
        [sys.executable, "-m", "kafkastub.cli", "serve", "--help"], capture_output=True, text=True, check=True
    ).stdout
    in_help = set(re.findall(r"--[a-z][a-z-]*", said)) - {"--help"}
    table = README.split("| option | meaning |")[1].split("\n\n")[0]
    assert set(re.findall(r"--[a-z][a-z-]*", table)) == in_help
