"""Arrays: items that all have one schema, items by their place, and others."""

from __future__ import annotations

from typing import Any

from kafkastub.registry.json_schema.context import Context
from kafkastub.registry.json_schema.limits import compare_limits
from kafkastub.registry.json_schema.objects import Node, ToShape, additional, compare_additional, compare_unevaluated
from kafkastub.registry.json_schema.shapes import Shape


def compare_arrays(context: Context, original: Shape, update: Shape) -> None:
    before, after = _old_style(original.node), _old_style(update.node)
    _all_items(context, before, after)
    _by_place(context, before, after)
    with context.at("additionalItems"):
        compare_additional(context, before, after, "additionalItems", "ADDITIONAL_ITEMS")
    with context.at("unevaluatedItems"):
        compare_unevaluated(context, before, after, "unevaluatedItems", "UNEVALUATED_ITEMS")
    compare_limits(context, before, after, "maxItems", "minItems", "maxContains", "minContains")
    if bool(before.get("uniqueItems")) != bool(after.get("uniqueItems")):
        context.add(f"UNIQUE_ITEMS_{'ADDED' if after.get('uniqueItems') else 'REMOVED'}", "uniqueItems")


def _old_style(node: Node) -> Node:
    """With the words of draft 7, where it has those of 2020-12."""
    if "prefixItems" not in node:
        return node
    rest = {word: each for word, each in node.items() if word not in ("prefixItems", "items", "additionalItems")}
    others = {"additionalItems": node["items"]} if "items" in node else {}
    return rest | {"items": node["prefixItems"]} | others


def _all_items(context: Context, before: Node, after: Node) -> None:
    old, new = before.get("items"), after.get("items")
    old, new = (None if isinstance(each, list) else each for each in (old, new))
    if old is None and new is None:
        return
    with context.at("items"):
        if old is None or new is None:
            context.add("SCHEMA_ADDED" if old is None else "SCHEMA_REMOVED")
        else:
            context.compare(context.original(old), context.update(new))


def _places(node: Node) -> list[Any]:
    given = node.get("items")
    return given if isinstance(given, list) else []


def _by_place(context: Context, before: Node, after: Node) -> None:
    old, new = _places(before), _places(after)
    for at in range(max(len(old), len(new))):
        with context.at("items", str(at)):
            if at >= len(new):
                _removed(context, after, context.original(old[at]))
            elif at >= len(old):
                _added(context, before, context.update(new[at]))
            else:
                context.compare(context.original(old[at]), context.update(new[at]))


def _removed(context: Context, after: Node, schema: Shape) -> None:
    if _is_open(context.update, after):
        context.add("ITEM_REMOVED_FROM_OPEN_CONTENT_MODEL")
        return
    partial = _partial(context.update, after)
    if partial is None:
        what = "ITEM_WITH_FALSE" if schema.kind == "false" else "ITEM"
        context.add(f"{what}_REMOVED_FROM_CLOSED_CONTENT_MODEL")
        return
    found = context.between(schema, partial)
    context.add_all(found)
    covered = "IS_COVERED" if context.is_compatible(found) else "NOT_COVERED"
    context.add(f"ITEM_REMOVED_{covered}_BY_PARTIALLY_OPEN_CONTENT_MODEL")


def _added(context: Context, before: Node, schema: Shape) -> None:
    if _is_open(context.original, before):
        what = "ITEM_WITH_EMPTY_SCHEMA" if schema.allows_all else "ITEM"
        context.add(f"{what}_ADDED_TO_OPEN_CONTENT_MODEL")
        return
    partial = _partial(context.original, before)
    if partial is None:
        context.add("ITEM_ADDED_TO_CLOSED_CONTENT_MODEL")
        return
    found = context.between(partial, schema)
    context.add_all(found)
    covered = "IS_COVERED" if context.is_compatible(found) else "NOT_COVERED"
    context.add(f"ITEM_ADDED_{covered}_BY_PARTIALLY_OPEN_CONTENT_MODEL")


def _is_open(shape: ToShape, node: Node) -> bool:
    allowed, schema = additional(node, "additionalItems")
    if not allowed or schema is not None:
        return False
    return shape(node.get("unevaluatedItems", True)).allows_all


def _partial(shape: ToShape, node: Node) -> Shape | None:
    allowed, schema = additional(node, "additionalItems")
    if schema is None and allowed and "unevaluatedItems" in node:
        found = shape(node["unevaluatedItems"])
        return None if found.kind == "false" or found.allows_all else found
    return None if schema is None else shape(schema)
