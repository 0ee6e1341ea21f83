"""JSON Schema, by jsonschema: a value is whatever JSON has."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from jsonschema import SchemaError
from jsonschema.validators import validator_for
from jsonschema_specifications import REGISTRY
from referencing import Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT7

from kafkastub.registry.values import json_keywords

_LONGEST_MESSAGE = 500
_UNUSABLE = (SchemaError, Unresolvable, TypeError, AttributeError, LookupError, ArithmeticError, re.error)
"""What the library raises for a keyword whose value is none of that keyword."""


class Codec:
    """Values of one schema."""

    def __init__(self, text: str, references: Sequence[tuple[str, str]], *, trusted: bool = True) -> None:
        """Of a schema that is not `trusted`, regular expressions are tried as far as that takes no time."""
        resources = [
            (name, Resource.from_contents(json.loads(each), default_specification=DRAFT7)) for name, each in references
        ]
        document = json.loads(text)
        checker = json_keywords.checking(validator_for(document), trusted=trusted)
        registry: Any = REGISTRY.with_resources(resources)
        self._checker = checker(document, registry=registry)

    def encode(self, value: Any, message: str | None) -> bytes:
        """The text. Raises ValueError."""
        try:
            text = json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise ValueError(f"it is not JSON: {error}") from None
        self._check(value)
        return text

    def decode(self, data: bytes) -> Any:
        """The value. Raises ValueError."""
        try:
            value = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"it is not JSON: {error}") from None
        self._check(value)
        return value

    def _check(self, value: Any) -> None:
        try:
            with json_keywords.few_steps():
                wrong = next(self._checker.iter_errors(value), None)
        except RecursionError:
            raise ValueError("its schema leads too deep into itself") from None
        except _UNUSABLE as error:
            raise ValueError(f"its schema cannot be used: {error!s:.{_LONGEST_MESSAGE}}") from None
        if wrong is not None:
            raise ValueError(f"{wrong.json_path}: {wrong.message:.{_LONGEST_MESSAGE}}")
