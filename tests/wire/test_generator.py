"""The generator: small definitions of our own, and the real ones against what is checked in."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from kafkawire import codec
from tests.oracle import messages as oracle_messages

GENERATOR = Path(__file__).resolve().parents[2] / "protocol" / "generator"

THING = {
    "apiKey": 5,
    "type": "request",
    "name": "ThingRequest",
    "validVersions": "1-3",
    "flexibleVersions": "2+",
    "commonStructs": [
        {"name": "Part", "versions": "0+", "fields": [{"name": "Id", "type": "int32", "versions": "0+", "default": -1}]}
    ],
    "fields": [
        {"name": "Gone", "type": "int8", "versions": "0"},
        {"name": "ThingName", "type": "string", "versions": "0+", "nullableVersions": "2+", "default": "null"},
        {"name": "Class", "type": "int64", "versions": "1-2", "default": "0x7fffffffffffffff"},
        {"name": "Parts", "type": "[]Part", "versions": "0+"},
        {"name": "TopicId", "type": "uuid", "versions": "3+", "taggedVersions": "3+", "tag": 1},
        {"name": "Maybe", "type": "Part", "versions": "3+", "nullableVersions": "3+", "default": "null"},
        {"name": "Perhaps", "type": "Inner", "versions": "3+", "nullableVersions": "3+", "default": None,
         "taggedVersions": "3+", "tag": 0, "fields": [{"name": "X", "type": "bool", "versions": "0+"}]},
    ],
}  # fmt: skip


@pytest.fixture
def jar(tmp_path: Path) -> Path:
    path = tmp_path / "things.jar"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("common/message/ThingRequest.json", "// a comment\n" + json.dumps(THING, indent=1))
        gone = {**THING, "name": "GoneRequest", "validVersions": "none"}
        archive.writestr("common/message/GoneRequest.json", json.dumps(gone))
        archive.writestr("common/message/README.md", "nothing")
    return path


def generate(jar: Path, out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, GENERATOR, jar, "--out", out, *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def thing(jar: Path, tmp_path: Path) -> Any:
    """The generated module, imported."""
    done = generate(jar, tmp_path / "out")
    assert done.stdout == "2 modules, 2 changed\n", done.stderr
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["__init__.py", "thing_request.py"]
    spec = spec_from_file_location("thing_request", tmp_path / "out" / "thing_request.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["thing_request"] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        del sys.modules["thing_request"]


def test_defaults_are_those_of_kafkas_own_generator(thing: Any):
    made = thing.ThingRequest()
    assert (made.thing_name, made.class_, made.parts, made.topic_id) == (None, 2**63 - 1, (), bytes(16))
    assert made.maybe is None
    assert made.perhaps == thing.Inner(x=False)
    assert thing.ThingRequest(perhaps=None).perhaps is None
    assert made.perhaps is not thing.ThingRequest().perhaps
    assert thing.Part().id == -1
    assert not hasattr(made, "gone")


def test_versions_are_those_of_the_definition(thing: Any):
    request = thing.ThingRequest("n", 7, [thing.Part(1)], b"u" * 16, thing.Part(2), None)
    assert codec.encode(request, 1).hex() == "00016e00000000000000070000000100000001"
    assert codec.encode(request, 2).hex() == "026e000000000000000702000000010000"
    tags = "020001000110" + "75" * 16
    assert codec.encode(request, 3).hex() == "026e020000000100010000000200" + tags
    for version in (1, 2, 3):
        assert codec.encode(codec.decode(thing.ThingRequest, version, codec.encode(request, version)), version)
    assert codec.decode(thing.ThingRequest, 3, codec.encode(request, 3)).perhaps is None
    assert codec.encode(thing.ThingRequest("n"), 3).hex() == "026e01ff00"


def test_a_check_tells_what_is_stale(jar: Path, tmp_path: Path):
    out = tmp_path / "out"
    generate(jar, out)
    assert generate(jar, out, "--check").returncode == 0
    changed = out / "thing_request.py"
    changed.write_text(changed.read_text().replace("class Part", "class Piece"))
    (out / "left_over.py").write_text("")
    done = generate(jar, out, "--check")
    assert done.returncode == 1
    assert [line.split()[0] for line in done.stderr.splitlines()] == ["left_over.py", "thing_request.py"]
    assert generate(jar, out).stdout == "2 modules, 2 changed\n"
    assert not (out / "left_over.py").exists()


def test_what_is_checked_in_is_what_the_definitions_of_kafka_say():
    assert oracle_messages.main(["--check"]) == 0
