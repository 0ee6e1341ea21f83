"""Where each field of a message lies among its bytes: the reference reader, taking notes.

For people who look at a frame; nothing that is served goes this way. What is noted is bounded, what is read is not: of
a long array the first elements are noted, and where the next field begins is found all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from kafkawire.codec.layout import FieldLayout, StructLayout, layout_of
from kafkawire.codec.reader import Reader
from kafkawire.errors import MalformedMessage
from kafkawire.schema import Message, Struct

MOST_ELEMENTS_NOTED: Final = 100
"""Of one array."""


@dataclass(slots=True)
class FieldSpan:
    """A field, or an element of an array: `data[start:end]`, the length in front of it included.

    Attributes:
        kind: its type as the protocol's guide names it: `int32`, `compact string`, `array of Topic`.
        value: what was read; None for what has `fields`.
        fields: what it is made of; None where it is of one piece.
        left_out: elements of an array, or fields, that are there and were not noted.
    """

    name: str
    kind: str
    start: int
    end: int
    value: Any = None
    fields: list[FieldSpan] | None = None
    left_out: int = 0


Inside = Callable[[FieldSpan, bytes], "list[FieldSpan] | None"]
"""Is given a field of bytes or records and what it has; gives what that is made of, if it is known."""


def spans_of(
    cls: type[Message],
    version: int,
    data: bytes,
    position: int,
    end: int,
    most: int,
    inside: Inside = lambda span, value: None,
) -> tuple[FieldSpan, MalformedMessage | None]:
    """What `data[position:end]` is made of, as far as it can be read, and why no farther.

    At most `most` fields are noted. Raises ValueError for a version that the message does not have.
    """
    layout = layout_of(cls, version)
    reader = _SpanReader(f"{cls.__name__} v{version}", data, position, end, most, inside)
    try:
        reader.struct(layout)
    except MalformedMessage as error:
        reader.close_all()
        return reader.root, error
    reader.root.end = reader.position
    return reader.root, None


class _SpanReader(Reader):
    def __init__(self, what: str, data: bytes, position: int, end: int, most: int, inside: Inside) -> None:
        super().__init__(what, data, position, end)
        self.root = FieldSpan(what, "message", position, position, fields=[])
        self._open = [self.root]
        self._left = most
        self._silent = 0
        """How many of the elements that we are in are not noted."""
        self._inside = inside

    def close_all(self) -> None:
        """Nothing more can be read: what is open ends here."""
        for span in self._open:
            span.end = self.position

    def value(self, field: FieldLayout) -> Any:
        span = self._begin(field.name, _kind(field, field.array), field.array or field.struct is not None)
        return self._read(field, span, Reader.value)

    def _item(self, field: FieldLayout, nullable: bool) -> Any:
        if not field.array:
            return super()._item(field, nullable)
        span = self._begin(self.path[-1], _kind(field, array=False), field.struct is not None)
        return self._read(field, span, lambda reader, field: Reader._item(reader, field, nullable))

    def _read(self, field: FieldLayout, span: FieldSpan | None, read: Callable[[Reader, FieldLayout], Any]) -> Any:
        """With what is inside of it, as far as it is noted."""
        if span is None:
            self._silent += 1
            try:
                return read(self, field)
            finally:
                self._silent -= 1
        value = read(self, field)
        self._open.pop().end = self.position
        if value is None:
            span.fields = None
        elif span.fields is None:
            span.value = value
            if field.kind in ("bytes", "records"):
                span.fields = self._inside(span, value)
        return value

    def _is_null(self, field: FieldLayout) -> bool:
        span = self._begin("present", "int8" if field.tag is None else "uvarint", False)
        null = super()._is_null(field)
        if span is not None:
            span.value, self._open.pop().end = not null, self.position
        return null

    def _tags(self, layout: StructLayout, made: Struct) -> None:
        span = self._begin("tagged fields", "tagged fields", True)
        super()._tags(layout, made)
        if span is not None:
            self._open.pop().end = self.position

    def _begin(self, name: str, kind: str, has_fields: bool) -> FieldSpan | None:
        """None where it is not noted."""
        if self._silent:
            return None
        fields = self._open[-1].fields
        assert fields is not None
        if self._left <= 0 or len(fields) >= MOST_ELEMENTS_NOTED:
            self._open[-1].left_out += 1
            return None
        self._left -= 1
        span = FieldSpan(name, kind, self.position, self.position, fields=[] if has_fields else None)
        fields.append(span)
        self._open.append(span)
        return span


def _kind(field: FieldLayout, array: bool) -> str:
    name = field.kind if field.struct is None else field.struct.cls.__name__
    sized = array or field.kind in ("string", "bytes", "records")
    return f"{'compact ' if field.compact and sized else ''}{'array of ' if array else ''}{name}"
