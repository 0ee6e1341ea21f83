"""The reference reader: interprets a layout byte by byte and knows where it is.

It is slow and the compiled decoders are tested against it; when one of those fails, this one reads the same bytes
again and says which field is wrong and why.
"""

from __future__ import annotations

import struct
from typing import Any

from kafkawire.codec.layout import FIXED, FieldLayout, StructLayout
from kafkawire.codec.varint import read_uvarint
from kafkawire.errors import MalformedMessage
from kafkawire.schema import Struct


class Reader:
    """Reads one message from `data`; `position` moves along."""

    def __init__(self, what: str, data: bytes, position: int = 0) -> None:
        self.what = what
        self.data = data
        self.position = position
        self.path: list[str] = []

    def fail(self, offset: int, why: str) -> MalformedMessage:
        return MalformedMessage(self.what, ".".join(self.path).replace(".[", "["), offset, why)

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
        start = self.position
        count = self._length(field.compact, "i")
        if count < 0:
            if field.nullable and count == -1:
                return None
            raise self.fail(start, "null array" if count == -1 else f"array of {count} elements")
        room = len(self.data) - self.position
        if count * field.min_item_size > room:
            raise self.fail(start, f"array of {count} elements in {room} bytes")
        items = []
        for index in range(count):
            self.path.append(f"[{index}]")
            items.append(self._item(field, nullable=False))
            self.path.pop()
        return tuple(items)

    def _item(self, field: FieldLayout, nullable: bool) -> Any:
        start = self.position
        if field.kind in FIXED:
            return self._fixed(*FIXED[field.kind])
        if field.kind == "struct":
            assert field.struct is not None
            if nullable and self._fixed("b", 1) < 0:
                return None
            return self.struct(field.struct)
        length = self._length(field.compact, "h" if field.kind == "string" else "i")
        if length < 0:
            if nullable or field.kind == "records":
                return None
            raise self.fail(start, f"null {field.kind}")
        raw = self._take(length)
        # Java's String constructor replaces what is not UTF-8; so a broker does not refuse it.
        return raw.decode("utf-8", "replace") if field.kind == "string" else raw

    def _length(self, compact: bool, form: str) -> int:
        if compact:
            return self._uvarint() - 1
        return int(self._fixed(form, 2 if form == "h" else 4))

    def _fixed(self, form: str, size: int) -> Any:
        return struct.unpack(">" + form, self._take(size))[0]

    def _take(self, size: int) -> bytes:
        start, end = self.position, self.position + size
        if end > len(self.data):
            raise self.fail(start, f"{size} bytes wanted, {len(self.data) - start} left")
        self.position = end
        return self.data[start:end]

    def _uvarint(self) -> int:
        start = self.position
        try:
            value, self.position = read_uvarint(self.data, start)
        except IndexError:
            raise self.fail(start, "varint behind the end") from None
        except ValueError as error:
            raise self.fail(start, str(error)) from None
        if value > 0x7FFFFFFF:
            raise self.fail(start, f"length {value}")
        return value

    def _tags(self, layout: StructLayout, made: Struct) -> None:
        known = {field.tag: field for field in layout.tagged}
        self.path.append("tagged fields")
        for _ in range(self._uvarint()):
            tag, size = self._uvarint(), self._uvarint()
            start = self.position
            field = known.get(tag)
            if field is None:
                self._take(size)
                continue
            self.path.append(field.name)
            setattr(made, field.name, self.value(field))
            if self.position != start + size:
                raise self.fail(start, f"tag {tag} has {self.position - start} bytes and says {size}")
            self.path.pop()
        self.path.pop()
