"""What one version of a message looks like on the wire: the `FIELDS` tables, resolved for that version.

Source: the message format of KIP-482 (flexible versions, tagged fields) and Kafka's `MessageDataGenerator`.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from kafkawire.schema import FieldRow, Message, Struct

FIXED: Final = {
    "bool": ("?", 1),
    "int8": ("b", 1),
    "int16": ("h", 2),
    "uint16": ("H", 2),
    "int32": ("i", 4),
    "uint32": ("I", 4),
    "int64": ("q", 8),
    "float64": ("d", 8),
    "uuid": ("16s", 16),
}
"""Type -> (struct format, size in bytes)."""

LONGEST_STRING: Final = 0x7FFF
"""Bytes in a string, in any version: compact lengths could say more, and Kafka refuses it."""
MOST_ELEMENTS: Final = 1_000_000
"""Of an array: Kafka 4.4 reads no more of them."""
MOST_TAGS: Final = 10_000
"""Tagged fields of a struct: the same."""


@dataclass(frozen=True)
class FieldLayout:
    """One field in one version."""

    name: str
    kind: str
    """A key of FIXED, or string, bytes, records, struct: of the elements, where `array`."""
    array: bool
    nullable: bool
    compact: bool
    """Lengths are unsigned varints of n + 1 instead of signed 16 or 32 bit integers of n."""
    tag: int | None
    default: Any
    struct: StructLayout | None

    @property
    def fixed(self) -> bool:
        return not self.array and self.kind in FIXED

    @cached_property
    def min_size(self) -> int:
        """The least number of bytes that a value of this field takes."""
        if self.array:
            return 1 if self.compact else 4
        return self.min_item_size

    @cached_property
    def min_item_size(self) -> int:
        if self.kind in FIXED:
            return FIXED[self.kind][1]
        if self.kind == "struct":
            assert self.struct is not None
            return 1 if self.nullable and not self.array else self.struct.min_size
        if self.compact:
            return 1
        return 2 if self.kind == "string" else 4


@dataclass(frozen=True)
class StructLayout:
    """One struct in one version; `fields` in wire order without the tagged ones."""

    cls: type[Struct]
    flexible: bool
    fields: tuple[FieldLayout, ...]
    tagged: tuple[FieldLayout, ...]
    """By ascending tag."""
    foreign_tags: frozenset[int] = frozenset()
    """Tags that other versions have: refused, where a tag that no version has is skipped."""

    @cached_property
    def min_size(self) -> int:
        return sum(field.min_size for field in self.fields) + self.flexible

    @property
    def fixed(self) -> bool:
        """Every value has the same size, the empty tag section included."""
        return not self.tagged and all(field.fixed for field in self.fields)


def layout_of(cls: type[Message], version: int) -> StructLayout:
    """The layout of a message class at `version`. Raises ValueError for a version that it does not have."""
    first, last = cls.VERSIONS
    if not first <= version <= last:
        raise ValueError(f"{cls.__name__} has versions {first}-{last}, not {version}")
    flexible = cls.FLEXIBLE is not None and cls.FLEXIBLE[0] <= version <= cls.FLEXIBLE[1]
    return _struct_layout(cls, version, flexible)


def _struct_layout(cls: type[Struct], version: int, flexible: bool) -> StructLayout:
    defaults = cls.__init__.__defaults__ or ()
    untagged: list[FieldLayout] = []
    tagged: list[FieldLayout] = []
    foreign = {row[4] for row in cls.FIELDS if row[4] is not None and not _within(row[5], version)}
    for row, default in zip(cls.FIELDS, defaults, strict=True):
        if not _within(row[2], version):
            continue
        is_tagged = _within(row[5], version)
        layout = _field_layout(cls, row, default, version, flexible, is_tagged)
        (tagged if is_tagged else untagged).append(layout)
    tagged.sort(key=lambda field: field.tag or 0)
    return StructLayout(cls, flexible, tuple(untagged), tuple(tagged), frozenset(foreign))


def _field_layout(
    cls: type[Struct], row: FieldRow, default: Any, version: int, flexible: bool, is_tagged: bool
) -> FieldLayout:
    name, kind, nullable = row[0], row[1], row[3]
    array = kind.startswith("[]")
    kind = kind.removeprefix("[]")
    struct = None
    if kind[0].isupper():
        struct = _struct_layout(getattr(sys.modules[cls.__module__], kind), version, flexible)
        kind = "struct"
        if not array and nullable is None:
            default = struct.cls()
    never_flexible = len(row) > 6 and row[6]
    return FieldLayout(
        name=name,
        kind=kind,
        array=array,
        nullable=_within(nullable, version),
        compact=flexible and not never_flexible,
        tag=row[4] if is_tagged else None,
        default=default,
        struct=struct,
    )


def _within(versions: tuple[int, int] | None, version: int) -> bool:
    return versions is not None and versions[0] <= version <= versions[1]
