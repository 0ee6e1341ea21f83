"""docs/without-sleeps.md and docs/chaos.md: their programs run, and none of them sleeps."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from kafkastub import KafkaStub
from tests.conftest import OF_A_USER

DOCS = Path(__file__).parents[2] / "docs"
GUIDE = "\n".join((DOCS / name).read_text() for name in ("without-sleeps.md", "chaos.md"))
PROGRAMS = re.findall(r"```python\n# (test_\w+\.py)\n(.*?)```", GUIDE, re.DOTALL)


def test_every_program_has_the_name_of_a_file_and_none_sleeps() -> None:
    assert len(PROGRAMS) == GUIDE.count("```python")
    assert "sleep(" not in GUIDE


def test_all_waits_for_coroutines_are_named() -> None:
    named = re.findall(r"`(wait_\w+)[`(]", GUIDE.partition("`stub.aio` has awaitable versions")[2].partition("```")[0])
    assert sorted(named) == sorted(name for name in vars(KafkaStub().aio) if name.startswith("wait_"))


def test_no_line_of_a_table_stands_alone() -> None:
    tables = [part.strip("\n").splitlines() for part in GUIDE.split("\n\n") if part.lstrip("\n").startswith("|")]
    assert all(len(rows) > 2 and set(rows[1]) <= set("|- ") for rows in tables)


@pytest.mark.parametrize(("name", "text"), PROGRAMS, ids=[name for name, _ in PROGRAMS])
def test_a_program_runs_as_it_is(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *OF_A_USER, name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^(1|20) passed", done.stdout, re.MULTILINE), done.stdout
