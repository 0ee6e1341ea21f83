"""Messages as plain data (dicts, lists, numbers, strings) and back: what scenarios and transcripts are written in.

A struct is a dict of the fields that the version has, those left out that hold the schema's default. Bytes and records
are hexadecimal text, a uuid is hexadecimal text or a name such as `<topic t1>`; others may have one: `<session 1>`.
Records may begin with the name of a producer id, `<producer 1> 0000…`: the batch is sent with that id in its header.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kafkawire.records import HEADER_SIZE, compute_crc, parse_header
from kafkawire.schema import ZERO_UUID, Message, Struct

Json = Any
"""None, bool, int, float, str, list[Json] or dict[str, Json]."""

BYTES = ("bytes", "records")


class Translation:
    """How texts and bytes are changed on the way; this one leaves them as they are."""

    def text(self, text: str) -> str:
        """A string, a uuid or the name of a number."""
        return text

    def data(self, data: bytes) -> bytes:
        """The contents of a field of bytes."""
        return data


SAME = Translation()


def build(cls: type[Message], body: Mapping[str, Json], words: Translation = SAME) -> Message:
    """The message that `body` describes; `words` translates it.

    Raises KeyError for an unknown field, ValueError for a name of a number that stands for none.
    """
    message = _struct(cls, body, words)
    assert isinstance(message, Message)
    return message


def describe(message: Struct, version: int, words: Translation = SAME) -> dict[str, Json]:
    """The other way round: only what `version` has, and only what is not the default."""
    default = _default(type(message).NEUTRAL or type(message))
    body: dict[str, Json] = {}
    for name, kind, between, *_ in message.FIELDS:
        value = getattr(message, name)
        if between[0] <= version <= between[1] and not _equal(value, getattr(default, name)):
            body[name] = _described(kind, value, version, words)
    return body


_defaults: dict[type[Struct], Struct] = {}
"""What a struct's fields hold where nothing is said of them."""


def _default(cls: type[Struct]) -> Struct:
    if cls not in _defaults:
        _defaults[cls] = cls()
    return _defaults[cls]


def _equal(value: Any, default: Any) -> bool:
    if isinstance(default, tuple) and isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return len(value) == 0
    return type(value) is type(default) and bool(value == default)


def _struct(cls: type[Struct], body: Mapping[str, Json], words: Translation) -> Struct:
    kinds = {row[0]: row[1] for row in cls.FIELDS}
    return cls(**{name: _built(cls, kinds[name], value, words) for name, value in body.items()})


def _built(cls: type[Struct], kind: str, value: Json, words: Translation) -> Any:
    if value is None:
        return None
    if kind.startswith("[]"):
        return [_built(cls, kind[2:], item, words) for item in value]
    if kind == "string":
        return words.text(value)
    if kind in BYTES:
        if value.startswith("<producer "):
            producer, _, contents = value.rpartition("> ")
            return with_producer(words.data(bytes.fromhex(contents)), int(words.text(f"{producer}>")))
        return words.data(_bytes(words.text(value) if value.startswith("<") else value))
    if kind == "uuid":
        translated = words.text(value)
        return ZERO_UUID if translated.startswith("<") else bytes.fromhex(translated)
    if isinstance(value, Mapping):
        return _struct(getattr(sys.modules[cls.__module__], kind), value, words)
    return int(words.text(value)) if isinstance(value, str) else value


def with_producer(batch: bytes, producer_id: int) -> bytes:
    """The batch as another producer's, with a CRC that fits it."""
    changed = parse_header(batch)._replace(producer_id=producer_id).encode() + batch[HEADER_SIZE:]
    return parse_header(changed)._replace(crc=compute_crc(changed)).encode() + batch[HEADER_SIZE:]


def _bytes(text: str) -> bytes:
    """From hexadecimal text; a name that stands for nothing is what it says."""
    return text.encode() if text.startswith("<") else bytes.fromhex(text)


def _described(kind: str, value: Any, version: int, words: Translation) -> Json:
    if value is None:
        return None
    if kind.startswith("[]"):
        return [_described(kind[2:], item, version, words) for item in value]
    if kind == "string":
        return words.text(value)
    if kind in BYTES:
        return words.data(bytes(value)).hex()
    if kind == "uuid":
        return words.text(bytes(value).hex())
    if isinstance(value, Struct):
        return describe(value, version, words)
    return value


def pieces(raw: list[Json], text: Callable[[str], str]) -> bytes:
    """Bytes from pieces: ["i8" | "i16" | "i32" | "i64", number], ["str" | "cstr" | "text", text], ["hex", …].

    Texts are written with a length before them, a compact one ("cstr"), or as they are.
    """
    formats = {"i8": ">b", "i16": ">h", "i32": ">i", "i64": ">q"}
    out = b""
    for kind, value in raw:
        if kind in formats:
            out += struct.pack(formats[kind], value)
        elif kind == "str":
            data = text(value).encode()
            out += struct.pack(">h", len(data)) + data
        elif kind == "cstr":
            data = text(value).encode()
            assert len(data) < 127
            out += bytes([len(data) + 1]) + data
        elif kind == "text":
            out += text(value).encode()
        else:
            out += bytes.fromhex(value)
    return out
