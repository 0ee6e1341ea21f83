"""The condition behind `-k`: words that a run's id contains, with `and`, `or`, `not` and parentheses."""

from __future__ import annotations

import re
from collections.abc import Callable

Condition = Callable[[str], bool]

_TOKEN = re.compile(r"\s*(\(|\)|[^\s()]+)")


def condition(text: str) -> Condition:
    """Whether an id is chosen. Upper and lower case are the same. Raises ValueError for what is no condition."""
    parser = _Parser(_TOKEN.findall(text), text)
    return parser.whole()


class _Parser:
    def __init__(self, tokens: list[str], text: str) -> None:
        self.tokens = tokens
        self.text = text

    def whole(self) -> Condition:
        if not self.tokens:
            return lambda name: True
        found = self._either()
        if self.tokens:
            raise self._wrong(self.tokens[0])
        return found

    def _either(self) -> Condition:
        left = self._both()
        while self._take("or"):
            left = _either(left, self._both())
        return left

    def _both(self) -> Condition:
        left = self._one()
        while self._take("and"):
            left = _both(left, self._one())
        return left

    def _one(self) -> Condition:
        if self._take("not"):
            inner = self._one()
            return lambda name: not inner(name)
        if self._take("("):
            found = self._either()
            if not self._take(")"):
                raise ValueError(f"-k {self.text!r} lacks a closing parenthesis")
            return found
        if not self.tokens or self.tokens[0] in ("and", "or", ")"):
            raise self._wrong(self.tokens[0] if self.tokens else "the end")
        word = self.tokens.pop(0).lower()
        return lambda name: word in name.lower()

    def _take(self, token: str) -> bool:
        if self.tokens and self.tokens[0] == token:
            self.tokens.pop(0)
            return True
        return False

    def _wrong(self, token: str) -> ValueError:
        return ValueError(f"-k {self.text!r} is not a condition at {token!r}: words with and, or, not, ( and ) are")


def _either(left: Condition, right: Condition) -> Condition:
    return lambda name: left(name) or right(name)


def _both(left: Condition, right: Condition) -> Condition:
    return lambda name: left(name) and right(name)
