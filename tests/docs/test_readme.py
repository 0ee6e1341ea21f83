"""The README and the first pages behind it are promises: every snippet and command in them runs."""

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
PAGES = ("README.md", "docs/python.md", "docs/serve.md", "docs/fidelity.md", "docs/coming-from.md")
TEXTS = {page: (ROOT / page).read_text() for page in PAGES}
SNIPPETS = [
    pytest.param(name, text, id=f"{Path(page).stem} {name}")
    for page, whole in TEXTS.items()
    for name, text in re.findall(r"```python\n# (test_\w+\.py)\n(.*?)```", whole, re.DOTALL)
]
COMMANDS = [
    line
    for text in TEXTS.values()
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    for line in block.splitlines()
]
SERVING = [line for line in COMMANDS if " serve " in line]


def test_every_snippet_has_the_name_of_a_file():
    assert len(SNIPPETS) == sum(text.count("```python") for text in TEXTS.values())


@pytest.mark.parametrize(("name", "text"), SNIPPETS)
def test_a_snippet_runs_unchanged(tmp_path: Path, name: str, text: str):
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
    assert re.search(r"\d passed", done.stdout)


def test_the_java_of_the_readme_is_that_of_the_guide_which_is_compiled_and_run():
    blocks = re.findall(r"```java\n(.*?)```", TEXTS["README.md"], re.DOTALL)
    guide = (ROOT / "docs/java.md").read_text()
    assert blocks
    assert [block for block in blocks if f"```java\n{block}```" not in guide] == []


@pytest.mark.parametrize(
    ("language", "file"), [("go", "examples/go/sent_test.go"), ("ts", "examples/node/sent.test.ts")]
)
def test_the_test_of_another_language_is_that_of_the_examples_which_is_run(language: str, file: str):
    (block,) = re.findall(rf"```{language}\n(.*?)```", TEXTS["README.md"], re.DOTALL)
    assert block == (ROOT / file).read_text()


def test_every_make_target_that_these_pages_name_exists():
    named = {target for text in TEXTS.values() for target in re.findall(r"`?\bmake ([a-z][a-z-]+)`?[ `\n.,;:]", text)}
    known = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert named - known == set()


@pytest.mark.parametrize("command", ["make run", *SERVING])
def test_a_serving_command_gets_ready_and_ends(command: str):
    words = command.split()
    if words[0] == "make":  # the port may be taken on this machine
        words.append("ARGS=--port 0")
    else:
        words[0] = str(Path(sys.executable).with_name(words[0]))
        for option in ("--port", "--control-port"):
            if option in words:
                words[words.index(option) + 1] = "0"
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
        assert re.match(r"kafkastub ready on 127\.0\.0\.1:\d+ \(profile kips\)", ready)
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.communicate(timeout=SECONDS)


def test_the_options_of_the_reference_are_those_of_the_command():
    said = subprocess.run(
        [sys.executable, "-m", "kafkastub.cli", "serve", "--help"], capture_output=True, text=True, check=True
    ).stdout
    in_help = set(re.findall(r"--[a-z][a-z-]*", said)) - {"--help"}
    table = TEXTS["docs/serve.md"].split("| option | meaning |")[1].split("\n\n")[0]
    assert set(re.findall(r"--[a-z][a-z-]*", table)) == in_help
