"""What a JSON Schema is for who compares it: one thing, or several of which a value has to be all, any or one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

ALL, ANY, ONE = "allOf", "anyOf", "oneOf"

_NUMBER: Final = ("minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum")
_STRING: Final = ("minLength", "maxLength", "pattern", "format")
_ARRAY: Final = (
    "items", "prefixItems", "additionalItems", "minItems", "maxItems", "uniqueItems", "contains", "unevaluatedItems",
)  # fmt: skip
_OBJECT: Final = (
    "properties", "required", "minProperties", "maxProperties", "dependencies", "dependentRequired",
    "dependentSchemas", "patternProperties", "additionalProperties", "propertyNames", "unevaluatedProperties",
)  # fmt: skip
_KEYWORDS: Final = {"object": _OBJECT, "array": _ARRAY, "number": _NUMBER, "string": _STRING}
"""By the type that values have of which they say something."""


class Shape:
    """A schema.

    Attributes:
        kind: "empty", "true", "false", "null", "boolean", "string", "number", "array", "object", "enum", "const",
            "not", "conditional", "combined".
        node: the object that it is written as, {} of what is none.
        parts: of a combined one.
        criterion: of a combined one, ALL, ANY or ONE.
        integer: of a number, whether it has to be a whole one.
    """

    __slots__ = ("criterion", "integer", "kind", "node", "parts")

    def __init__(
        self,
        kind: str,
        node: dict[str, Any],
        parts: list[Shape] | None = None,
        criterion: str = "",
        integer: bool = False,
    ) -> None:
        self.kind = kind
        self.node = node
        self.parts = parts or []
        self.criterion = criterion
        self.integer = integer

    @property
    def allows_all(self) -> bool:
        return self.kind in ("empty", "true")


def shape_of(node: dict[str, Any], shape: Callable[[Any], Shape]) -> Shape:
    """The shape of an object without `$ref`; `shape` gives those of the schemas in it."""
    parts = [
        Shape("combined", node, [shape(each) for each in node[criterion]], criterion)
        for criterion in (ALL, ANY, ONE)
        if criterion in node
    ]
    given = node.get("type")
    if isinstance(given, list):
        types = [_typed(each, node) for each in given]
        parts.append(types[0] if len(types) == 1 else Shape("combined", node, types, ANY))
    elif given is not None:
        parts.append(_typed(given, node))
    else:
        parts += [_typed(kind, node) for kind, words in _KEYWORDS.items() if any(word in node for word in words)]
    parts += [Shape(word, node) for word in ("enum", "const", "not") if word in node]
    if "if" in node:
        parts.append(Shape("conditional", node))
    if not parts:
        return Shape("empty", node)
    return parts[0] if len(parts) == 1 else Shape("combined", node, parts, ALL)


def _typed(name: str, node: dict[str, Any]) -> Shape:
    return Shape("number", node, integer=True) if name == "integer" else Shape(name, node)
