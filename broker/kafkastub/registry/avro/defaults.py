"""Whether a value is one that a field's schema can have for a default (Apache Avro for Java: Schema.isValidDefault)."""

from __future__ import annotations

from typing import Any, Final

from kafkastub.registry.avro.model import MISSING, Many, Node, Record, Union

_RANGES: Final = {"int": 2**31, "long": 2**63}


def is_default(schema: Node, value: Any) -> bool:
    """Of a union each branch may have it, since Avro 1.12."""
    kind = schema.type
    if value is MISSING:
        return False
    if isinstance(schema, Union):
        return any(is_default(one, value) for one in schema.branches)
    if isinstance(schema, Many):
        if kind == "array":
            return isinstance(value, list) and all(is_default(schema.of, one) for one in value)
        return isinstance(value, dict) and all(is_default(schema.of, one) for one in value.values())
    if isinstance(schema, Record):
        if not isinstance(value, dict):
            return False
        return all(is_default(one.schema, value.get(one.name, one.default)) for one in schema.fields)
    if kind in ("string", "bytes", "enum", "fixed"):
        return isinstance(value, str)
    if kind == "null":
        return value is None
    if kind == "boolean":
        return isinstance(value, bool)
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    limit = _RANGES.get(kind)
    return limit is None or (isinstance(value, int) and -limit <= value < limit)
