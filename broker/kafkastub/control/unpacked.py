"""Records that are long, or stand in a few bytes: looked through, and told, a piece at a time.

What is done at one go with megabytes keeps all threads of the process waiting, this one being no exception.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Final

from kafkastub.views.records import LogRecord

MOST_UNPACKED: Final = 32 << 20
"""Bytes of a batch once it is unpacked, and about as many of all those that one request looks at: 2 KB of zstd can
stand for them. What Kafka's clients do with a batch is not limited by it."""
_PIECE: Final = 256 << 10


def size_of(record: LogRecord) -> int:
    """Bytes of its key, value and headers."""
    headers = sum(len(name) + len(value or b"") for name, value in record.headers)
    return len(record.key or b"") + len(record.value or b"") + headers


def has(content: bytes, wanted: bytes, any_case: bool = False) -> bool:
    """Whether that is in it; with `any_case`, capital letters of ASCII are small: `wanted` has none then."""
    if len(content) <= _PIECE:
        return wanted in (content.lower() if any_case else content)
    view, step = memoryview(content), max(_PIECE, len(wanted))
    for start in range(0, len(content), step):
        piece = bytes(view[start : start + step + len(wanted) - 1])
        if wanted in (piece.lower() if any_case else piece):
            return True
    return False


async def in_pieces(value: Any) -> AsyncIterator[bytes]:
    """JSON of what may have long texts in it."""
    for piece in pieces(value):
        yield piece


def pieces(value: Any, default: Callable[[Any], Any] | None = None) -> Iterator[bytes]:
    """The same, for a thread; `default` gives what JSON has for what it does not know."""
    held: list[str] = []
    size = 0
    for piece in _json(value, default):
        held.append(piece)
        size += len(piece)
        if size >= _PIECE:
            yield "".join(held).encode("utf-8", "backslashreplace")
            held, size = [], 0
    yield "".join(held).encode("utf-8", "backslashreplace")


def _json(value: Any, default: Callable[[Any], Any] | None) -> Iterator[str]:
    if isinstance(value, str) and len(value) > _PIECE:
        yield '"'
        for start in range(0, len(value), _PIECE):
            yield json.dumps(value[start : start + _PIECE], ensure_ascii=False)[1:-1]
        yield '"'
    elif isinstance(value, dict):
        for number, (name, one) in enumerate(value.items()):
            yield f"{',' if number else '{'}{json.dumps(name)}:"
            yield from _json(one, default)
        yield "}" if value else "{}"
    elif isinstance(value, list | tuple):
        for number, one in enumerate(value):
            yield "," if number else "["
            yield from _json(one, default)
        yield "]" if value else "[]"
    else:
        yield json.dumps(value, ensure_ascii=False, default=default)
