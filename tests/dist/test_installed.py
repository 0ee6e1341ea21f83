"""The wheel, installed without an index on every Python that the machine has: it serves, a client comes and goes."""

from __future__ import annotations

import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.dist.build import ROOT, Built
from tests.dist.conftest import Environment
from tests.dist.pythons import VERSIONS, locked, no_index, python, run

pytestmark = pytest.mark.dist

HERE = Path(__file__).parent
EACH = pytest.mark.parametrize(
    "version", [pytest.param(version, marks=pytest.mark.xdist_group(version)) for version in VERSIONS]
)
"""Each in an environment that is made once."""


@EACH
def test_it_serves_a_client(environment: Environment, tmp_path: Path, version: str) -> None:
    own = environment(version)
    command = [own.parent / "kafkastub", "serve", "--port", "0", "--topic", "orders:1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path, env=no_index()) as serving:
        assert serving.stdout is not None
        try:
            ready = re.fullmatch(r"kafkastub ready on (\S+) \(profile kips\)\n", serving.stdout.readline())
            assert ready
            assert run([own, "-W", "error", HERE / "exchange.py", ready[1]], cwd=tmp_path) == "one order\n"
        finally:
            serving.terminate()
    assert serving.returncode == 0


@EACH
def test_a_program_with_all_that_is_offered_runs(environment: Environment, tmp_path: Path, version: str) -> None:
    said = run([environment(version), "-I", "-W", "error", HERE / "program.py", tmp_path], cwd=tmp_path)
    for error in ("TopicError", "GroupTimeout", "DataDirError", "Replayed("):
        assert error in said


@EACH
def test_its_fixtures_are_there_without_a_word(environment: Environment, tmp_path: Path, version: str) -> None:
    test = "def test_it(kafka_stub, kafka_topic):\n    assert kafka_stub.produce(kafka_topic, 'one').offset == 0\n"
    (tmp_path / "test_it.py").write_text(test)
    assert "1 passed" in run([environment(version), "-m", "pytest", "-q", "-W", "error", tmp_path], cwd=tmp_path)


@EACH
def test_all_that_it_needs_has_wheels(built: Built, tmp_path: Path, version: str) -> None:
    """Also for a Python that this machine does not have; for the others, they were installed above."""
    if platform.system() != "Linux":
        pytest.skip(f"this machine has no Linux: it is {platform.system()}")
    if python(version) is not None:
        return
    platforms = [f"--platform=manylinux_2_{minor}_{platform.machine()}" for minor in (17, 24, 26, 27, 28, 31, 34)]
    platforms.append(f"--platform=manylinux2014_{platform.machine()}")
    (tmp_path / "constraints.txt").write_text("\n".join(locked()))
    asked = ["--only-binary=:all:", "--implementation=cp", f"--python-version={version}", *platforms]
    command = [sys.executable, "-m", "pip", "download", "-q", "-c", tmp_path / "constraints.txt"]
    run([*command, *asked, "-d", tmp_path / "house", built.wheel])
    assert list((tmp_path / "house").glob("uvloop-*.whl"))


def test_the_guide_says_on_what_it_was_tried() -> None:
    told = (ROOT / "docs" / "installation.md").read_text()
    assert set(VERSIONS) <= set(re.findall(r"3\.\d+", told))
