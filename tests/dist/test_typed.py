"""What type checkers say of a user's program where the wheel is installed."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

import kafkastub
from kafkastub import KafkaStub
from tests.dist.pythons import run

OWN = pytest.mark.xdist_group("{}.{}".format(*sys.version_info))
"""Beside the tests for this Python: they share its environment."""
PROGRAM = Path(__file__).parent / "program.py"
WRONG = """
from kafkastub import KafkaStub

with KafkaStub(topics={"orders": "three"}) as stub:
    offset: str = stub.produce("orders", b"x").offset
    stub.no_such_part
"""


@pytest.mark.dist
@OWN
def test_mypy_finds_nothing_in_it(installed: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mypy", "--strict", f"--python-executable={installed}", "--config-file="]
    assert "no issues found in 1 source file" in run([*command, _copied(tmp_path)], cwd=tmp_path)


@pytest.mark.dist
@OWN
def test_pyright_finds_nothing_in_it(installed: Path, tmp_path: Path) -> None:
    assert "0 errors, 0 warnings" in _pyright(installed, _copied(tmp_path))


@pytest.mark.dist
@OWN
def test_what_is_wrong_is_found(installed: Path, tmp_path: Path) -> None:
    """The types are there: nothing above passes because all is Any."""
    (tmp_path / "wrong.py").write_text(WRONG)
    with pytest.raises(AssertionError) as found:
        _pyright(installed, tmp_path / "wrong.py")
    assert len(re.findall(r"wrong\.py:\d+:\d+ - error", str(found.value))) == 3


def _copied(folder: Path) -> Path:
    """Away from our own sources, which would be found before what is installed."""
    return Path(shutil.copy(PROGRAM, folder / "program.py"))


def _pyright(installed: Path, program: Path) -> str:
    if shutil.which("node") is None:
        pytest.skip("this machine has no Node.js, by which pyright is run")
    (program.parent / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    tool = Path(sys.executable).parent / "pyright"
    return run([tool, "--pythonpath", installed, program.name], cwd=program.parent)


def test_the_program_has_every_public_name() -> None:
    program = PROGRAM.read_text()
    assert [name for name in kafkastub.__all__ if not re.search(rf"\b{name}\b", program)] == []


def test_the_program_has_every_part_of_a_stub() -> None:
    parts = {name for name, kind in vars(KafkaStub).items() if not name.startswith("_") and not callable(kind)}
    assert {name for name in parts if f"stub.{name}" not in PROGRAM.read_text()} == OF_EXTRAS


OF_EXTRAS = {"ca_file", "tls", "control_url", "registry"}
"""Of those that need more to be installed."""
