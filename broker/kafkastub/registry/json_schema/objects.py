"""Objects: properties that come and go, in content models that are open, closed, or open for some."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafkastub.registry.json_schema.context import Context
from kafkastub.registry.json_schema.limits import compare_limits
from kafkastub.registry.json_schema.patterns import finds
from kafkastub.registry.json_schema.shapes import Shape

Node = dict[str, Any]
ToShape = Callable[[Any], Shape]


def compare_objects(context: Context, original: Shape, update: Shape) -> None:
    before, after = original.node, update.node
    _required(context, before, after)
    with context.at("properties"):
        _properties(context, before, after)
    with context.at("dependencies"):
        _dependencies(context, before, after)
    with context.at("additionalProperties"):
        compare_additional(context, before, after, "additionalProperties", "ADDITIONAL_PROPERTIES")
    with context.at("unevaluatedProperties"):
        compare_unevaluated(context, before, after, "unevaluatedProperties", "UNEVALUATED_PROPERTIES")
    compare_limits(context, before, after, "maxProperties", "minProperties")


def _names(node: Node) -> list[str]:
    given = node.get("required", [])
    return given if isinstance(given, list) else []


def _has_default(node: Any) -> bool:
    return isinstance(node, dict) and "default" in node


def _required(context: Context, before: Node, after: Node) -> None:
    old, new = _names(before), _names(after)
    properties = after.get("properties", {})
    for name in before.get("properties", {}):
        if name not in properties or (name in old) == (name in new):
            continue
        with context.at("required", name):
            if name in old:
                context.add("REQUIRED_ATTRIBUTE_REMOVED")
            elif _has_default(properties[name]):
                context.add("REQUIRED_ATTRIBUTE_WITH_DEFAULT_ADDED")
            else:
                context.add("REQUIRED_ATTRIBUTE_ADDED")


def _properties(context: Context, before: Node, after: Node) -> None:
    old, new = before.get("properties", {}), after.get("properties", {})
    for name in dict.fromkeys((*old, *new)):
        with context.at(name):
            if name not in new:
                _removed(context, after, name, context.original(old[name]))
            elif name not in old:
                _added(context, before, after, name)
            else:
                context.compare(context.original(old[name]), context.update(new[name]))


def _removed(context: Context, after: Node, name: str, schema: Shape) -> None:
    if is_open(context.update, after):
        context.add("PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL")
        return
    partial = _partial(context.update, after, name)
    if partial is None:
        with_false = "PROPERTY_WITH_FALSE" if schema.kind == "false" else "PROPERTY"
        context.add(f"{with_false}_REMOVED_FROM_CLOSED_CONTENT_MODEL")
        return
    found = context.between(schema, partial)
    context.add_all(found)
    covered = "IS_COVERED" if context.is_compatible(found) else "NOT_COVERED"
    context.add(f"PROPERTY_REMOVED_{covered}_BY_PARTIALLY_OPEN_CONTENT_MODEL")


def _added(context: Context, before: Node, after: Node, name: str) -> None:
    node = after["properties"][name]
    schema = context.update(node)
    required = "REQUIRED_PROPERTY" if name in _names(after) else "OPTIONAL_PROPERTY"
    if required == "REQUIRED_PROPERTY" and _has_default(node):
        required = "REQUIRED_PROPERTY_WITH_DEFAULT"
    if is_open(context.original, before):
        what = "PROPERTY_WITH_EMPTY_SCHEMA" if schema.allows_all else required
        context.add(f"{what}_ADDED_TO_OPEN_CONTENT_MODEL")
        return
    partial = _partial(context.original, before, name)
    if partial is not None:
        found = context.between(partial, schema)
        context.add_all(found)
        covered = "IS_COVERED" if context.is_compatible(found) else "NOT_COVERED"
        context.add(f"PROPERTY_ADDED_{covered}_BY_PARTIALLY_OPEN_CONTENT_MODEL")
    context.add(f"{required}_ADDED_TO_UNOPEN_CONTENT_MODEL")


def _dependencies(context: Context, before: Node, after: Node) -> None:
    old, new = _arrays(before), _arrays(after)
    for name in dict.fromkeys((*old, *new)):
        with context.at(name):
            if name not in new or name not in old:
                context.add(f"DEPENDENCY_ARRAY_{'ADDED' if name in new else 'REMOVED'}")
            elif old[name] != new[name]:
                how = "EXTENDED" if new[name] > old[name] else "NARROWED" if new[name] < old[name] else "CHANGED"
                context.add(f"DEPENDENCY_ARRAY_{how}")
    schemas, coming = _schemas(before), _schemas(after)
    for name in dict.fromkeys((*schemas, *coming)):
        with context.at(name):
            if name not in coming or name not in schemas:
                context.add(f"DEPENDENCY_SCHEMA_{'ADDED' if name in coming else 'REMOVED'}")
            else:
                context.compare(context.original(schemas[name]), context.update(coming[name]))


def _arrays(node: Node) -> dict[str, set[str]]:
    every = {**node.get("dependencies", {}), **node.get("dependentRequired", {})}
    return {name: set(map(str, each)) for name, each in every.items() if isinstance(each, list)}


def _schemas(node: Node) -> Node:
    every = {**node.get("dependencies", {}), **node.get("dependentSchemas", {})}
    return {name: each for name, each in every.items() if not isinstance(each, list)}


def additional(node: Node, word: str) -> tuple[bool, Node | None]:
    """Whether others are allowed, and the schema that they need."""
    given = node.get(word, True)
    return given is not False, given if isinstance(given, dict) else None


def compare_additional(context: Context, before: Node, after: Node, word: str, kind: str) -> None:
    """`additionalProperties`, `additionalItems`."""
    (old, old_schema), (new, new_schema) = additional(before, word), additional(after, word)
    if old != new:
        context.add(f"{kind}_{'ADDED' if new else 'REMOVED'}")
    elif old_schema is None and new_schema is not None:
        context.add(f"{kind}_NARROWED")
    elif old_schema is not None and new_schema is None:
        context.add(f"{kind}_EXTENDED")
    elif old_schema is not None:
        context.compare(context.original(old_schema), context.update(new_schema))


def compare_unevaluated(context: Context, before: Node, after: Node, word: str, kind: str) -> None:
    """`unevaluatedProperties`, `unevaluatedItems`; without them everything is allowed."""
    if word not in before and word not in after:
        return
    old, new = context.original(before.get(word, True)), context.update(after.get(word, True))
    if (old.kind == "false") != (new.kind == "false"):
        context.add(f"{kind}_{'ADDED' if old.kind == 'false' else 'REMOVED'}")
    elif old.allows_all != new.allows_all or (word not in before) != (word not in after):
        context.add(f"{kind}_{'NARROWED' if word not in before or old.allows_all else 'EXTENDED'}")
    else:
        context.compare(old, new)


def is_open(shape: ToShape, node: Node) -> bool:
    """Whether it may have properties that it does not name, whatever they are."""
    allowed, schema = additional(node, "additionalProperties")
    if not allowed or schema is not None or node.get("patternProperties"):
        return False
    return shape(node.get("unevaluatedProperties", True)).allows_all


def _partial(shape: ToShape, node: Node, name: str) -> Shape | None:
    """The schema for a property that it does not name; None where there is none."""
    for pattern, each in node.get("patternProperties", {}).items():
        if finds(pattern, name):
            return shape(each)
    allowed, schema = additional(node, "additionalProperties")
    if schema is None and allowed and "unevaluatedProperties" in node:
        found = shape(node["unevaluatedProperties"])
        return None if found.kind == "false" or found.allows_all else found
    return None if schema is None else shape(schema)
