"""Avro, by fastavro: a value is a dict, a list or a plain value."""

from __future__ import annotations

import io
import json
from functools import lru_cache
from typing import Any

from fastavro import parse_schema, schemaless_reader, schemaless_writer
from fastavro.validation import ValidationError, validate

from kafkastub.registry.entities import Schema


def encode(schema: Schema, references: Any, value: Any, message: str | None) -> bytes:
    """The binary encoding. Raises ValueError."""
    parsed = _parsed(schema, references)
    try:
        validate(value, parsed)
    except ValidationError as error:
        wrong = "; ".join(str(one) for one in error.errors)
        raise ValueError(f"the value does not fit {_named(schema)}: {wrong}") from None
    out = io.BytesIO()
    try:
        schemaless_writer(out, parsed, value)
    except (TypeError, ValueError, OverflowError, KeyError) as error:
        raise ValueError(f"the value does not fit {_named(schema)}: {error}") from None
    return out.getvalue()


def decode(schema: Schema, references: Any, data: bytes) -> Any:
    """The value. Raises ValueError, also for arrays of items without bytes: six bytes may say a trillion of them."""
    stream = io.BytesIO(data)
    parsed = _parsed(schema, references)
    if _repeats_nothing(schema.text, tuple(references)):
        raise ValueError(f"{_named(schema)} has an array of values without bytes, which is not read")
    try:
        value = schemaless_reader(stream, parsed, None)
    except (EOFError, IndexError, TypeError, ValueError, KeyError, OverflowError) as error:
        raise ValueError(f"the data is not of {_named(schema)}: {error or type(error).__name__}") from None
    if stream.tell() != len(data):
        raise ValueError(f"the data is not of {_named(schema)}: {len(data) - stream.tell()} bytes are left over")
    return value


def _parsed(schema: Schema, references: Any) -> Any:
    return _parsed_text(schema.text, tuple(references))


@lru_cache(maxsize=64)
def _parsed_text(text: str, references: tuple[tuple[str, str], ...]) -> Any:
    """Kept, as a topic's values have few schemas. By the text: after a restore an id may stand for another one."""
    names: dict[str, Any] = {}
    for _, each in references:
        parse_schema(json.loads(each), named_schemas=names)
    return parse_schema(_schema(text), named_schemas=names)


@lru_cache(maxsize=64)
def _repeats_nothing(text: str, references: tuple[tuple[str, str], ...]) -> bool:
    """Whether an array in the schema has items that may take no bytes."""
    named: dict[str, Any] = {}

    def of(one: Any) -> Any:
        return named.get(one, one) if isinstance(one, str) else one

    def is_empty(given: Any, inside: tuple[int, ...]) -> bool:
        one = of(given)
        if not isinstance(one, dict) or id(one) in inside:
            return bool(one == "null")
        if one["type"] == "record":
            return all(is_empty(each["type"], (*inside, id(one))) for each in one["fields"])
        return bool(one["type"] == "null" or (one["type"] == "fixed" and one["size"] == 0))

    def found(given: Any, inside: tuple[int, ...]) -> bool:
        one = of(given)
        if isinstance(one, list):
            return any(found(each, inside) for each in one)
        if not isinstance(one, dict) or id(one) in inside:
            return False
        if one["type"] == "array" and is_empty(one["items"], ()):
            return True
        below = [one.get("items"), one.get("values"), *(each["type"] for each in one.get("fields", ()))]
        return any(found(each, (*inside, id(one))) for each in below if each is not None)

    for _, each in references:
        parse_schema(json.loads(each), named_schemas=named)
    return found(parse_schema(_schema(text), named_schemas=named), ())


def _schema(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text  # a name alone: long


def _named(schema: Schema) -> str:
    return f"{schema.subject} version {schema.version}"
