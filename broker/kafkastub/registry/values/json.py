"""JSON Schema, by jsonschema: a value is whatever JSON has."""

from __future__ import annotations

import json
from typing import Any

from jsonschema import SchemaError
from jsonschema.validators import validator_for
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT7

from kafkastub.registry.entities import Schema


def encode(schema: Schema, references: Any, value: Any, message: str | None) -> bytes:
    """The text. Raises ValueError."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"the value does not fit {_named(schema)}: {error}") from None
    _check(schema, references, value)
    return text.encode("utf-8", "surrogatepass")


def decode(schema: Schema, references: Any, data: bytes) -> Any:
    """The value. Raises ValueError."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the data is not of {_named(schema)}: {error}") from None
    _check(schema, references, value)
    return value


def _check(schema: Schema, references: Any, value: Any) -> None:
    resources = [
        (name, Resource.from_contents(json.loads(text), default_specification=DRAFT7)) for name, text in references
    ]
    registry: Any = Registry().with_resources(resources)
    document = json.loads(schema.text)
    try:
        wrong = next(validator_for(document)(document, registry=registry).iter_errors(value), None)
    except (SchemaError, RecursionError) as error:
        raise ValueError(f"{_named(schema)} cannot be used: {error}") from None
    if wrong is not None:
        raise ValueError(f"the value does not fit {_named(schema)}: {wrong.json_path}: {wrong.message[:500]}")


def _named(schema: Schema) -> str:
    return f"{schema.subject} version {schema.version}"
