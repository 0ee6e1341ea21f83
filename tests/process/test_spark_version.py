"""A pyspark that the pipeline does not know is told as such, before anything of it is loaded."""

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
@pytest.mark.parametrize("version", ["4.1.0", "4.3.0", "5.0.0.dev1", "3.5.6"])
def test_an_unknown_spark_is_named_in_a_sentence(tmp_path: Path, command: str, version: str):
    """It was an AssertionError, of a time zone."""
    status, said = with_pyspark(tmp_path, version, *COMMANDS[command])
    assert said == (
        f"kafkastub-pipeline: pyspark {version} is installed, and this version of kafkastub-pipeline works with Spark"
        " 4.0 only: pip install 'pyspark==4.0.*' (the extra pipeline brings it), on a cluster of that release\n"
    )
    assert status == 2


def test_a_known_spark_is_used(tmp_path: Path):
    _, said = with_pyspark(tmp_path, "4.0.1", *COMMANDS["report"])
    assert "works with Spark" not in said
    assert "it is loaded" in said
