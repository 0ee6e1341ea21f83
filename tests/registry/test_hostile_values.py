"""Schemas and values that somebody made to hold a broker up: each ends soon, with a sentence."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from kafkastub import KafkaStub
from kafkastub.registry.entities import Schema
from kafkastub.registry.values import ResolvedSchema
from kafkastub.registry.values.display import BySchema, DisplayedValue

SOON = (
    10  # seconds, on a machine that does other things as well; without a bound each of them takes minutes or for ever
)


def shown(kind: str, schema: Any, content: bytes, references: tuple[tuple[str, str], ...] = ()) -> DisplayedValue:
    text = schema if isinstance(schema, str) else json.dumps(schema)
    known = ResolvedSchema(Schema("orders-value", text, kind, version=1, id=1), references)
    began = time.monotonic()
    found = BySchema({1: known}).decode(b"\0\0\0\0\1" + content)
    assert time.monotonic() - began < SOON
    assert found is not None
    assert json.dumps(found.content).encode()
    return found


def doubling(depth: int) -> dict[str, Any]:
    """Each definition asks for the next one twice."""
    of = {f"d{at}": {"allOf": 2 * [{"$ref": f"#/definitions/d{at + 1}"}]} for at in range(depth)}
    return {"definitions": of | {f"d{depth}": {"type": "integer"}}, "$ref": "#/definitions/d0"}


@pytest.mark.parametrize(
    ("kind", "schema", "content", "sentence"),
    [
        ("AVRO", {"type": "array", "items": "null"}, b"\x80\x80\x80\x80\x80\x01\x00", "it has more than 50028 values"),
        ("AVRO", "string", b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", "bytes were expected"),
        ("JSON", doubling(60), b"1", "more than 200000 steps"),
        ("JSON", {"allOf": [{"$ref": "#"}]}, b"1", "too deep into itself"),
        ("JSON", {"$ref": "http://127.0.0.1:1/x.json"}, b"1", "cannot be used"),
        ("JSON", {"minimum": "x"}, b"1", "cannot be used"),
        ("JSON", {}, b"[" * 100_000, "it is not JSON"),
        ("JSON", {}, b"[" * 200 + b"]" * 200, "more than 64 deep"),
        ("JSON", {}, b"[" + b"0," * 99_999 + b"0]", "more than 50000 values"),
        ("JSON", {"uniqueItems": True}, b"[" + b'{"a":1},' * 20_000 + b"0]", "has non-unique elements"),
        ("PROTOBUF", 'syntax = "proto3"; message A { repeated A a = 1; }', b"\0" + b"\x0a\0" * 60_000, "50000 values"),
        ("PROTOBUF", 'syntax = "proto3"; message A { A a = 1; }', b"\0" + b"\x0a\xff\x7f" * 9, "A: "),
        (
            "PROTOBUF",
            'syntax = "proto3"; import "google/protobuf/any.proto"; message A { google.protobuf.Any a = 1; }',
            b"\0\x0a\x03\x0a\x01x",
            "A: ",
        ),
        ("PROTOBUF", "AAAA", b"\0", "cannot be used"),
    ],
)
def test_it_ends_soon_with_a_sentence(kind: str, schema: Any, content: bytes, sentence: str) -> None:
    found = shown(kind, schema, content)
    assert sentence in str(found.error)
    assert found.content is None


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "^(.*a){20}$", r"(\w+\s?)+$", "(?=(a+))b", "(a*)*\\1"])
@pytest.mark.parametrize("where", ["pattern", "patternProperties", "unevaluatedProperties"])
def test_no_regular_expression_holds_everybody_up(pattern: str, where: str) -> None:
    """Python's engine lets no other thread run until it has tried all ways: more than there are seconds."""
    text = "a" * 250 + "!"
    if where == "pattern":
        shown("JSON", {"pattern": pattern}, json.dumps(text).encode())
        return
    schema: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "patternProperties": {pattern: False},
    }
    schema |= {"additionalProperties": False} if where == "patternProperties" else {"unevaluatedProperties": False}
    shown("JSON", schema, json.dumps({text: 1}).encode())


def test_a_long_name_is_not_told_again_and_again() -> None:
    line = {"type": "record", "name": "Line", "fields": [{"name": "n" * 60_000, "type": "boolean"}]}
    found = shown("AVRO", {"type": "array", "items": line}, b"\x90\x4e" + bytes(5001))
    assert found.error == "it is too much for one answer: more than 4194304 bytes of texts were to be shown"


def test_a_schema_that_is_larger_than_is_used() -> None:
    found = shown("AVRO", {"type": "string", "doc": "x" * 300_000}, b"\0")
    assert found.error is not None
    assert "262144 are used" in found.error


def test_all_values_of_an_answer_are_bounded_together() -> None:
    known = ResolvedSchema(Schema("orders-value", '"bytes"', "AVRO", version=1, id=1), ())
    showing = BySchema({1: known})
    content = b"\0\0\0\0\1" + b"\x80\x80\x10" + bytes(131_072)
    errors = [found.error for _ in range(12) if (found := showing.decode(content)) is not None]
    assert errors[:7] == [None] * 7
    assert errors[-1] == "it is too much for one answer: more than 1048576 bytes of values were to be read"


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"orders": 1}, registry=True, control_port=0) as stub:
        yield stub


def test_the_broker_serves_while_large_values_are_shown(stub: KafkaStub) -> None:
    """A thread that does not hold the interpreter: a look-up in between is not late by more than a turn or two."""
    import threading

    stub.registry.register("orders-value", {"type": "array", "items": "int"})
    many = list(range(40_000))
    for _ in range(8):
        stub.produce("orders", many, schema="orders-value")
    done = threading.Event()

    def ask() -> None:
        httpx.get(f"{stub.control_url}/v1/topics/orders/records?decoded=true", timeout=60).raise_for_status()
        done.set()

    thread = threading.Thread(target=ask)
    thread.start()
    turns = 0
    while not done.is_set():
        stub.metrics()
        turns += 1
    thread.join()
    assert turns > 3
