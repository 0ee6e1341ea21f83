"""A JSON Schema with what it refers to: checked as far as it is compared, nothing fetched, no expression tried out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote, urldefrag, urljoin

from kafkastub.registry.errors import InvalidSchema, TooComplex
from kafkastub.registry.json_schema.shapes import Shape, shape_of

DEEPEST: Final = 200
_MOST_REFERENCES: Final = 100
"""That follow each other before a schema comes."""
_TYPES: Final = frozenset(("null", "boolean", "integer", "number", "string", "array", "object"))
_SCHEMAS: Final = (
    "additionalItems", "additionalProperties", "contains", "not", "if", "then", "else", "propertyNames",
    "unevaluatedItems", "unevaluatedProperties",
)  # fmt: skip
_LISTS: Final = ("allOf", "anyOf", "oneOf", "prefixItems")
_BY_NAME: Final = ("properties", "patternProperties", "definitions", "$defs", "dependentSchemas")
_COUNTS: Final = (
    "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains",
)  # fmt: skip
_NUMBERS: Final = ("minimum", "maximum", "multipleOf")
_TEXTS: Final = ("$ref", "$id", "$schema", "$anchor", "title", "description", "pattern", "format")


def read(text: str) -> Any:
    """Raises InvalidSchema for what is no JSON, or no schema at its root."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise TooComplex(f"schemas may lie {DEEPEST} deep in each other") from None
    except ValueError as error:
        raise InvalidSchema(f"it is not JSON: {error}") from None
    if not isinstance(value, dict | bool):
        raise InvalidSchema("a JSON Schema is an object, true or false")
    return value


class Document:
    """A schema and, by their names, those that it refers to."""

    def __init__(self, root: Any, references: Sequence[tuple[str, str]] = ()) -> None:
        """Raises InvalidSchema."""
        self.root = root
        self._bases: dict[int, str] = {}
        """By the id of an object: what references in it are relative to."""
        self._places: dict[str, Any] = {}
        """Schemas with a name of their own, by it."""
        self._shapes: dict[int, Shape] = {}
        for name, text in references:
            value = read(text)
            self._places[name] = value
            self._walk(value, name, 0)
        self._walk(root, "", 0)
        self._places.setdefault("", root)
        self._check_references(root)

    def shape(self, value: Any) -> Shape:
        """What a schema is, with references followed. Raises InvalidSchema."""
        for _ in range(_MOST_REFERENCES):
            found = self._shapes.get(id(value))
            if found is not None:
                return found
            if not isinstance(value, dict):
                return _TRUE if value is True else _FALSE
            if "$ref" in value:
                value = self._referred(value)
                continue
            found = shape_of(value, lambda part: self.shape(part))
            self._shapes[id(value)] = found
            return found
        raise TooComplex(f"more than {_MOST_REFERENCES} references follow each other")

    def _referred(self, node: dict[str, Any]) -> Any:
        given: str = node["$ref"]
        base = self._bases[id(node)]
        place, fragment = urldefrag(given)
        root = self._place(place, base)
        if root is None:
            raise InvalidSchema(f"$ref {given!r} is none of the references, and nothing is fetched")
        if fragment and not fragment.startswith("/"):
            found = self._places.get(f"{urljoin(base, place)}#{fragment}")
            if found is None:
                raise InvalidSchema(f"$ref {given!r} leads nowhere")
            return found
        return _pointed(root, fragment, given)

    def _place(self, place: str, base: str) -> Any:
        if not place:
            return self._places.get(base, self.root)
        for name in (place, urljoin(base, place), place.removeprefix("./")):
            if name in self._places:
                return self._places[name]
        return None

    # -- going through it once ---------------------------------------------------------------------------------------

    def _walk(self, value: Any, base: str, depth: int) -> None:
        """Check a schema and all in it, and note down names."""
        if depth > DEEPEST:
            raise TooComplex(f"schemas may lie {DEEPEST} deep in each other")
        if isinstance(value, bool):
            return
        if not isinstance(value, dict):
            raise InvalidSchema(f"a schema is an object, true or false, not {_shown(value)}")
        _check(value)
        own = value.get("$id")
        if own is not None:
            base = urljoin(base, own).removesuffix("#")
            self._places.setdefault(base, value)
        if "$anchor" in value:
            self._places.setdefault(f"{base}#{value['$anchor']}", value)
        self._bases[id(value)] = base
        for part in parts_of(value):
            self._walk(part, base, depth + 1)

    def _check_references(self, value: Any) -> None:
        """Raises InvalidSchema where a reference leads nowhere, or only to others."""
        if isinstance(value, dict):
            if "$ref" in value:
                self.shape(value)
            for part in parts_of(value):
                self._check_references(part)


_TRUE: Final = Shape("true", {})
_FALSE: Final = Shape("false", {})


def parts_of(node: Mapping[str, Any]) -> list[Any]:
    """The schemas that stand in one."""
    parts = [node[word] for word in _SCHEMAS if word in node]
    for word in _LISTS:
        parts += node.get(word, ())
    for word in _BY_NAME:
        parts += node.get(word, {}).values()
    items = node.get("items")
    parts += items if isinstance(items, list) else [] if items is None else [items]
    parts += [one for one in node.get("dependencies", {}).values() if not isinstance(one, list)]
    return parts


def _check(node: dict[str, Any]) -> None:
    """Raises InvalidSchema for a keyword with a value that it cannot have."""
    given = node.get("type")
    for name in given if isinstance(given, list) else [] if given is None else [given]:
        if not isinstance(name, str) or name not in _TYPES:
            raise InvalidSchema(f"type {_shown(name)} is none of {', '.join(sorted(_TYPES))}")
    if given == []:
        raise InvalidSchema("type [] has no type in it")
    for word in _LISTS:
        if word in node and (not isinstance(node[word], list) or not node[word]):
            raise InvalidSchema(f"{word} has to be an array of schemas")
    for word in (*_BY_NAME, "dependencies", "dependentRequired"):
        if not isinstance(node.get(word, {}), dict):
            raise InvalidSchema(f"{word} has to be an object")
    for word in _COUNTS:
        count = node.get(word, 0)
        if not isinstance(count, int | float) or isinstance(count, bool) or count < 0 or count != int(count):
            raise InvalidSchema(f"{word} has to be a number from 0 on, not {_shown(count)}")
    for word in _NUMBERS:
        if not isinstance(node.get(word, 0), int | float) or isinstance(node.get(word), bool):
            raise InvalidSchema(f"{word} has to be a number, not {_shown(node[word])}")
    for word in _TEXTS:
        if not isinstance(node.get(word, ""), str):
            raise InvalidSchema(f"{word} has to be a text, not {_shown(node[word])}")
    required = node.get("required", [])
    is_list = isinstance(required, list) and all(isinstance(each, str) for each in required)
    if not is_list and not isinstance(required, bool):  # a boolean is of draft 3, and said nothing since
        raise InvalidSchema("required has to be an array of names")
    if not isinstance(node.get("enum", []), list):
        raise InvalidSchema("enum has to be an array")


def _pointed(root: Any, fragment: str, given: str) -> Any:
    """What a JSON pointer (RFC 6901) leads to."""
    found = root
    for part in fragment.split("/")[1:]:
        name = unquote(part).replace("~1", "/").replace("~0", "~")
        if isinstance(found, dict) and name in found:
            found = found[name]
        elif isinstance(found, list) and name.isascii() and name.isdigit() and int(name) < len(found):
            found = found[int(name)]
        else:
            raise InvalidSchema(f"$ref {given!r} leads nowhere")
    if not isinstance(found, dict | bool):
        raise InvalidSchema(f"$ref {given!r} leads to no schema")
    return found


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "an array"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 100 else text[:100] + "…"
