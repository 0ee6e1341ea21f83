"""Messages as plain data (dicts, lists, numbers, strings) and back: what scenarios and transcripts are written in.

A struct is a dict of the fields that the version has, those left out that hold the schema's default. Bytes and records
are hexadecimal text, a uuid is hexadecimal text or a name such as `<topic t1>`; a number may have one: `<session 1>`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kafkawire.schema import ZERO_UUID, Message, Struct

Json = Any
"""None, bool, int, float, str, list[Json] or dict[str, Json]."""

Text = Callable[[str], str]

BYTES = ("bytes", "records")


def same(text: str) -> str:
    """The translation that changes nothing."""
    return text


def build(cls: type[Message], body: Mapping[str, Json], text: Text = same) -> Message:
    """The message that `body` describes; `text` translates every string. Raises KeyError for an unknown field."""
    message = _struct(cls, body, text)
    assert isinstance(message, Message)
    return message


def describe(message: Struct, version: int, text: Text = same) -> dict[str, Json]:
    """The other way round: only what `version` has, and only what is not the default."""
    default = _defaults(type(message).NEUTRAL or type(message))
    body: dict[str, Json] = {}
    for name, kind, between, *_ in message.FIELDS:
        value = getattr(message, name)
        if between[0] <= version <= between[1] and not _equal(value, getattr(default, name)):
            body[name] = _described(kind, value, version, text)
    return body


_DEFAULTS: dict[type[Struct], Struct] = {}


def _defaults(cls: type[Struct]) -> Struct:
    if cls not in _DEFAULTS:
        _DEFAULTS[cls] = cls()
    return _DEFAULTS[cls]


def _equal(value: Any, default: Any) -> bool:
    if isinstance(default, tuple) and isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return len(value) == 0
    return type(value) is type(default) and bool(value == default)


def _struct(cls: type[Struct], body: Mapping[str, Json], text: Text) -> Struct:
    kinds = {row[0]: row[1] for row in cls.FIELDS}
    return cls(**{name: _built(cls, kinds[name], value, text) for name, value in body.items()})


def _built(cls: type[Struct], kind: str, value: Json, text: Text) -> Any:
    if value is None:
        return None
    if kind.startswith("[]"):
        return [_built(cls, kind[2:], item, text) for item in value]
    if kind == "string":
        return text(value)
    if kind in BYTES:
        return bytes.fromhex(value)
    if kind == "uuid":
        translated = text(value)
        return ZERO_UUID if translated.startswith("<") else bytes.fromhex(translated)
    if isinstance(value, Mapping):
        return _struct(getattr(sys.modules[cls.__module__], kind), value, text)
    return int(text(value)) if isinstance(value, str) else value


def _described(kind: str, value: Any, version: int, text: Text) -> Json:
    if value is None:
        return None
    if kind.startswith("[]"):
        return [_described(kind[2:], item, version, text) for item in value]
    if kind == "string":
        return text(value)
    if kind in BYTES:
        return bytes(value).hex()
    if kind == "uuid":
        return text(bytes(value).hex())
    if isinstance(value, Struct):
        return describe(value, version, text)
    return value
