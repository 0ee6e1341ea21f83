"""Where the end of a long answer begins that may name brokers, found while it passes: nothing of it is kept."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from functools import lru_cache
from typing import Final

from kafkawire.catalogue import response_class
from kafkawire.codec.layout import FIXED, FieldLayout, StructLayout, layout_of

ENDPOINTS: Final = "node_endpoints"
Wants = Generator[int, bytes, None]
"""Yields how many bytes it wants to see, is sent them; minus as many as are to be passed over."""


class TailFinder:
    """Is given the body of an answer bit by bit, and says where its end begins."""

    def __init__(self, key: int, version: int) -> None:
        fields, self.is_field = _fields_before(key, version)
        self._walk = _walk(fields)
        self._want = next(self._walk)
        self._held = b""
        self.found = False

    def feed(self, data: bytes | memoryview) -> int:
        """How many bytes of `data` are in front of the end. Raises ValueError for what is none of Kafka's answers."""
        position, size = 0, len(data)
        while position < size and not self.found:
            want = self._want
            if want < 0:
                step = min(-want, size - position)
                position += step
                self._want += step
                if self._want == 0:
                    self._go_on(b"")
                continue
            missing = want - len(self._held)
            some = bytes(data[position : position + missing])
            position += len(some)
            if len(some) == missing:
                held, self._held = self._held + some, b""
                self._go_on(held)
            else:
                self._held += some
        return position

    def _go_on(self, data: bytes) -> None:
        try:
            want = self._walk.send(data)
            while want == 0:
                want = self._walk.send(b"")
            self._want = want
        except StopIteration:
            self.found = True


@lru_cache(maxsize=64)
def _fields_before(key: int, version: int) -> tuple[tuple[FieldLayout, ...], bool]:
    """The fields in front of the brokers, and whether those are a field that is not tagged."""
    fields = layout_of(response_class(key), version).fields
    for at, field in enumerate(fields):
        if field.name == ENDPOINTS:
            return fields[:at], True
    return fields, False


def _walk(fields: Sequence[FieldLayout]) -> Wants:
    yield from _fields(fields)


def _fields(fields: Sequence[FieldLayout]) -> Wants:
    fixed = 0
    for field in fields:
        if field.fixed:
            fixed -= FIXED[field.kind][1]
            continue
        if fixed:
            yield fixed
            fixed = 0
        yield from _value(field)
    if fixed:
        yield fixed


def _struct(layout: StructLayout) -> Wants:
    yield from _fields(layout.fields)
    if layout.flexible:
        count = yield from _uvarint()
        for _ in range(count):
            yield from _uvarint()
            size = yield from _uvarint()
            if size:
                yield -size


def _value(field: FieldLayout) -> Wants:
    if field.array:
        count = yield from _size(field.compact, 4)
        if count <= 0:
            return
        if field.kind in FIXED:
            yield -count * FIXED[field.kind][1]
            return
        for _ in range(count):
            if field.struct is not None:
                yield from _struct(field.struct)
            else:
                yield from _sized(field)
    elif field.struct is not None:
        if field.nullable and (yield 1) == b"\xff":
            return
        yield from _struct(field.struct)
    else:
        yield from _sized(field)


def _sized(field: FieldLayout) -> Wants:
    """A string, bytes, records."""
    size = yield from _size(field.compact, 2 if field.kind == "string" else 4)
    if size > 0:
        yield -size


def _size(compact: bool, width: int) -> Generator[int, bytes, int]:
    if compact:
        return (yield from _uvarint()) - 1
    return int.from_bytes((yield width), signed=True)


def _uvarint() -> Generator[int, bytes, int]:
    value = shift = 0
    while True:
        byte = (yield 1)[0]
        value |= (byte & 127) << shift
        if byte < 128:
            return value
        shift += 7
        if shift > 28:
            raise ValueError("varint is longer than 5 bytes")
