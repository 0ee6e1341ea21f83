"""Requests that are filled up: one for each array that any version of any request has, made from the schemas alone.

What `many` has is the dearest that we know; this finds what nobody has thought of.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from kafkastub.handlers.offers import OFFERS
from kafkawire.api import ApiKey
from kafkawire.catalogue import request_class
from kafkawire.codec import encode
from kafkawire.codec.layout import FieldLayout, StructLayout, layout_of
from tests.hostile.many import THOUSAND, Many

_NUMBERED: Final = ("int32", "int64")
_SOME: Final = 100
"""Elements by which it is seen how many fit."""


def filled(size: int) -> Iterator[Many]:
    """Of each API's last version, each of about `size` bytes: the same thing again and again, or ever new things."""
    for key in OFFERS:
        version = request_class(key).VERSIONS[1]
        version = min(version, OFFERS[key].last)
        layout = layout_of(request_class(key), version)
        for path in _arrays(layout):
            for kind, is_new in (("the same", False), ("new ones", True)):
                name = f"{key.camel} v{version}, {'.'.join(field.name for field in path)}, {kind}"
                yield Many(name, key, version, _Body(key, version, path, is_new, size))


class _Body:
    """Makes the request when it is wanted."""

    def __init__(self, key: ApiKey, version: int, path: Sequence[FieldLayout], is_new: bool, size: int) -> None:
        self._key, self._version, self._path, self._is_new, self._size = key, version, path, is_new, size

    def __call__(self) -> bytes:
        few = len(self._with(_SOME))
        return self._with(max(_SOME, _SOME * self._size // max(1, few)))

    def _with(self, count: int) -> bytes:
        layout = layout_of(request_class(self._key), self._version)
        return encode(_struct(layout, 0, False, self._path, count, self._is_new), self._version)


def _arrays(layout: StructLayout) -> Iterator[tuple[FieldLayout, ...]]:
    """The way to each array, however deep it lies."""
    for field in (*layout.fields, *layout.tagged):
        if field.array:
            yield (field,)
        if field.struct is not None:
            for path in _arrays(field.struct):
                yield (field, *path)


def _struct(
    layout: StructLayout, index: int, is_new: bool, path: Sequence[FieldLayout], count: int, are_new: bool
) -> Any:
    """A struct in which the array at `path` has `count` elements."""
    made = layout.cls()
    for field in (*layout.fields, *layout.tagged):
        if path and field == path[0]:
            setattr(made, field.name, _towards(field, path[1:], count, are_new))
        elif not field.array and field.struct is None:
            setattr(made, field.name, _scalar(field, index, is_new))
    return made


def _towards(field: FieldLayout, rest: Sequence[FieldLayout], count: int, are_new: bool) -> Any:
    """The field that is the array, or has it somewhere below it."""
    if rest or not field.array:
        assert field.struct is not None
        one = _struct(field.struct, 0, False, rest, count, are_new)
        return [one] if field.array else one
    if field.struct is None:
        return [_scalar(field, index, are_new) for index in range(count)]
    return [_struct(field.struct, index, are_new, (), 0, are_new) for index in range(count)]


def _scalar(field: FieldLayout, index: int, is_new: bool) -> Any:
    """A name, or a number, that fits; what is not numbered has its default."""
    if field.kind == "string":
        return f"x{index}" if is_new else THOUSAND
    if field.kind in _NUMBERED and (is_new or field.array):
        return index if is_new else 0
    if field.kind == "uuid":
        return (index if is_new else 1).to_bytes(16, "big")
    if field.array:
        return {"bool": False, "string": "", "bytes": b"", "records": b"", "float64": 0.0}.get(field.kind, 0)
    return field.default
