"""The release of pyspark is looked at before anything of it is loaded: too old, unknown, known."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

OTHERS = ("numpy", "pandas", "pyarrow", "jinja2", "matplotlib", "confluent_kafka")
COMMANDS = {
    "run": ("run", "--raw", "nowhere", "--retention-minutes", "10080", "--out", "out"),
    "report": ("report", "--tables", "nowhere", "--out", "out.html"),
    "stream": ("stream", "--bootstrap-servers", "127.0.0.1:1", "--out", "out", "--checkpoint", "c"),
}
MAIN = (
    "import sys; sys.path.insert(0, sys.argv[1]); from kafkastub_pipeline.cli import main; sys.exit(main(sys.argv[2:]))"
)


def with_pyspark(folder: Path, version: str, *line: str) -> tuple[int, str]:
    """A command where that pyspark is installed: it can tell its version, and not be loaded."""
    for name in (*OTHERS, "pyspark"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text("raise AssertionError('it is loaded')")
    (folder / "pyspark" / "version.py").write_text(f'__version__: str = "{version}"\n')
    done = subprocess.run(
        [sys.executable, "-c", MAIN, str(folder), *line], capture_output=True, text=True, cwd=folder, check=False
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("version", ["3.5.6", "2.4.8"])
def test_a_spark_that_is_too_old_is_refused_in_a_sentence(tmp_path: Path, command: str, version: str):
    status, said = with_pyspark(tmp_path, version, *COMMANDS[command])
    assert said == (
        f"kafkastub-pipeline: pyspark {version} is installed, and this version of kafkastub-pipeline needs Spark 4.0 or"
        " newer: pip install 'pyspark==4.2.*' (the extra pipeline brings it), on a cluster of that release\n"
    )
    assert status == 2


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("version", ["4.4.0", "5.0.0.dev1"])
def test_an_unknown_spark_is_tried_and_named_in_a_warning(tmp_path: Path, command: str, version: str):
    status, said = with_pyspark(tmp_path, version, *COMMANDS[command])
    warning, *rest = said.splitlines()
    assert f"pyspark {version} is installed; kafkastub-pipeline is tested with Spark 4.0, 4.1, 4.2 and 4.3" in warning
    if "it is loaded" in said:  # it got as far as pyspark, and the sentence about its failure names it again
        assert status == 1
        assert rest[-1].endswith("if it fails, pip install 'pyspark==4.2.*'")
        assert len(rest) == 1


@pytest.mark.parametrize("version", ["4.0.1", "4.1.4", "4.2.1", "4.3.0"])
def test_a_known_spark_is_used(tmp_path: Path, version: str):
    _, said = with_pyspark(tmp_path, version, *COMMANDS["report"])
    assert "is tested with" not in said
    assert "it is loaded" in said
