"""The reference reader: interprets a layout byte by byte and knows where it is.

It is slow and the compiled decoders are tested against it; when one of those fails, this one reads the same bytes
again and says which field is wrong and why. What it takes and what it refuses is what Kafka's generated readers do
(`MessageDataGenerator`, `Readable`): any negative length is null, the size of a known tag is not looked at.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import Any, Final

from kafkawire.codec.layout import FIXED, LONGEST_STRING, MOST_ELEMENTS, MOST_TAGS, FieldLayout, StructLayout
from kafkawire.codec.varint import read_uvarint
from kafkawire.errors import MalformedMessage
from kafkawire.schema import Struct

_SURROGATE: Final = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")
_LEAST_INT: Final = -(2**31)


class Reader:
    """Reads one message from `data[position:end]`; `position` moves along. Offsets in errors count from its start."""

    def __init__(self, what: str, data: bytes, position: int = 0, end: int | None = None) -> None:
        self.what = what
        self.data = data
        self.position = position
        self.start = position
        self.end = len(data) if end is None else end
        self.path: list[str] = []
        self.count: Callable[[int], None] | None = None
        """Is given the length of each array before its elements are read, and may raise what ends the reading."""
        self.tick: Callable[[], None] | None = None
        """Is called with each element, and may let others run meanwhile."""

    def fail(self, at: int, why: str) -> MalformedMessage:
        return MalformedMessage(self.what, ".".join(self.path).replace(".[", "["), at - self.start, why)

    def struct(self, layout: StructLayout) -> Struct:
        made = layout.cls()
        for field in layout.fields:
            self.path.append(field.name)
            setattr(made, field.name, self.value(field))
            self.path.pop()
        if layout.flexible:
            self._tags(layout, made)
        return made

    def value(self, field: FieldLayout) -> Any:
        if not field.array:
            return self._item(field, field.nullable)
        at = self.position
        count = self._length(field.compact, "i")
        if count < 0:
            if field.nullable:
                return None
            raise self.fail(at, "null array")
        room = self.end - self.position
        if count * field.min_item_size > room:
            raise self.fail(at, f"array of {count} elements in {room} bytes")
        if count > MOST_ELEMENTS:
            raise self.fail(at, f"array of {count} elements, {MOST_ELEMENTS} are the most")
        if self.count is not None:
            self.count(count)
        items = []
        for index in range(count):
            if self.tick is not None:
                self.tick()
            self.path.append(f"[{index}]")
            items.append(self._item(field, nullable=False))
            self.path.pop()
        return tuple(items)

    def _item(self, field: FieldLayout, nullable: bool) -> Any:
        at = self.position
        if field.kind in FIXED:
            return self._fixed(*FIXED[field.kind])
        if field.kind == "struct":
            assert field.struct is not None
            if nullable and self._is_null(field):
                return None
            return self.struct(field.struct)
        length = self._length(field.compact, "h" if field.kind == "string" else "i")
        if length < 0:
            if nullable:
                return None
            raise self.fail(at, f"null {field.kind}")
        if field.kind != "string":
            return self._take(length)
        if length > LONGEST_STRING:
            raise self.fail(at, f"string of {length} bytes, {LONGEST_STRING} is the most")
        return text_as_java(self._take(length))

    def _is_null(self, field: FieldLayout) -> bool:
        return self._uvarint() <= 0 if field.tag is not None else int(self._fixed("b", 1)) < 0

    def _length(self, compact: bool, form: str) -> int:
        if compact:
            at = self.position
            value = self._uvarint()
            if value == _LEAST_INT:  # Java's subtraction makes it the greatest int
                raise self.fail(at, f"length {2**31 - 1}")
            return value - 1
        return int(self._fixed(form, 2 if form == "h" else 4))

    def _fixed(self, form: str, size: int) -> Any:
        return struct.unpack(">" + form, self._take(size))[0]

    def _take(self, size: int) -> bytes:
        at, end = self.position, self.position + size
        if size < 0 or end > self.end:
            raise self.fail(at, f"{size} bytes wanted, {self.end - at} left")
        self.position = end
        return self.data[at:end]

    def _uvarint(self) -> int:
        at = self.position
        try:
            value, size = read_uvarint(self.data[at : min(at + 5, self.end)], 0)
        except IndexError:
            raise self.fail(at, "varint behind the end") from None
        except ValueError as error:
            raise self.fail(at, str(error)) from None
        self.position += size
        return value

    def _tags(self, layout: StructLayout, made: Struct) -> None:
        known = {field.tag: field for field in layout.tagged}
        self.path.append("tagged fields")
        at, count = self.position, self._uvarint()
        if not 0 <= count <= MOST_TAGS:
            raise self.fail(at, f"{count} of them, {MOST_TAGS} are the most")
        if self.count is not None and count:
            self.count(count)
        for _ in range(count):
            if self.tick is not None:
                self.tick()
            at = self.position
            tag, size = self._uvarint(), self._uvarint()
            if tag in layout.foreign_tags:
                raise self.fail(at, f"tag {tag} does not exist in this version")
            field = known.get(tag)
            if field is None:
                self._take(size)
                continue
            self.path.append(field.name)
            setattr(made, field.name, self.value(field))
            self.path.pop()
        self.path.pop()


def text_as_java(raw: bytes) -> str:
    """What Java's String constructor makes of UTF-8: it replaces what is malformed, a broker does not refuse it.

    A surrogate in three bytes, or the beginning of one, becomes one U+FFFD; Python would make several of it.
    """
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return _SURROGATE.sub("\ufffd".encode(), raw).decode("utf-8", "replace")
