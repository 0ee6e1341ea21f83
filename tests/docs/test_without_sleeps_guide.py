"""docs/without-sleeps.md: its programs run, and none of them sleeps."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import OF_A_USER

GUIDE = (Path(__file__).parents[2] / "docs" / "without-sleeps.md").read_text()
PROGRAMS = re.findall(r"```python\n# (test_\w+\.py)\n(.*?)```", GUIDE, re.DOTALL)


def test_every_program_has_the_name_of_a_file_and_none_sleeps() -> None:
    assert len(PROGRAMS) == GUIDE.count("```python")
    assert "sleep(" not in GUIDE


@pytest.mark.parametrize(("name", "text"), PROGRAMS, ids=[name for name, _ in PROGRAMS])
def test_a_program_runs_as_it_is(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *OF_A_USER, name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
