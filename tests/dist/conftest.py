"""What was built, and environments in which it is installed as a user installs it."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.dist.build import Built, build, copy_sources
from tests.dist.pythons import locked, no_index, python, run

BESIDE = ("aiokafka", "pytest")
"""Installed with it: a client, and who loads the plugin."""


@pytest.fixture(scope="session")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sources")
    copy_sources(folder)
    return folder


@pytest.fixture(scope="session")
def built(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(sources, tmp_path_factory.mktemp("built"))


@pytest.fixture(scope="session")
def contents(built: Built) -> list[zipfile.ZipInfo]:
    with zipfile.ZipFile(built.wheel) as wheel:
        return wheel.infolist()


Environment = Callable[[str], Path]


@pytest.fixture(scope="session")
def environment(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Gives the interpreter of an environment of a Python in which the wheel is installed, from a folder of wheels and
    with no index at all. Skips where the machine has no such Python.
    """
    made: dict[str, Path] = {}

    def give(version: str) -> Path:
        if version not in made:
            made[version] = _installed(built, version, tmp_path_factory.mktemp(f"python{version}"))
        return made[version]

    return give


def _installed(built: Built, version: str, folder: Path) -> Path:
    found = python(version)
    if found is None:
        pytest.skip(f"this machine has no Python {version} that can make environments")
    run([found, "-m", "venv", "--without-pip", folder / "venv"])
    own, house, constraints = folder / "venv" / "bin" / "python", folder / "house", folder / "constraints.txt"
    constraints.write_text("\n".join(locked()))
    wanted = [str(built.wheel), *locked(*BESIDE)]
    pip = [sys.executable, "-m", "pip", "--python", own]
    run([*pip, "download", "-q", "--only-binary=:all:", "-c", constraints, "-d", house, *wanted])
    command = [*pip, "install", "-q", "--no-compile", "--no-index", "--find-links", house, "kafkastub", *BESIDE]
    run(command, env=no_index(), cwd=folder)
    return own


@pytest.fixture(scope="session")
def installed(environment: Environment) -> Path:
    """The same of the Python that runs the tests."""
    return environment("{}.{}".format(*sys.version_info))
