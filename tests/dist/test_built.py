"""The wheel and the sdist as files: the same bytes each time, nothing in them that is not wanted, and not too large."""

from __future__ import annotations

import os
import re
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.dist.build import ROOT, Built, build, copy_sources
from tests.dist.pythons import PROJECT, run

pytestmark = [pytest.mark.dist, pytest.mark.xdist_group("built")]

ROOTS = {
    "protocol": ["kafkawire"],
    "broker": ["kafkastub"],
    "conformance": ["kafkastub_conformance"],
    "pipeline": [
        "kafkastub_pipeline", "pyspark_kafka_offsets", "pyspark_kafka_share_state", "pyspark_kafka_transactions",
        "pyspark_kafkastub_journal",
    ],
}  # fmt: skip
"""The source roots, and the packages in each."""
MOST_OF_THE_WHEEL = 3_000_000
"""Bytes. It has 2,600,000: a quarter is the suite of `kafkastub conform`, a tenth the control port and its page."""
MOST_OF_THE_SDIST = 2_100_000
"""Bytes. It has 1,790,000."""


@pytest.mark.parametrize("epoch", [None, 1_000_000_000])
def test_two_builds_are_the_same_bytes(sources: Path, tmp_path: Path, epoch: int | None) -> None:
    other = tmp_path / "another folder"
    other.mkdir()
    copy_sources(other)
    for number, path in enumerate(sorted(path for path in other.rglob("*") if path.is_file())):
        os.utime(path, (number * 1000, number * 1000))
        path.chmod(0o600 if number % 2 else 0o664)
    first, second = build(sources, tmp_path / "first", epoch), build(other, tmp_path / "second", epoch)
    for one, two in zip(first, second, strict=True):
        assert one.name == two.name
        assert one.read_bytes() == two.read_bytes()


def test_the_date_in_them_is_the_one_that_is_asked_for(sources: Path, tmp_path: Path) -> None:
    built = build(sources, tmp_path, 1_000_000_000)
    with zipfile.ZipFile(built.wheel) as wheel:
        assert {info.date_time for info in wheel.infolist()} == {(2001, 9, 9, 1, 46, 40)}
    with tarfile.open(built.sdist) as sdist:
        assert {member.mtime for member in sdist} == {1_000_000_000}


def test_the_wheel_that_is_built_of_the_sdist_is_the_same(built: Built, tmp_path: Path) -> None:
    with tarfile.open(built.sdist) as sdist:
        sdist.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    again = build(folder, tmp_path / "again")
    assert again.wheel.read_bytes() == built.wheel.read_bytes()
    assert again.sdist.read_bytes() == built.sdist.read_bytes()


def test_what_is_said_of_them_is_accepted_by_an_index(built: Built) -> None:
    assert run([_tool("twine"), "check", "--strict", *built]).count("PASSED") == 2


def test_the_wheel_has_the_packages_and_nothing_else(contents: list[zipfile.ZipInfo]) -> None:
    names = [info.filename for info in contents]
    ours = {
        path.relative_to(ROOT / source).as_posix()
        for source, packages in ROOTS.items()
        for package in packages
        for path in (ROOT / source / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    meta = f"kafkastub-{_version()}.dist-info/"
    assert {name for name in names if not name.startswith(meta)} == ours
    wanted = {"METADATA", "WHEEL", "entry_points.txt", "licenses/LICENSE", "RECORD"}
    assert {name.removeprefix(meta) for name in names if name.startswith(meta)} == wanted
    assert {f"{package}/py.typed" for packages in ROOTS.values() for package in packages} <= set(names)
    assert not [info for info in contents if (info.external_attr >> 16) & 0o022], "others may write"


def test_the_sdist_has_the_source_roots_and_nothing_else_that_is_a_folder(built: Built) -> None:
    with tarfile.open(built.sdist) as sdist:
        inside = [Path(name).parts[1:] for name in sdist.getnames()]
    assert {parts[0] for parts in inside if len(parts) > 1} == ROOTS.keys()


def test_their_size_is_bounded(built: Built) -> None:
    assert built.wheel.stat().st_size <= MOST_OF_THE_WHEEL
    assert built.sdist.stat().st_size <= MOST_OF_THE_SDIST


def test_it_says_of_itself_what_the_project_says(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as wheel:
        said = wheel.read(f"kafkastub-{_version()}.dist-info/METADATA").decode()
    head = said.partition("\n\n")[0]
    assert re.findall(r"^Requires-Dist: ([\w-]+)[^;\n]*$", head, re.MULTILINE) == [
        re.split(r"[>=;\s]", one)[0] for one in PROJECT["dependencies"] if ";" not in one
    ]
    assert set(re.findall(r"^Provides-Extra: (.+)$", head, re.MULTILINE)) == set(PROJECT["optional-dependencies"])
    assert f"Requires-Python: {PROJECT['requires-python']}" in head
    assert "License-Expression: Apache-2.0" in head


def _version() -> str:
    return str(PROJECT["version"])


def _tool(name: str) -> Path:
    return Path(sys.executable).parent / name
