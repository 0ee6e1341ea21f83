"""Values as JSON, with bounds: a few bytes may stand for very many values, or for a long name again and again."""

from __future__ import annotations

import base64
import math
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

_DEEPEST: Final = 64


class TooMuch(ValueError):
    """The values of an answer are more than are told."""


class JsonMaker:
    """Tells so many values, and so many characters of texts and names, all together."""

    def __init__(self, most_values: int, most_text: int) -> None:
        self._most = most_values, most_text
        self._values, self._text = most_values, most_text

    def check(self) -> None:
        """Raises TooMuch where nothing more is told: then there is no need to read it."""
        self._pay(0)
        if self._values < 0:
            raise self._many

    def to_json(self, value: Any) -> Any:
        """As JSON has it. Bytes are `{"base64": …}`, infinite numbers words. Raises TooMuch."""
        return self._to_json(value, 0)

    def _to_json(self, value: Any, depth: int) -> Any:
        self._values -= 1
        if self._values < 0:
            raise self._many
        if depth > _DEEPEST:
            raise TooMuch(f"it is more than {_DEEPEST} deep")
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self._paid(value)
        if isinstance(value, int):
            self._pay(value.bit_length() // 3)
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else str(value)
        if isinstance(value, dict):
            return {self._paid(str(name)): self._to_json(one, depth + 1) for name, one in value.items()}
        if isinstance(value, list):
            return [self._to_json(one, depth + 1) for one in value]
        if isinstance(value, bytes):
            self._pay(len(value))
            return {"base64": base64.b64encode(value).decode()}
        if isinstance(value, date | datetime | time):
            return value.isoformat()
        assert isinstance(value, Decimal | UUID)
        return format(value, "f") if isinstance(value, Decimal) else str(value)

    @property
    def _many(self) -> TooMuch:
        return TooMuch(f"more than {self._most[0]} values were to be shown")

    def _paid(self, text: str) -> str:
        self._pay(len(text))
        return text if text.isascii() else text.encode(errors="backslashreplace").decode()

    def _pay(self, characters: int) -> None:
        self._text -= characters
        if self._text < 0:
            raise TooMuch(f"more than {self._most[1]} bytes of texts were to be shown")
