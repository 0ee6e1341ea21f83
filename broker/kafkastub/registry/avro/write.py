"""The text of a schema, as Apache Avro for Java writes it (Schema.toString)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

from kafkastub.registry.avro.model import MISSING, Enum, Field, Fixed, Many, Named, Node, Record, Union


def written(schema: Node, known: Iterable[str] = (), *, normalized: bool = False) -> str:
    """In one line, without spaces. `known` are full names that stand for what is defined elsewhere.

    `normalized`: with attributes that Avro knows nothing of in the order of their names.
    """
    return _text(_Writer(set(known), normalized).schema(schema, ""))


class _Writer:
    def __init__(self, known: set[str], normalized: bool) -> None:
        self._known = known
        self._normalized = normalized

    def schema(self, node: Node, space: str) -> Any:
        """As values of JSON; `space` is the namespace around it."""
        if isinstance(node, Named):
            return self._named(node, space)
        if isinstance(node, Union):
            return [self.schema(one, space) for one in node.branches]
        if isinstance(node, Many):
            part = "items" if node.type == "array" else "values"
            return {"type": node.type, part: self.schema(node.of, space), **self._props(node.props)}
        return {"type": node.type, **self._props(node.props)} if node.props else node.type

    def _named(self, node: Named, space: str) -> Any:
        if node.full_name in self._known:
            return node.name if node.namespace == space else node.full_name
        self._known.add(node.full_name)
        kind = "error" if isinstance(node, Record) and node.is_error else node.type
        found: dict[str, Any] = {"type": kind, "name": node.name}
        if node.namespace != space:
            found["namespace"] = node.namespace
        if node.doc is not None:
            found["doc"] = node.doc
        if isinstance(node, Record):
            found["fields"] = [self._field(one, node.namespace) for one in node.fields]
        elif isinstance(node, Enum):
            found["symbols"] = node.symbols
            if node.default is not None:
                found["default"] = node.default
        elif isinstance(node, Fixed):
            found["size"] = node.size
        found |= self._props(node.props)
        if node.aliases:
            begin = f"{node.namespace}." if node.namespace else ""
            found["aliases"] = [_relative(one, begin) for one in node.aliases]
        return found

    def _field(self, field: Field, space: str) -> dict[str, Any]:
        found: dict[str, Any] = {"name": field.name, "type": self.schema(field.schema, space)}
        if field.doc is not None:
            found["doc"] = field.doc
        if field.default is not MISSING:
            found["default"] = field.default
        if field.order != "ascending":
            found["order"] = field.order
        if field.aliases:
            found["aliases"] = field.aliases
        return found | self._props(field.props)

    def _props(self, props: dict[str, Any]) -> dict[str, Any]:
        return {name: _sorted(props[name]) for name in sorted(props)} if self._normalized else props


def _relative(full: str, begin: str) -> str:
    """A name as it is written where names that begin with that need not say so."""
    rest = full.removeprefix(begin) if begin else full
    return full if "." in rest else rest


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _sorted(value[name]) for name in sorted(value)}
    return [_sorted(one) for one in value] if isinstance(value, list) else value


def _text(value: Any) -> str:
    """JSON with numbers as Java writes them."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{_quoted(name)}:{_text(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_text, value)) + "]"
    if isinstance(value, float):
        return _double(value)
    return _quoted(value) if isinstance(value, str) else json.dumps(value)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _double(value: float) -> str:
    """Java's Double.toString; what is no number is a text."""
    if math.isnan(value):
        return '"NaN"'
    if math.isinf(value):
        return '"Infinity"' if value > 0 else '"-Infinity"'
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        text = repr(value)
        return text if "e" not in text else f"{value:f}"
    digits, _, exponent = f"{value!r}".partition("e")
    if exponent:
        return f"{digits if '.' in digits else digits + '.0'}E{int(exponent)}"
    sign = "-" if value < 0 else ""
    whole, _, part = digits.lstrip("-").partition(".")
    part = part if part != "0" else ""
    if whole.strip("0"):
        return f"{sign}{whole[0]}.{(whole[1:] + part).rstrip('0') or '0'}E{len(whole) - 1}"
    left = part.lstrip("0")
    return f"{sign}{left[0]}.{left[1:] or '0'}E-{len(part) - len(left) + 1}"
