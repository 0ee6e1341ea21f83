"""Limits of numbers, texts, arrays and objects: what becomes of them from one schema to the next."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from kafkastub.registry.json_schema.context import Context
from kafkastub.registry.json_schema.shapes import Shape

_NAMES: Final = {
    "maxLength": "MAX_LENGTH",
    "minLength": "MIN_LENGTH",
    "maximum": "MAXIMUM",
    "minimum": "MINIMUM",
    "exclusiveMaximum": "EXCLUSIVE_MAXIMUM",
    "exclusiveMinimum": "EXCLUSIVE_MINIMUM",
    "maxProperties": "MAX_PROPERTIES",
    "minProperties": "MIN_PROPERTIES",
    "maxItems": "MAX_ITEMS",
    "minItems": "MIN_ITEMS",
    "maxContains": "MAX_CONTAINS",
    "minContains": "MIN_CONTAINS",
}


def compare_limits(context: Context, original: Mapping[str, Any], update: Mapping[str, Any], *words: str) -> None:
    """Numbers that are larger or smaller, there or not."""
    for word in words:
        before, after = _number(original.get(word)), _number(update.get(word))
        if before == after:
            continue
        if before is None:
            how = "ADDED"
        elif after is None:
            how = "REMOVED"
        else:
            how = "INCREASED" if before < after else "DECREASED"
        context.add(f"{_NAMES[word]}_{how}", word)


def compare_strings(context: Context, original: Shape, update: Shape) -> None:
    """Expressions are compared as texts."""
    compare_limits(context, original.node, update.node, "maxLength", "minLength")
    before, after = original.node.get("pattern"), update.node.get("pattern")
    if before != after:
        how = "ADDED" if before is None else "REMOVED" if after is None else "CHANGED"
        context.add(f"PATTERN_{how}", "pattern")


def compare_numbers(context: Context, original: Shape, update: Shape) -> None:
    limits = "maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum"
    compare_limits(context, original.node, update.node, *limits)
    before, after = _number(original.node.get("multipleOf")), _number(update.node.get("multipleOf"))
    if before != after:
        context.add(f"MULTIPLE_OF_{_multiple(before, after)}", "multipleOf")
    if original.integer != update.integer:
        context.add("TYPE_EXTENDED" if original.integer else "TYPE_NARROWED")


def _multiple(before: Decimal | None, after: Decimal | None) -> str:
    if before is None or after is None:
        return "ADDED" if before is None else "REMOVED"
    if before and after % before == 0:
        return "EXPANDED"
    return "REDUCED" if after and before % after == 0 else "CHANGED"


def _number(value: Any) -> Decimal | None:
    """None of what is no number: exclusiveMaximum was a boolean in draft 4."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return Decimal(str(value))
