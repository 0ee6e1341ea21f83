"""docs/faults.md: its programs run, its file is read, its command serves."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kafkastub.faults import load_rules
from tests.conftest import OF_A_USER
from tests.faults.test_on_the_wire import commit
from tests.rawclient import RawClient

GUIDE = (Path(__file__).parents[2] / "docs" / "faults.md").read_text()
PROGRAMS = re.findall(r"```python\n# (test_\w+\.py)\n(.*?)```", GUIDE, re.DOTALL)
(RULES,) = re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL)


def test_every_program_has_the_name_of_a_file() -> None:
    assert len(PROGRAMS) == GUIDE.count("```python")


@pytest.mark.parametrize(("name", "text"), PROGRAMS, ids=[name for name, _ in PROGRAMS])
def test_a_program_runs_as_it_is(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *OF_A_USER, name]
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))  # kafkastub is on it
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


def serve(file: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "kafkastub.cli", "serve", "--port", "0", "--topic", "a:1", "--faults", str(file)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_served_broker_has_the_files_rules_from_the_start(tmp_path: Path) -> None:
    file = tmp_path / "faults.yaml"
    file.write_text(RULES)
    assert [rule.times for rule in load_rules(file)] == [3, None]
    with serve(file) as process:
        try:
            assert process.stdout is not None
            ready = process.stdout.readline()
            with RawClient(ready.split()[3]) as client:
                assert [commit(client)["a", 0] for _ in range(4)] == [16, 16, 16, 0]
        finally:
            process.terminate()


def test_a_wrong_file_is_refused_in_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "faults.yaml"
    for rules, why in (("- {api: Fetsch, cut: 3}", "Fetch is meant"), ("- {api: UpdateMetadata, cut: 3}", "not serve")):
        file.write_text(rules)
        with serve(file) as process:
            out, said = process.communicate(timeout=30)
        assert process.returncode == 2
        assert why in said.splitlines()[-1]
        assert out == ""
