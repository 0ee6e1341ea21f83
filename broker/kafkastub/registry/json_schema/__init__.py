"""JSON Schema: schemas out of their texts, and whether what was good stays good."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from kafkastub.registry.errors import TooComplex
from kafkastub.registry.json_schema.compare import differences
from kafkastub.registry.json_schema.differences import LENIENT, STRICT
from kafkastub.registry.json_schema.document import Document, read


class JsonSchema:
    """A JSON Schema, parsed.

    Attributes:
        text: without spaces, in the order in which it was written.
    """

    def __init__(self, text: str, references: Sequence[tuple[str, str]], *, as_new: bool) -> None:
        """`references` are names with texts. Raises InvalidSchema."""
        self.root = read(text)
        self.text = _written(self.root)
        try:
            self.document = Document(self.root, references)
        except RecursionError:
            raise TooComplex("the schema refers too deep to itself") from None

    def normalized(self) -> str:
        """The text with its names in order."""
        return _written(self.root, in_order=True)

    def formatted(self, form: str) -> str:
        """The text: no form changes it."""
        return self.text

    def why_not_after(self, previous: JsonSchema, policy: str) -> list[str]:
        """Why a value that was good by `previous` may be bad; empty where none is."""
        compatible = LENIENT if policy == "LENIENT" else STRICT
        found = differences(previous.document, self.document, compatible)
        return [one.told() for one in found if one.kind not in compatible]


def _written(value: Any, *, in_order: bool = False) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=in_order)
