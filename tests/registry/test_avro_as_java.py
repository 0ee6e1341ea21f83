"""Schemas of Avro are read, written and compared as Apache Avro for Java does it: random ones, and what is odd."""

from __future__ import annotations

import json
import random
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest

from kafkastub.registry.avro import AvroSchema
from kafkastub.registry.avro.compatible import Ambiguous, incompatibilities
from kafkastub.registry.errors import InvalidSchema
from tests.oracle.jars import MissingTool
from tests.registry.bench import field, record
from tests.toolchains import CACHE, Unavailable, build_maven, java_program, need

SOURCES: Final = Path(__file__).with_name("avro_witness")
PRIMITIVES: Final = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
RANDOM_SCHEMAS: Final = 400


class Witness:
    """Apache Avro, in a process."""

    def __init__(self) -> None:
        target = CACHE / "registry" / "avro"
        try:
            need("mvn")
            need("java")
            build_maven(SOURCES, target)
        except Unavailable as missing:
            raise MissingTool(str(missing)) from None
        command = java_program(target, "AvroWitness")
        self._said = tempfile.TemporaryFile("w+")  # noqa: SIM115 - lives as long as the process
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, text=True, bufsize=1
        )

    def ask(self, **question: str) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        line = ""
        with suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        if not line:
            self._said.seek(0)
            raise AssertionError(f"Apache Avro has ended with {self._process.wait(60)}: {self._said.read()[-4000:]}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        with suppress(BrokenPipeError):
            self._process.communicate(timeout=60)
        self._said.close()


@pytest.fixture(scope="module")
def witness() -> Iterator[Witness]:
    made = Witness()
    yield made
    made.close()


def ours(text: str) -> AvroSchema | None:
    try:
        return AvroSchema(text, [], as_new=True)
    except InvalidSchema:
        return None


ODD: Final = (
    record(field("b", "B"), field("c", record(name="B"))),
    {"namespace": "n"} | record(field("b", {"namespace": ""} | record(name="B")), field("c", "B")),
    {"type": {"type": "string"}},
    {"type": "string", "logicalType": "uuid", "doc": "x"},
    record(field("x", ["null", "int"], default=1)),
    record(field("x", {"type": "enum", "name": "E", "symbols": ["A"]}, default="Z")),
    record(field("x", "int", default="1")),
    *(record(field("x", "double", default=each)) for each in (1, 1e10, 0.0001, 123456789.125, "NaN", 1e-3, 1e7, 12.0)),
    {"type": "enum", "name": "E", "symbols": ["A", "A"]},
    {"namespace": "n", "type": "enum", "name": "E", "symbols": ["A"], "default": "A", "x": 1, "aliases": ["F", "n.F"]},
    {"type": "fixed", "name": "F", "size": -1},
    ["int", ["null"]],
    ["int", "int"],
    [],
    {"type": "array", "items": "int", "x": {"b": 1, "a": 2}},
    *({"type": "record", "name": name, "fields": []} for name in ("int", "1a", "a-b", "é", "n.A", ".A", "")),
    record(field("x", "int"), field("x", "int")),
    record(field("x", "int", order="descending", aliases=["y"], doc="q", foo=1)),
    record(field("x", "int", order="bad")),
    record(field("x", "Order")),
    {"type": "error", "name": "E", "fields": []},
    "int",
    "nothing",
    5,
    None,
)  # fmt: skip


@pytest.mark.parametrize("schema", ODD, ids=lambda each: json.dumps(each)[:60])
def test_an_odd_schema_is_read_and_written_alike(witness: Witness, schema: Any):
    text = json.dumps(schema)
    found = ours(text)
    assert witness.ask(schema=text).get("text") == (None if found is None else found.text)


def test_random_schemas_are_read_written_and_compared_alike(witness: Witness):
    source = random.Random(1)
    last, pairs, refused = "", 0, 0
    for _ in range(RANDOM_SCHEMAS):
        schema = some(source, 3, [])
        text = json.dumps(schema)
        found = ours(text)
        assert witness.ask(schema=text).get("text") == (None if found is None else found.text), text
        for other in (json.dumps(changed(source, schema)), last):
            there = ours(other) if other else None
            if found is None or there is None:
                continue
            for one, two in (((found, text), (there, other)), ((there, other), (found, text))):
                said = _compared(one[0], two[0])
                assert said == _witnessed(witness.ask(reader=one[1], writer=two[1])), (one[1], two[1])
                pairs += 1
                refused += said != set()
        last = text
    assert pairs > RANDOM_SCHEMAS
    assert refused > pairs // 5


def _compared(reader: AvroSchema, writer: AvroSchema) -> set[tuple[str, str]] | None:
    try:
        return {(one.kind, one.path) for one in incompatibilities(reader.root, writer.root)}
    except Ambiguous:
        return None


def _witnessed(answer: dict[str, Any]) -> set[tuple[str, str]] | None:
    if "error" in answer:
        assert "matches multiple fields" in answer["error"]
        return None
    return {(one["type"], one["location"]) for one in answer.get("incompatibilities", ())}


def some(source: random.Random, depth: int, names: list[str]) -> Any:
    """A schema that may be wrong."""
    chance = source.random()
    if names and chance < 0.15:
        return source.choice(names)
    if depth <= 0 or chance < 0.4:
        kind = source.choice(PRIMITIVES)
        return kind if source.random() < 0.8 else {"type": kind, "logicalType": "decimal", "precision": 3}
    if chance < 0.58:
        kind, part = source.choice((("array", "items"), ("map", "values")))
        return {"type": kind, part: some(source, depth - 1, names)}
    if chance < 0.72:
        return [some(source, depth - 1, names) for _ in range(source.randint(1, 3))]
    named: dict[str, Any] = {"name": source.choice("ABCDE")}
    names.append(named["name"])
    if source.random() < 0.3:
        named["namespace"] = source.choice(("", "n", "m.o"))
    if source.random() < 0.2:
        named["aliases"] = [source.choice("ABCDE"), source.choice(("n.A", "m.o.B"))]
    if chance < 0.8:
        return {"type": "fixed", "size": source.randint(1, 2), **named}
    if chance < 0.87:
        default = {"default": source.choice("XYZW")} if source.random() < 0.3 else {}
        return {"type": "enum", "symbols": source.sample("XYZW", source.randint(1, 3)), **default, **named}
    fields = [_some_field(source, depth, names, name) for name in source.sample("abcd", source.randint(0, 3))]
    return {"type": "record", "fields": fields, **named}


def _some_field(source: random.Random, depth: int, names: list[str], name: str) -> dict[str, Any]:
    found = {"name": name, "type": some(source, depth - 1, names)}
    if source.random() < 0.4:
        found["default"] = source.choice([None, 1, "X", 1.5, {}, [], True, {"a": 1}, 2**40])
    if source.random() < 0.15:
        found["aliases"] = [source.choice("abcd")]
    return found


def changed(source: random.Random, schema: Any) -> Any:
    """The schema with something else here and there."""
    if isinstance(schema, list):
        return [changed(source, one) for one in schema]
    if isinstance(schema, str):
        return source.choice(PRIMITIVES) if schema in PRIMITIVES and source.random() < 0.15 else schema
    if not isinstance(schema, dict):
        return schema
    found = dict(schema)
    for part in ("type", "items", "values"):
        if part in found:
            found[part] = changed(source, found[part])
    if "symbols" in found and source.random() < 0.4:
        found["symbols"] = source.sample("XYZW", source.randint(1, 3))
    if "size" in found and source.random() < 0.2:
        found["size"] = 3 - found["size"]
    if isinstance(found.get("fields"), list):
        found["fields"] = [changed(source, one) for one in found["fields"] if source.random() < 0.8]
        if source.random() < 0.2:
            found["fields"].append(_some_field(source, 1, [], source.choice("abcdef")))
    return found
