"""Looking at values that come from a file before anything is made of them: each is a type with its bounds.

A file that somebody edited, or a disk that lost a part of it, is refused in one sentence that names the field.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any, Final

from kafkastub.metadata import invalid_topic_name
from kafkastub.metadata.ids import uuid_bytes

Check = Callable[[Any, str], None]
"""Looks at a value; the text is where it stands: `topics[0].partitions[2].leader`."""


class Damaged(ValueError):
    """A field is not what it should be; `str()` is a sentence without full stop."""


def refuse(value: Any, where: str, wanted: str) -> None:
    """Values of texts are not told: they may be secrets."""
    found = _KINDS.get(type(value), "something else")
    if type(value) in (int, float):
        found = str(value) if abs(value) < _MOST else "a number of many digits"
    raise Damaged(f"{where or 'the document'} is {found}; expected {wanted}")


_MOST: Final = 1 << 64
_KINDS: Final = {
    dict: "an object", list: "a list", str: "a text", bool: "true or false", int: "a number", float: "a number",
    type(None): "null",
}  # fmt: skip


def whole(low: int, high: int) -> Check:
    def look(value: Any, where: str) -> None:
        if type(value) is not int or not low <= value <= high:
            refuse(value, where, f"a whole number from {low} to {high}")

    return look


def text(value: Any, where: str) -> None:
    if type(value) is not str:
        refuse(value, where, "a text")


def name(value: Any, where: str) -> None:
    if type(value) is not str or not value:
        refuse(value, where, "a name")


def topic_name(value: Any, where: str) -> None:
    """It becomes the name of directories."""
    if type(value) is not str or invalid_topic_name(value) is not None:
        refuse(value, where, "a topic's name")


def uuid(value: Any, where: str) -> None:
    text(value, where)
    try:
        uuid_bytes(value)
    except ValueError:
        refuse(value, where, "a uuid of 22 characters")


def of_base64(value: Any, where: str) -> None:
    text(value, where)
    try:
        base64.b64decode(value, validate=True)
    except ValueError:
        refuse(value, where, "base64")


def number(value: Any, where: str) -> None:
    if type(value) is not float and (type(value) is not int or abs(value) >= _MOST):
        refuse(value, where, "a number")


def or_null(look: Check) -> Check:
    return lambda value, where: None if value is None else look(value, where)


def listed(look: Check, *, at_least: int = 0) -> Check:
    def each(value: Any, where: str) -> None:
        if type(value) is not list or len(value) < at_least:
            refuse(value, where, "a list" if not at_least else "a list that is not empty")
        for number, one in enumerate(value):
            look(one, f"{where}[{number}]")

    return each


def by_name(look: Check) -> Check:
    def each(value: Any, where: str) -> None:
        if type(value) is not dict:
            refuse(value, where, "an object")
        for name, one in value.items():
            look(one, f"{where}[{name!r}]")

    return each


def parts(*looks: Check) -> Check:
    def each(value: Any, where: str) -> None:
        if type(value) is not list or len(value) != len(looks):
            refuse(value, where, f"a list of {len(looks)}")
        for number, (look, one) in enumerate(zip(looks, value, strict=True)):
            look(one, f"{where}[{number}]")

    return each


def fields(needed: Mapping[str, Check], others: Mapping[str, Check] | None = None) -> Check:
    """`others` need not be there: older versions did not write them."""

    def each(value: Any, where: str) -> None:
        if type(value) is not dict:
            refuse(value, where, "an object")
        prefix = f"{where}." if where else ""
        for name, look in needed.items():
            if name not in value:
                raise Damaged(f"{prefix}{name} is missing")
            look(value[name], prefix + name)
        for name, look in (others or {}).items():
            if name in value:
                look(value[name], prefix + name)

    return each
