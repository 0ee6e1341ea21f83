"""Names in a file: what is defined, what is meant, and what cannot be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from kafkastub.registry.errors import InvalidSchema, TooComplex
from kafkastub.registry.protobuf.model import LARGEST_TAG, SCALARS, Enum, Field, File, Message

DEEPEST: Final = 100
_KEYS: Final = SCALARS - {"double", "float", "bytes"}
_KNOWN: Final = ("google/protobuf/", "google/type/", "confluent/")
"""Files that everybody has."""
_KNOWN_PACKAGES: Final = ("google.protobuf.", "google.type.", "confluent.")
_RESERVED: Final = range(19_000, 20_000)

Definitions = dict[str, Message | Enum]


def definitions(file: File) -> Definitions:
    """Messages and enums by their full names. Raises InvalidSchema where two have the same."""
    found: Definitions = {}
    begin = f"{file.package}." if file.package else ""
    for message in file.messages:
        _define(found, begin, message, 0)
    for enum in file.enums:
        _put(found, begin + enum.name, enum)
    return found


def _define(found: Definitions, begin: str, message: Message, depth: int) -> None:
    if depth > DEEPEST:
        raise TooComplex(f"messages may lie {DEEPEST} deep in each other")
    _put(found, begin + message.name, message)
    inner = f"{begin}{message.name}."
    for one in (*message.messages, *(group for _, group in message.groups)):
        _define(found, inner, one, depth + 1)
    for enum in message.enums:
        _put(found, inner + enum.name, enum)


def _put(found: Definitions, name: str, what: Message | Enum) -> None:
    if name in found:
        raise InvalidSchema(f"{name} is already defined")
    found[name] = what


def resolve(file: File, own: Definitions, others: Mapping[str, Message | Enum], imports: frozenset[str]) -> None:
    """Give fields the full names of their types; `others` are those of other files, `imports` the files there are.

    Raises InvalidSchema.
    """
    for name in (*file.imports, *file.public_imports):
        if name not in imports and not name.startswith(_KNOWN):
            raise InvalidSchema(f'import "{name}" is none of the references')
    begin = f"{file.package}." if file.package else ""
    for message in file.messages:
        for place, one in _messages(message, begin):
            _check(one)
            for each in one.every_field():
                _resolve_field(each, place, own, others)
    for where, field_list in ((begin, fields) for _, fields in file.extends):
        for each in field_list:
            _resolve_field(each, where.removesuffix("."), own, others)
    for enum in (*file.enums, *(one for one in own.values() if isinstance(one, Enum))):
        _check_enum(enum, is_open=file.syntax == "proto3")


def _messages(message: Message, begin: str) -> Iterator[tuple[str, Message]]:
    place = begin + message.name
    yield place, message
    for one in (*message.messages, *(group for _, group in message.groups)):
        yield from _messages(one, f"{place}.")


def _resolve_field(field: Field, place: str, own: Definitions, others: Mapping[str, Message | Enum]) -> None:
    if field.is_map and field.key not in _KEYS:
        raise InvalidSchema(f"{field.name}: the keys of a map cannot be {field.key}")
    if field.named in SCALARS:
        return
    field.full_type = full_name(field.named, place, own, others)
    if field.full_type is None and not field.named.removeprefix(".").startswith(_KNOWN_PACKAGES):
        parts = field.named.removeprefix(".").split(".")
        if not any(f"{'.'.join((*scope, parts[0]))}." in one for scope in _scopes(place) for one in _KNOWN_PACKAGES):
            raise InvalidSchema(f"{field.name} in {place}: {field.named} is not defined")


def full_name(name: str, place: str, own: Definitions, others: Mapping[str, Message | Enum]) -> str | None:
    """What a name means in a message: the innermost that has it."""
    if name.startswith("."):
        full = name[1:]
        return full if full in own or full in others else None
    for scope in _scopes(place):
        full = ".".join((*scope, name))
        if full in own or full in others:
            return full
    return None


def _scopes(place: str) -> Iterator[list[str]]:
    parts = place.split(".") if place else []
    for end in range(len(parts), -1, -1):
        yield parts[:end]


def _check(message: Message) -> None:
    """Raises InvalidSchema for numbers and names that are there twice, or cannot be."""
    numbers: dict[int, str] = {}
    names: set[str] = set()
    for field in message.every_field():
        if not 1 <= field.number <= LARGEST_TAG or field.number in _RESERVED:
            raise InvalidSchema(f"{message.name}.{field.name}: {field.number} can be no number of a field")
        if field.number in numbers:
            other = numbers[field.number]
            raise InvalidSchema(f"{message.name}: {field.name} and {other} have the same number {field.number}")
        numbers[field.number] = field.name
        if field.name in names:
            raise InvalidSchema(f"{message.name} has two fields {field.name}")
        names.add(field.name)


def _check_enum(enum: Enum, *, is_open: bool) -> None:
    if not enum.values:
        raise InvalidSchema(f"enum {enum.name} has no values")
    if is_open and enum.values[0][1] != 0:
        raise InvalidSchema(f"enum {enum.name}: the first value has to be 0 in proto3")
    numbers = [number for _, number, _ in enum.values]
    if len(set(numbers)) < len(numbers) and ("allow_alias", "true") not in enum.options:
        raise InvalidSchema(f"enum {enum.name}: two values have the same number, and there is no allow_alias")
