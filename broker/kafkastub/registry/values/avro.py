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
    """The value. Raises ValueError."""
    stream = io.BytesIO(data)
    try:
        value = schemaless_reader(stream, _parsed(schema, references), None)
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


def _schema(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text  # a name alone: long


def _named(schema: Schema) -> str:
    return f"{schema.subject} version {schema.version}"
