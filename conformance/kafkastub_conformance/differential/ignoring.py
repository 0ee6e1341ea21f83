"""Fields of answers that are not compared: which there are to choose from, and leaving them out."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from kafkastub_conformance.differential.bodies import Json
from kafkastub_conformance.differential.broker import ASKED
from kafkastub_conformance.messages import response_class
from kafkawire.records import BatchHeader
from kafkawire.schema import Struct

OF_BATCHES = {*BatchHeader._fields, "payload", "unpacked"}
"""What is shown of a batch of records in the answer to a Fetch."""


def ignorable(names: Iterable[str]) -> frozenset[str]:
    """The same names; raises ValueError, with a sentence, for one that no answer has a field of."""
    chosen = frozenset(names)
    known = sorted({field for api in ASKED for field in _fields(response_class(api))} | OF_BATCHES)
    for name in sorted(chosen.difference(known)):
        allowed = f"allowed is one of {', '.join(known)}"
        for close in difflib.get_close_matches(name.rpartition(".")[2].lower(), known, n=1):
            allowed = f"{close} is meant? Allowed is the plain name of any field that answers have"
        raise ValueError(f"--ignore {name}: no answer has a field of this name; {allowed}")
    return chosen


def _fields(cls: type[Struct]) -> Iterator[str]:
    """The names of a struct's fields, and of those within it."""
    for name, kind, *_ in cls.FIELDS:
        yield name
        inner = getattr(sys.modules[cls.__module__], kind.removeprefix("[]"), None)
        if isinstance(inner, type) and issubclass(inner, Struct):
            yield from _fields(inner)


def without(answer: Json, fields: Collection[str]) -> Any:
    """The answer without the fields of these names, anywhere in it."""
    if isinstance(answer, dict):
        return {key: without(item, fields) for key, item in answer.items() if key not in fields}
    if isinstance(answer, list):
        return [without(item, fields) for item in answer]
    return answer
