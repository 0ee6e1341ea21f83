"""The keywords of JSON Schema, kept short: schemas come from whoever may register them.

jsonschema would follow each of a billion paths through a schema, and a regular expression of Python may take longer
than anybody lives, with all other threads waiting.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Final

from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from kafkastub.config.patterns import LONGEST_TEXT, NotServed, Pattern

_MOST_STEPS: Final = 200_000
"""Keywords of a schema, and their parts, that are compared with parts of one value."""
_OF_REFERENCE: Final = 20
_OF_ANCHOR: Final = 5000
"""Steps of a reference that is no pointer: all of the schema is looked through for it."""
_MOST_UNIQUE: Final = 500
"""Items of an array that are compared with each other as the library does it, each with all others."""

Errors = Iterator[ValidationError]
Keyword = Callable[[Any, Any, Any, Any], Errors | None]
Found = Callable[[Any, str], bool | None]

_ANYTHING: Final = "(?:.|[\n\r\x85\u2028\u2029])*"

_left = threading.local()


@contextmanager
def few_steps() -> Iterator[None]:
    """In it a checker takes so many steps at most; then it raises ValueError."""
    _left.steps = _MOST_STEPS
    yield


def _take(steps: int) -> None:
    _left.steps -= steps
    if _left.steps < 0:
        raise ValueError(f"its schema takes more than {_MOST_STEPS} steps, for which it is not checked")


@lru_cache(maxsize=32)
def checking(draft: Any, *, trusted: bool) -> Any:
    """The library's checker for a draft, with steps that are counted.

    Regular expressions that are not known to be quick are Python's where the schema is `trusted`; else they fit.
    """
    keywords: dict[str, Keyword] = {**draft.VALIDATORS}
    found = _found_trusted if trusted else _found
    changed = {
        "uniqueItems": _unique_items(keywords.get("uniqueItems")),
        "pattern": _pattern(found),
        "patternProperties": _pattern_properties(found),
        "additionalProperties": _additional_properties(found),
    }
    if not trusted:
        changed |= {
            name: _unless_patterns(keywords.get(name)) for name in ("unevaluatedProperties", "unevaluatedItems")
        }
    keywords |= {name: each for name, each in changed.items() if name in keywords}
    return extend(draft, {name: _counted(name, each) for name, each in keywords.items()})


def _counted(name: str, check: Keyword) -> Keyword:
    def counted(validator: Any, said: Any, instance: Any, schema: Any) -> Errors:
        if name in ("$ref", "$dynamicRef", "$recursiveRef"):
            fragment = str(said).partition("#")[2]
            _take(_OF_REFERENCE if not fragment or fragment.startswith("/") else _OF_ANCHOR)
        else:
            _take(1 + (len(said) if isinstance(said, list | dict) else 0))
        yield from check(validator, said, instance, schema) or ()

    return counted


def _unique_items(check: Keyword | None) -> Keyword:
    def unique(validator: Any, said: Any, instance: Any, schema: Any) -> Errors:
        if check is not None and (not isinstance(instance, list) or len(instance) <= _MOST_UNIQUE):
            yield from check(validator, said, instance, schema) or ()
        elif said and len({json.dumps(each, sort_keys=True) for each in instance}) < len(instance):
            yield ValidationError(f"an array of {len(instance)} has non-unique elements")

    return unique


# -- regular expressions -----------------------------------------------------------------------------------------------


def _pattern(found: Found) -> Keyword:
    def pattern(validator: Any, said: Any, instance: Any, schema: Any) -> Errors:
        if isinstance(instance, str) and found(said, instance) is False:
            yield ValidationError(f"{instance!r} does not match {said!r}")

    return pattern


def _pattern_properties(found: Found) -> Keyword:
    def pattern_properties(validator: Any, said: Any, instance: Any, schema: Any) -> Errors:
        if isinstance(instance, dict):
            for pattern, inner in said.items():
                for name, each in instance.items():
                    if found(pattern, name):
                        yield from validator.descend(each, inner, path=name, schema_path=pattern)

    return pattern_properties


def _additional_properties(found: Found) -> Keyword:
    def additional_properties(validator: Any, said: Any, instance: Any, schema: Any) -> Errors:
        if not isinstance(instance, dict):
            return
        known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
        for name, each in instance.items():
            if name in known or any(found(pattern, name) is not False for pattern in patterns):
                continue
            if isinstance(said, dict):
                yield from validator.descend(each, said, path=name)
            elif not said:
                yield ValidationError(f"Additional properties are not allowed ({name!r} was unexpected)")

    return additional_properties


def _unless_patterns(check: Keyword | None) -> Keyword:
    """The library's way looks at the regular expressions of all schemas that lie beside it."""

    def unless(validator: Any, said: Any, instance: Any, schema: Any) -> Errors:
        text = json.dumps(schema)
        if check is not None and '"patternProperties"' not in text and "Ref" not in text and "$ref" not in text:
            yield from check(validator, said, instance, schema) or ()

    return unless


def _found(pattern: Any, text: str) -> bool | None:
    """Whether it is found in a text; None where it is none of those that are known to be quick."""
    _take(1 + len(text) // 8)
    compiled = _quick(pattern) if isinstance(pattern, str) and len(text) <= LONGEST_TEXT else None
    return None if compiled is None else compiled.fullmatch(text)


def _found_trusted(pattern: Any, text: str) -> bool | None:
    found = _found(pattern, text)
    return bool(re.search(pattern, text)) if found is None else found


@lru_cache(maxsize=256)
def _quick(pattern: str) -> Pattern | None:
    begins, ends = pattern.startswith("^"), pattern.endswith("$") and not pattern.endswith("\\$")
    inner = pattern[begins : len(pattern) - ends]
    if (begins or ends) and "|" in inner:
        return None  # of which side it is, only a parser knows
    try:
        return Pattern(f"{'' if begins else _ANYTHING}(?:{inner}){'' if ends else _ANYTHING}")
    except NotServed:
        return None
