"""What is different between two files (Confluent: the rules of its Protobuf compatibility)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from kafkastub.registry.errors import TooComplex
from kafkastub.registry.protobuf.model import Enum, Field, File, Message
from kafkastub.registry.protobuf.names import Definitions

COMPATIBLE: Final = frozenset(
    (
        *("MESSAGE_ADDED", "MESSAGE_MOVED", "ENUM_ADDED", "ENUM_REMOVED"),
        *("ENUM_CONST_ADDED", "ENUM_CONST_CHANGED", "ENUM_CONST_REMOVED"),
        *("FIELD_ADDED", "FIELD_REMOVED", "FIELD_NAME_CHANGED", "FIELD_STRING_OR_BYTES_LABEL_CHANGED"),
        *("ONEOF_ADDED", "ONEOF_REMOVED", "ONEOF_FIELD_ADDED", "ONEOF_FIELD_MOVED_TO_TOP_LEVEL"),
    )
)
"""What leaves a reader able to read what was written."""

_WIRE: Final = {
    **dict.fromkeys(("int32", "int64", "uint32", "uint64", "bool", "enum"), "number"),
    **dict.fromkeys(("sint32", "sint64"), "zigzag"),
    **dict.fromkeys(("string", "bytes"), "bytes"),
    **dict.fromkeys(("fixed32", "sfixed32"), "fixed32"),
    **dict.fromkeys(("fixed64", "sfixed64"), "fixed64"),
    "float": "float",
    "double": "double",
}
"""Types that can be read as each other."""
_MOST_STEPS: Final = 100_000


class Difference(NamedTuple):
    """What is different, and where."""

    kind: str
    path: str

    def told(self) -> str:
        return f"{{errorType:'{self.kind}', description:'the schema differs at {self.path}'}}"


class Side(NamedTuple):
    """A file with what it defines, and what the files that it imports define; packages by full names."""

    file: File
    own: Definitions
    others: Definitions
    packages: dict[str, str]

    def find(self, name: str | None) -> Message | Enum | None:
        return None if name is None else self.own.get(name) or self.others.get(name)

    def local(self, name: str) -> str:
        """A full name without its package."""
        package = self.packages.get(name, self.file.package)
        return name.removeprefix(f"{package}.") if package else name


def differences(original: Side, update: Side) -> list[Difference]:
    """All of them, those that do no harm too. Raises TooComplex."""
    comparison = _Comparison(original, update)
    if original.file.package != update.file.package:
        comparison.add("PACKAGE_CHANGED")
    try:
        comparison.types(original.file, update.file)
    except RecursionError:
        raise TooComplex("the schemas refer too deep to each other to be compared") from None
    return list(dict.fromkeys(comparison.found))


class _Comparison:
    def __init__(self, original: Side, update: Side) -> None:
        self._original = original
        self._update = update
        self.found: list[Difference] = []
        self._path: list[str] = []
        self._seen: set[int] = set()
        """Messages that are being compared, or were."""
        self._steps = 0

    def add(self, kind: str, *parts: str) -> None:
        self.found.append(Difference(kind, "#/" + "/".join((*self._path, *parts))))

    @contextmanager
    def _at(self, *parts: str) -> Iterator[None]:
        self._path += parts
        try:
            yield
        finally:
            del self._path[len(self._path) - len(parts) :]

    def types(self, original: File | Message, update: File | Message) -> None:
        """Messages and enums by their names."""
        before = {one.name: (at, one) for at, one in enumerate(original.messages)}
        after = {one.name: (at, one) for at, one in enumerate(update.messages)}
        for name in dict.fromkeys((*before, *after)):
            with self._at(name):
                if name not in after or name not in before:
                    self.add("MESSAGE_ADDED" if name in after else "MESSAGE_REMOVED")
                    continue
                self._messages(before[name][1], after[name][1])
                if before[name][0] != after[name][0]:
                    self.add("MESSAGE_MOVED")
        enums = {one.name: one for one in original.enums}
        coming = {one.name: one for one in update.enums}
        for name in dict.fromkeys((*enums, *coming)):
            with self._at(name):
                if name not in coming or name not in enums:
                    self.add("ENUM_ADDED" if name in coming else "ENUM_REMOVED")
                else:
                    self._enums(enums[name], coming[name])

    def _enums(self, original: Enum, update: Enum) -> None:
        before = {number: name for name, number, _ in original.values}
        after = {number: name for name, number, _ in update.values}
        for number in sorted({*before, *after}):
            if number not in after or number not in before:
                self.add(f"ENUM_CONST_{'ADDED' if number in after else 'REMOVED'}", str(number))
            elif before[number] != after[number]:
                self.add("ENUM_CONST_CHANGED", str(number))

    def _messages(self, original: Message, update: Message) -> None:
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise TooComplex(f"more than {_MOST_STEPS} messages would have to be compared")
        if id(original) in self._seen:
            return
        self._seen.add(id(original))
        before, of_before = _by_number(original)
        after, of_after = _by_number(update)
        self._oneofs(original, update, before, of_before)
        names = {one.name for one in update.oneofs}
        gone = {
            one.name
            for one in original.oneofs
            if one.name not in names and not any(each.number in after for each in one.fields)
        }
        for number in sorted({*before, *after}):
            old, new = before.get(number), after.get(number)
            oneof = of_before.get(number) if new is None else of_after.get(number)
            place = (str(number),) if oneof is None else (oneof, str(number))
            if new is None:
                assert old is not None
                self._field_removed(old, place, of_before.get(number), gone)
            elif old is None:
                what = "ONEOF_FIELD" if oneof else "REQUIRED_FIELD" if new.label == "required" else "FIELD"
                self.add(f"{what}_ADDED", *place)
            else:
                if number in of_before and number not in of_after:
                    self.add("ONEOF_FIELD_MOVED_TO_TOP_LEVEL", *place)
                with self._at(*place):
                    self._fields(old, new)
        self.types(original, update)

    def _field_removed(self, field: Field, place: tuple[str, ...], oneof: str | None, gone: set[str]) -> None:
        """`gone` are the oneofs of which nothing is left."""
        if oneof is None:
            self.add("REQUIRED_FIELD_REMOVED" if field.label == "required" else "FIELD_REMOVED", *place)
        elif oneof not in gone:
            self.add("ONEOF_FIELD_REMOVED", *place)

    def _oneofs(self, original: Message, update: Message, fields: dict[int, Field], of_before: dict[int, str]) -> None:
        """`fields` are those that were there by their numbers, `of_before` the oneofs that they were in."""
        for oneof in update.oneofs:
            numbers = [one.number for one in oneof.fields if one.number in fields]
            alone = [number for number in numbers if number not in of_before]
            origins = {of_before.get(number, number) for number in numbers}
            if len(origins) > 1:
                kind = "MULTIPLE_FIELDS_MOVED_TO_ONEOF" if len(alone) > 1 else "FIELD_MOVED_TO_EXISTING_ONEOF"
                self.add(kind, oneof.name)
        names, coming = {one.name for one in original.oneofs}, {one.name for one in update.oneofs}
        for name in sorted(names ^ coming):
            self.add("ONEOF_REMOVED" if name in names else "ONEOF_ADDED", name)

    def _fields(self, original: Field, update: Field) -> None:
        if original.name != update.name:
            self.add("FIELD_NAME_CHANGED")
        self._field_types(original, update)

    def _field_types(self, original: Field, update: Field) -> None:
        before, after = self._kind(original, self._original), self._kind(update, self._update)
        if before != after:
            self.add("FIELD_KIND_CHANGED")
        elif before == "map":
            self._scalars(original.key, update.key, "", "")
            self._field_types(_value_of(original), _value_of(update))
        elif before == "message":
            self._named(original, update)
        else:
            types = (self._scalar(original, self._original), self._scalar(update, self._update))
            self._scalars(*types, original.label, update.label)

    def _kind(self, field: Field, side: Side) -> str:
        if field.is_map:
            return "map"
        is_enum = isinstance(side.find(field.full_type), Enum)
        return "scalar" if field.type in _WIRE or is_enum else "message"

    def _scalar(self, field: Field, side: Side) -> str:
        return "enum" if isinstance(side.find(field.full_type), Enum) else field.type

    def _scalars(self, original: str, update: str, label: str, new_label: str) -> None:
        before, after = _WIRE[original], _WIRE[update]
        if before != after:
            self.add("FIELD_SCALAR_KIND_CHANGED")
        elif label and new_label and label != new_label:
            self.add(f"FIELD_{'STRING_OR_BYTES' if before == 'bytes' else 'NUMERIC'}_LABEL_CHANGED")

    def _named(self, original: Field, update: Field) -> None:
        before, after = self._original.find(original.full_type), self._update.find(update.full_type)
        if before is None or after is None or original.full_type is None or update.full_type is None:
            if original.type.removeprefix(".") != update.type.removeprefix("."):
                self.add("FIELD_NAMED_TYPE_CHANGED")
        elif self._original.local(original.full_type) != self._update.local(update.full_type):
            self.add("FIELD_NAMED_TYPE_CHANGED")
        elif isinstance(before, Message) and isinstance(after, Message) and not self._both_own(original, update):
            already = len(self.found)
            self._messages(before, after)
            if any(one.kind not in COMPATIBLE for one in self.found[already:]):
                self.add("FIELD_NAMED_TYPE_CHANGED")

    def _both_own(self, original: Field, update: Field) -> bool:
        """Whether both are compared in any case, as types of the files themselves."""
        return original.full_type in self._original.own and update.full_type in self._update.own


def _by_number(message: Message) -> tuple[dict[int, Field], dict[int, str]]:
    """Fields by their numbers, and the oneofs that they are in."""
    fields = {one.number: one for one in message.fields}
    oneofs: dict[int, str] = {}
    for oneof in message.oneofs:
        for one in oneof.fields:
            fields[one.number] = one
            oneofs[one.number] = oneof.name
    return fields, oneofs


def _value_of(field: Field) -> Field:
    """The values of a map, as a field."""
    return Field(field.name, field.number, field.value, full_type=field.full_type)
