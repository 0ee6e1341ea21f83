"""Avro as it is read here: what fastavro writes, and nothing that takes long."""

from __future__ import annotations

import base64
import contextlib
import io
import json
from typing import Any

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkastub.control.avro import MOST_SCHEMA, AvroError, Reader

NODE = {
    "type": "record", "name": "Node", "namespace": "shop", "fields": [
        {"name": "name", "type": "string"},
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}},
        {"name": "next", "type": ["null", "Node"]},
        {"name": "tags", "type": {"type": "map", "values": {"type": "array", "items": "int"}}},
        {"name": "sum", "type": {"type": "fixed", "name": "Sum", "size": 2}},
        {"name": "other", "type": ["null", "Kind", "double", "boolean", "bytes"]},
    ],
}  # fmt: skip


def written(schema: Any, value: Any) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), value)
    return out.getvalue()


def read(schema: Any, content: bytes) -> Any:
    return Reader(json.dumps(schema)).read(content)[0]


def test_what_fastavro_writes_is_read():
    leaf = {"name": "é", "kind": "B", "next": None, "tags": {}, "sum": b"\x00\xff", "other": 1.5}
    tree = {"name": "", "kind": "A", "next": leaf, "tags": {"x": [1, -2], "y": []}, "sum": b"ab", "other": b"\xff"}
    shown = read(NODE, written(NODE, tree))
    assert shown["next"] == {**leaf, "sum": {"base64": "AP8="}}
    assert shown["tags"] == {"x": [1, -2], "y": []}
    assert shown["other"] == {"base64": "/w=="}


_FLAT = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text()
_FLAT |= st.floats(allow_nan=False, allow_infinity=False)


@given(st.recursive(_FLAT, lambda inner: st.lists(inner, max_size=5), max_leaves=20))
def test_any_value_comes_back(value: Any):
    inner: list[Any] = ["null", "boolean", "long", "double", "string"]
    schema = {
        "type": "record",
        "name": "R",
        "fields": [{"name": "v", "type": [*inner, {"type": "array", "items": "R"}]}],
    }

    def wrapped(one: Any) -> Any:
        return {"v": [wrapped(each) for each in one] if isinstance(one, list) else one}

    assert read(schema, written(schema, wrapped(value))) == wrapped(value)


@pytest.mark.parametrize(
    ("schema", "content", "shown"),
    [
        ({"type": "int", "logicalType": "date"}, 20513, "2026-03-01"),
        ({"type": "long", "logicalType": "timestamp-millis"}, 0, "1970-01-01T00:00:00+00:00"),
        ({"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2}, None, "-12.34"),
    ],
)
def test_logical_types_are_shown_as_people_read_them(schema: Any, content: Any, shown: str):
    plain = {key: value for key, value in schema.items() if key != "logicalType"}
    raw = (-1234).to_bytes(2, "big", signed=True) if content is None else content
    assert read(schema, written(plain["type"], raw)) == shown


def test_numbers_that_json_has_not_are_words():
    assert read("double", written("double", float("inf"))) == "inf"
    assert read("double", written("double", float("nan"))) == "nan"


@pytest.mark.parametrize(
    "schema",
    [
        "", "{", "[", "nonsense", '"nonsense"', '{"type": "record"}', '{"type": "array", "items": "X"}', "5", "null",
        "{}", "[" * 5000, '{"type":' * 3000 + '"int"' + "}" * 3000, '"' + "x" * MOST_SCHEMA + '"',
    ],
)  # fmt: skip
def test_what_is_no_schema(schema: str):
    with pytest.raises(AvroError):
        Reader(schema)


@pytest.mark.parametrize(
    ("schema", "content"),
    [
        ({"type": "array", "items": "null"}, b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00"),
        ({"type": "map", "values": "null"}, b"\x80\x80\x80\x80\x10" + b"\x00" * 100),
        ({"type": "record", "name": "R", "fields": [{"name": "r", "type": "R"}]}, b""),
        ({"type": "record", "name": "R", "fields": [{"name": "r", "type": ["null", "R"]}]}, b"\x02" * 10_000),
        ("string", b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
        ("bytes", b"\x01"),
        ("string", b"\x02\xff"),
        ("long", b"\xff" * 11),
        ("boolean", b"\x02"),
        (["null", "int"], b"\x04"),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, b"\x02"),
        ("int", b""),
        ("int", b"\x02\x02"),
    ],
)
def test_what_is_not_of_the_schema_ends_at_once(schema: Any, content: bytes):
    with pytest.raises(AvroError):
        read(schema, content)


@given(st.binary(max_size=200))
def test_any_bytes_end(content: bytes):
    reader = Reader(json.dumps(NODE))
    with contextlib.suppress(AvroError):
        reader.read(content)


def long(number: int) -> bytes:
    return written("long", number)


def test_a_decimal_is_exact():
    digits = "-123456789012345678901234567890123456789.01"
    raw = int(digits.replace(".", "")).to_bytes(20, "big", signed=True)
    schema = {"type": "bytes", "logicalType": "decimal", "precision": 60, "scale": 2}
    assert read(schema, written("bytes", raw)) == digits


def test_a_decimal_of_many_bytes_is_told_as_bytes():
    """900 KB of them kept every thread of the process for minutes: Python lets no other run while it makes digits."""
    schema = {"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2}
    shown = read(schema, written("bytes", b"\x7f" * 10_000))
    assert base64.b64decode(shown["base64"]) == b"\x7f" * 10_000


NAME = "n" * 60_000
AGAIN_AND_AGAIN = [
    {"type": "array", "items": {"type": "record", "name": "R", "fields": [{"name": NAME, "type": "boolean"}]}},
    {"type": "array", "items": {"type": "enum", "name": "E", "symbols": [NAME]}},
]


@pytest.mark.parametrize("schema", AGAIN_AND_AGAIN)
def test_names_that_are_told_again_and_again(schema: Any):
    """49,000 symbols of 60 KB each were three gigabytes of an answer."""
    assert len(json.dumps(read(schema, long(10) + bytes(11)))) > 10 * len(NAME)
    with pytest.raises(AvroError, match="4194304 bytes"):
        read(schema, long(20_000) + bytes(20_001))


def test_texts_that_are_long_all_together():
    with pytest.raises(AvroError, match="4194304 bytes"):
        read({"type": "array", "items": "string"}, long(5) + 5 * written("string", "x" * (1 << 20)) + b"\0")


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "fixed", "name": "F", "size": "5"},
        {"type": "fixed", "name": "F", "size": 1.5},
        {"type": "enum", "name": "E", "symbols": {"A": 1}},
        {"type": "record", "name": "R", "fields": [{"name": [], "type": "null"}]},
    ],
)
def test_what_fastavro_takes_for_a_schema(schema: Any):
    with pytest.raises(AvroError):
        read(schema, b"\0")
