"""Avro's schemas out of JSON, checked as Apache Avro for Java checks them (Schema.Parser)."""

from __future__ import annotations

import json
from typing import Any, Final

from kafkastub.registry.avro.defaults import is_default
from kafkastub.registry.avro.model import (
    MISSING,
    PRIMITIVES,
    Enum,
    Field,
    Fixed,
    Later,
    Many,
    Named,
    Node,
    Record,
    Union,
)
from kafkastub.registry.errors import InvalidSchema, TooComplex

DEEPEST: Final = 200
"""How deep schemas may lie in each other."""
_LARGEST_SIZE: Final = 2**31 - 1
_OF_SCHEMAS: Final = frozenset(
    ("doc", "fields", "items", "name", "namespace", "size", "symbols", "values", "type", "aliases")
)
_OF_ENUMS: Final = _OF_SCHEMAS | {"default"}
_OF_FIELDS: Final = frozenset(("default", "doc", "name", "order", "type", "aliases"))
_ORDERS: Final = ("ascending", "descending", "ignore")


def parse(text: str, known: dict[str, Named], *, validate_defaults: bool = True) -> Node:
    """A schema of its text; `known` are the named schemas that it may refer to, and gains those that it has.

    Raises InvalidSchema.
    """
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise TooComplex(f"schemas may lie {DEEPEST} deep in each other") from None
    except ValueError as error:
        if text.strip() in PRIMITIVES:  # a bare word is one, for Avro
            return Node(text.strip())
        raise InvalidSchema(f"it is not JSON: {error}") from None
    parser = _Parser(known)
    found = parser.resolved(parser.schema(value, "", 0))
    if validate_defaults:
        parser.check_defaults()
    return found


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


class _Parser:
    def __init__(self, known: dict[str, Named]) -> None:
        self._known = known
        self._records: list[Record] = []
        self._holders: list[Field | Many | Union] = []
        """Those that have a name which stands before what it names."""

    def schema(self, value: Any, namespace: str, depth: int) -> Node:
        if depth > DEEPEST:
            raise TooComplex(f"schemas may lie {DEEPEST} deep in each other")
        if isinstance(value, str):
            return self._named(value, namespace)
        if isinstance(value, list):
            return self._union(value, namespace, depth)
        if isinstance(value, dict):
            return self._object(value, namespace, depth)
        raise InvalidSchema(f"a schema is a name, an object or an array, not {_shown(value)}")

    def _named(self, name: str, namespace: str) -> Node:
        if name in PRIMITIVES:
            return Node(name)
        full = name if "." in name or not namespace else f"{namespace}.{name}"
        full = full.removeprefix(".")
        return self._known.get(full) or self._known.get(name) or Later(full, name)

    def resolved(self, root: Node) -> Node:
        """The schema with every name standing for what it names. Raises InvalidSchema."""
        for holder in self._holders:
            if isinstance(holder, Field):
                holder.schema = self._meant(holder.schema)
            elif isinstance(holder, Many):
                holder.of = self._meant(holder.of)
            else:
                holder.branches = [self._meant(one) for one in holder.branches]
        return self._meant(root)

    def _meant(self, node: Node) -> Node:
        if not isinstance(node, Later):
            return node
        found = self._known.get(node.name) or self._known.get(node.plain)
        if found is None:
            raise InvalidSchema(f'Undefined schema: "{node.name}" is not a type of Avro, and none is defined')
        return found

    def check_defaults(self) -> None:
        """Raises InvalidSchema for a default that its field cannot have."""
        for record in self._records:
            for field in record.fields:
                if field.default is not MISSING and not is_default(field.schema, field.default):
                    shown = _shown(field.default)
                    raise InvalidSchema(f"Invalid default for field {field.name}: {shown} not a {field.schema.type}")

    def _union(self, value: list[Any], namespace: str, depth: int) -> Union:
        branches = [self.schema(one, namespace, depth + 1) for one in value]
        names: set[str] = set()
        for one in branches:
            if isinstance(one, Union):
                raise InvalidSchema("a union may not have a union in it")
            name = one.full_name if isinstance(one, Named) else one.name if isinstance(one, Later) else one.type
            if name in names:
                raise InvalidSchema(f"Duplicate in union: {name}")
            names.add(name)
        found = Union(branches)
        if any(isinstance(one, Later) for one in branches):
            self._holders.append(found)
        return found

    def _object(self, value: dict[str, Any], namespace: str, depth: int) -> Node:
        kind = value.get("type")
        if not isinstance(kind, str):
            raise InvalidSchema(f'No type: {_shown(value)} needs a "type"')
        reserved, found = _OF_SCHEMAS, Node(kind)
        if kind in ("record", "error"):
            found = self._record(value, namespace, depth, kind == "error")
        elif kind == "enum":
            reserved, found = _OF_ENUMS, self._enum(value, namespace)
        elif kind == "fixed":
            found = self._fixed(value, namespace)
        elif kind in ("array", "map"):
            part = "items" if kind == "array" else "values"
            if part not in value:
                raise InvalidSchema(f'{kind.capitalize()} has no {part} type: {_shown(value)} needs "{part}"')
            found = Many(kind, self.schema(value[part], namespace, depth + 1))
            if isinstance(found.of, Later):
                self._holders.append(found)
        elif kind not in PRIMITIVES:
            return self._named(kind, namespace)
        found.props = {name: each for name, each in value.items() if name not in reserved}
        return found

    # -- what has a name -------------------------------------------------------------------------------------------

    def _name(self, value: dict[str, Any], enclosing: str) -> tuple[str, str]:
        """Name and namespace."""
        name, namespace = value.get("name"), value.get("namespace")
        if not isinstance(name, str):
            raise InvalidSchema(f'No name in schema: {_shown(value)} needs a "name"')
        if "." in name:
            namespace, _, name = name.rpartition(".")
        elif not isinstance(namespace, str):
            namespace = enclosing
        for part in (name, *(namespace.split(".") if namespace else ())):
            _check_name(part)
        if name in PRIMITIVES:
            raise InvalidSchema(f"Schemas may not be named after primitives: {name}")
        return name, namespace

    def _begin(self, node: Named, value: dict[str, Any]) -> None:
        doc = value.get("doc")
        node.doc = doc if isinstance(doc, str) else None
        begin = f"{node.namespace}." if node.namespace else ""
        aliases = (one if "." in one else begin + one for one in _texts(value, "aliases"))
        node.aliases = list(dict.fromkeys(aliases))
        if node.full_name in self._known:
            raise InvalidSchema(f"Can't redefine: {node.full_name}")
        self._known[node.full_name] = node

    def _record(self, value: dict[str, Any], enclosing: str, depth: int, is_error: bool) -> Record:
        node = Record(*self._name(value, enclosing), is_error)
        self._begin(node, value)
        self._records.append(node)
        fields = value.get("fields")
        if not isinstance(fields, list):
            raise InvalidSchema(f"Record has no fields: {node.full_name}")
        names: set[str] = set()
        for one in fields:
            field = self._field(one, node, depth)
            if field.name in names:
                raise InvalidSchema(f"Duplicate field {field.name} in record {node.full_name}")
            names.add(field.name)
            node.fields.append(field)
        return node

    def _field(self, value: Any, record: Record, depth: int) -> Field:
        name = value.get("name") if isinstance(value, dict) else None
        if not isinstance(name, str):
            raise InvalidSchema(f"No field name: a field of {record.full_name} needs one")
        _check_name(name)
        if "type" not in value:
            raise InvalidSchema(f"No field type: {name} of {record.full_name} needs one")
        field = Field(name, self.schema(value["type"], record.namespace, depth + 1))
        if isinstance(field.schema, Later):
            self._holders.append(field)
        doc = value.get("doc")
        field.doc = doc if isinstance(doc, str) else None
        order = value.get("order")
        if order is not None:
            if not isinstance(order, str) or order.lower() not in _ORDERS:
                raise InvalidSchema(f"order of {name} is {_shown(order)}: {', '.join(_ORDERS)} is allowed")
            field.order = order.lower()
        field.aliases = _texts(value, "aliases")
        if "default" in value:
            field.default = _as_number(field.schema, value["default"])
        field.props = {key: each for key, each in value.items() if key not in _OF_FIELDS}
        return field

    def _enum(self, value: dict[str, Any], enclosing: str) -> Enum:
        node = Enum(*self._name(value, enclosing))
        self._begin(node, value)
        symbols = value.get("symbols")
        if not isinstance(symbols, list):
            raise InvalidSchema(f"Enum has no symbols: {node.full_name}")
        for symbol in symbols:
            if not isinstance(symbol, str):
                raise InvalidSchema(f"a symbol of {node.full_name} is {_shown(symbol)}, which is not a name")
            _check_name(symbol)
        node.symbols = symbols
        if len(set(symbols)) < len(symbols):
            raise InvalidSchema(f"Duplicate enum symbol: in {node.full_name}")
        default = value.get("default")
        if default is not None:
            if default not in symbols:
                raise InvalidSchema(f"The Enum Default: {_shown(default)} is not in the enum symbol set: {symbols}")
            node.default = default
        return node

    def _fixed(self, value: dict[str, Any], enclosing: str) -> Fixed:
        size = value.get("size")
        name = self._name(value, enclosing)
        if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size <= _LARGEST_SIZE:
            raise InvalidSchema(f"Invalid or no size: {name[0]} needs a number of bytes")
        node = Fixed(*name, size)
        self._begin(node, value)
        return node


def _check_name(name: str) -> None:
    if not name:
        raise InvalidSchema("Empty name")
    if not (name[0].isalpha() or name[0] == "_"):
        raise InvalidSchema(f"Illegal initial character: {name}")
    if not all(each.isalpha() or each.isdecimal() or each == "_" for each in name):
        raise InvalidSchema(f"Illegal character in: {name}")


def _texts(value: dict[str, Any], name: str) -> list[str]:
    given = value.get(name)
    if given is None:
        return []
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise InvalidSchema(f"{name} not an array of names: {_shown(given)}")
    return list(dict.fromkeys(given))


def _as_number(schema: Node, default: Any) -> Any:
    """Avro takes a text for a number there, "NaN" for example."""
    if schema.type in ("float", "double") and isinstance(default, str):
        try:
            return float(default)
        except ValueError:
            return default
    return default


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False) if not isinstance(value, dict | list) else _beginning(value)
    return text if len(text) <= 100 else text[:100] + "…"


def _beginning(value: dict[str, Any] | list[Any]) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(list(value)[:5]) + "}"
    return f"an array of {len(value)}"
