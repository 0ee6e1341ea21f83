"""docs/architecture.md shows the house as it stands: rooms, their order, who imports from whom, files that exist."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "architecture.md").read_text()
ROW = re.compile(r"^\| `(\w+)` \| .+ \| ([\w, -]+) \|$", re.MULTILINE)
ROOTS = re.compile(r"^\| `(\w+)/(\w+)` \| .+ \| ([\w, -]+) \|$", re.MULTILINE)
"""The folders at the top that hold an import package each."""
SUITE = "kafkastub_conformance"
OUTSIDE = ("deadlines", "kafkawire", "printable", "steps", "version")
"""Beside the rooms: what they may import from as well."""


@pytest.fixture(scope="module")
def imports() -> dict[str, set[str]]:
    """Each room of the broker and the conformance suite, and from where it imports, as the code says."""
    graph = grimp.build_graph("kafkastub", SUITE, "kafkawire", cache_dir=None)
    where = {module: _room(module) for module in graph.modules}
    found: dict[str, set[str]] = {room: set() for room in where.values()}
    for module, room in where.items():
        found[room] |= {where[other] for other in graph.find_modules_directly_imported_by(module)} - {room}
    return {room: others - {"kafkastub"} for room, others in found.items() if room not in (*OUTSIDE, "kafkastub")}


def _room(module: str) -> str:
    package, _, rest = module.partition(".")
    return package if package in ("kafkawire", SUITE) or not rest else rest.partition(".")[0]


def test_each_source_root_stands_there_with_what_it_imports_from():
    told = {package: (root, set(others.split(", ")) - {"-"}) for root, package, others in ROOTS.findall(TEXT)}
    packages = {path.parent.name: path.parents[1].name for path in ROOT.glob("*/kafka*/__init__.py")}
    graph = grimp.build_graph(*packages, cache_dir=None)
    for package in packages:
        graph.squash_module(package)
    assert told == {
        package: (root, graph.find_modules_directly_imported_by(package) - {package})
        for package, root in packages.items()
    }


def test_each_room_stands_there_with_what_it_imports_from(imports: dict[str, set[str]]):
    told = {room: set(others.split(", ")) - {"-"} for room, others in ROW.findall(TEXT)}
    assert told == imports


def test_the_image_is_made_of_every_source_root():
    roots = {root for root, _, _ in ROOTS.findall(TEXT)}
    copied = set(re.findall(r"^COPY (\w+) \1$", (ROOT / "docker" / "Dockerfile").read_text(), re.MULTILINE))
    let_in = set(re.findall(r"^!(\w+)$", (ROOT / ".dockerignore").read_text(), re.MULTILINE))
    assert copied == roots
    assert let_in - {"LICENSE"} == roots


def test_the_picture_is_the_import_contract():
    picture = TEXT.partition("```text\n")[2].partition("```")[0]
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (layers,) = (contract["layers"] for contract in contracts if contract["type"] == "layers")
    floors = [set(re.findall(r"(?:kafkastub\.)?(\w+)", layer)) for layer in layers]
    assert [set(line.split()) for line in picture.splitlines()] == floors


def test_each_room_is_a_folder(imports: dict[str, set[str]]):
    folders = {path.parent.name for path in (ROOT / "broker" / "kafkastub").glob("*/__init__.py")}
    assert folders == imports.keys() - {SUITE}


def test_every_file_that_it_names_is_there():
    named = set(re.findall(r"`([\w/]+(?:\.py|/))`", TEXT))
    roots = [ROOT, ROOT / "broker" / "kafkastub", ROOT / "conformance", ROOT / "pipeline" / "kafkastub_pipeline"]
    within = ("coordinator/classic", "coordinator/consumer", "coordinator", "server", "state")
    roots += [roots[1] / room for room in (*within, "state/transaction_coordinator")]
    absent = {one for one in named if not any((root / one).exists() for root in roots)}
    assert len(named) > 20
    assert absent == {"handlers/kNN_name.py"} & named
