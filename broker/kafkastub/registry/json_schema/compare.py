"""What is different between two JSON Schemas (Confluent: the rules of its JSON Schema compatibility)."""

from __future__ import annotations

import json
from typing import Any, Final

from kafkastub.registry.errors import TooComplex
from kafkastub.registry.json_schema.arrays import compare_arrays
from kafkastub.registry.json_schema.context import Context, Found, Shared
from kafkastub.registry.json_schema.differences import Difference
from kafkastub.registry.json_schema.document import Document
from kafkastub.registry.json_schema.limits import compare_numbers, compare_strings
from kafkastub.registry.json_schema.objects import compare_objects
from kafkastub.registry.json_schema.shapes import ALL, ANY, ONE, Shape


def differences(original: Document, update: Document, compatible: frozenset[str]) -> list[Difference]:
    """All of them, those that do no harm too. Raises TooComplex.

    Where schemas have themselves in them, they are taken for compatible there at first; what comes out is then looked
    at again with what was found, until that is the same.
    """
    assumed: dict[tuple[int, int], Found] = {}
    try:
        while True:
            shared = Shared(original, update, compatible, _compare, assumed)
            context = Context(shared)
            context.compare(original.shape(original.root), update.shape(update.root))
            bad = {pair: found for pair, found in shared.known.items() if not context.is_compatible(found)}
            if not shared.guessed or bad.keys() == assumed.keys():
                return list(dict.fromkeys(context.told()))
            assumed = bad
    except RecursionError:
        raise TooComplex("the schemas refer too deep to each other to be compared") from None


def _compare(context: Context, original: Shape, update: Shape) -> None:
    if _through_combined(context, original, update):
        return
    if original.kind != update.kind:
        if original.kind != "false" and not update.allows_all and not _both_bytes(original, update):
            context.add("TYPE_CHANGED")
        return
    for word, kind in _ABOUT.items():
        if original.node.get(word) != update.node.get(word):
            context.add(kind)
    compare = _OF_KIND.get(original.kind)
    if compare is not None:
        compare(context, original, update)


_ABOUT: Final = {
    "$id": "ID_CHANGED",
    "title": "TITLE_CHANGED",
    "description": "DESCRIPTION_CHANGED",
    "default": "DEFAULT_CHANGED",
}


def _through_combined(context: Context, original: Shape, update: Shape) -> bool:
    """Whether one of them is a part of the other one, and good as it is."""
    if (original.kind == "combined") == (update.kind == "combined"):
        return False
    whole = original if original.kind == "combined" else update
    single = len(whole.parts) == 1
    if whole is update:
        if not single and whole.criterion not in (ANY, ONE):
            return False
        extended, pairs = "SUM_TYPE_EXTENDED", [(original, part) for part in whole.parts]
    else:
        if not single and whole.criterion != ALL:
            return False
        extended, pairs = "PRODUCT_TYPE_NARROWED", [(part, update) for part in whole.parts]
    for pair in pairs:
        found = context.between(*pair)
        if context.is_compatible(found):
            context.add_all(found)
            if not single:
                context.add(extended)
            return True
    return False


def _both_bytes(original: Shape, update: Shape) -> bool:
    """What Kafka Connect writes for bytes, whose JSON may be a text or a number."""
    return original.node.get("connect.type") == "bytes" == update.node.get("connect.type")


def _combined(context: Context, original: Shape, update: Shape) -> None:
    if not _criteria(context, original, update):
        return
    before, after = _unlike(original.parts), _unlike(update.parts)
    if len(before) < len(after):
        context.add("PRODUCT_TYPE_EXTENDED" if update.criterion == ALL else "SUM_TYPE_EXTENDED")
    elif len(before) > len(after):
        context.add("PRODUCT_TYPE_NARROWED" if original.criterion == ALL else "SUM_TYPE_NARROWED")
    edges: dict[tuple[int, int], Found] = {}
    for at, one in enumerate(before):
        for place, other in enumerate(after):
            found = context.between(one, other)
            if context.is_compatible(found):
                edges[at, place] = found
    pairs = _matched(len(before), len(after), edges)
    for place, at in pairs.items():
        with context.at(original.criterion, str(at)):
            context.add_all(edges[at, place])
    if len(pairs) < min(len(before), len(after)):
        context.add("COMBINED_TYPE_SUBSCHEMAS_CHANGED")


def _criteria(context: Context, original: Shape, update: Shape) -> bool:
    """Whether their parts can be compared."""
    if original.criterion == update.criterion:
        return True
    single, comes_single = len(original.parts) == 1, len(update.parts) == 1
    good = update.criterion == ANY or (single and (comes_single or update.criterion == ONE))
    good = good or (comes_single and original.criterion == ALL)
    context.add("COMBINED_TYPE_EXTENDED" if good else "COMBINED_TYPE_CHANGED")
    return good


def _unlike(parts: list[Shape]) -> list[Shape]:
    """Those that are written alike once."""
    return list({(one.kind, one.integer, _text(one.node)): one for one in parts}.values())


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _matched(ones: int, others: int, edges: dict[tuple[int, int], Found]) -> dict[int, int]:
    """As many pairs as there can be, each part in one: whose is which of the others (Kuhn's algorithm)."""
    owner: dict[int, int] = {}

    def place(at: int, seen: set[int]) -> bool:
        for other in range(others):
            if (at, other) in edges and other not in seen:
                seen.add(other)
                if other not in owner or place(owner[other], seen):
                    owner[other] = at
                    return True
        return False

    for at in range(ones):
        place(at, set())
    return owner


def _enums(context: Context, original: Shape, update: Shape) -> None:
    before, after = ({_text(one) for one in shape.node["enum"]} for shape in (original, update))
    if before != after:
        how = "EXTENDED" if after > before else "NARROWED" if after < before else "CHANGED"
        context.add(f"ENUM_ARRAY_{how}", "enum")


def _consts(context: Context, original: Shape, update: Shape) -> None:
    if _text(original.node["const"]) != _text(update.node["const"]):
        context.add("ENUM_ARRAY_CHANGED", "const")


def _nots(context: Context, original: Shape, update: Shape) -> None:
    """What must not be: there the schema that comes may say less."""
    turned = Shared(
        context.shared.update, context.shared.original, context.shared.compatible, _compare, context.shared.assumed
    )
    turned.steps = context.shared.steps
    inner = Context(turned)
    found = inner.between(context.update(update.node["not"]), context.original(original.node["not"]))
    context.shared.steps = turned.steps
    how = "NARROWED" if context.is_compatible(found) else "EXTENDED"
    context.add(f"NOT_TYPE_{how}", "not")


_OF_KIND: Final = {
    "string": compare_strings,
    "number": compare_numbers,
    "object": compare_objects,
    "array": compare_arrays,
    "combined": _combined,
    "enum": _enums,
    "const": _consts,
    "not": _nots,
}
