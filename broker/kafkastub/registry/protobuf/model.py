"""What a `.proto` file has, as far as a registry keeps and compares it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

Options = list[tuple[str, str]]
"""Names with values, both as they are written."""

SCALARS: Final = frozenset(
    (
        *("double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64"),
        *("fixed32", "fixed64", "sfixed32", "sfixed64", "bool", "string", "bytes"),
    )
)
LARGEST_TAG: Final = 2**29 - 1


@dataclass
class Field:
    """A field.

    Attributes:
        label: "", "optional", "required" or "repeated".
        type: as it is written; of a map "map<K, V>".
        key, value: of a map, else empty.
        full_type: the full name of the message or enum, of a map of its values; None of a scalar, and of what no file
            here defines.
    """

    name: str
    number: int
    type: str
    label: str = ""
    options: Options = field(default_factory=list)
    key: str = ""
    value: str = ""
    full_type: str | None = None

    @property
    def is_map(self) -> bool:
        return bool(self.key)

    @property
    def named(self) -> str:
        """The type whose name is looked for."""
        return self.value if self.is_map else self.type


@dataclass
class OneOf:
    """Fields of which one is set."""

    name: str
    fields: list[Field] = field(default_factory=list)
    options: Options = field(default_factory=list)


@dataclass
class Enum:
    """An enum; each value is a name, a number and options."""

    name: str
    values: list[tuple[str, int, Options]] = field(default_factory=list)
    reserved: list[list[str]] = field(default_factory=list)
    options: Options = field(default_factory=list)


@dataclass
class Message:
    """A message. `groups` are fields of proto2 that are messages at once: each with what it is as a message."""

    name: str
    fields: list[Field] = field(default_factory=list)
    oneofs: list[OneOf] = field(default_factory=list)
    groups: list[tuple[Field, Message]] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    enums: list[Enum] = field(default_factory=list)
    reserved: list[list[str]] = field(default_factory=list)
    extensions: list[tuple[list[str], Options]] = field(default_factory=list)
    extends: list[tuple[str, list[Field]]] = field(default_factory=list)
    options: Options = field(default_factory=list)

    def every_field(self) -> list[Field]:
        """Those of its oneofs, and groups, too."""
        return [*self.fields, *(one for oneof in self.oneofs for one in oneof.fields), *(one for one, _ in self.groups)]


@dataclass
class Method:
    """A method of a service: types as they are written, whether they come in streams."""

    name: str
    input: str
    output: str
    input_stream: bool = False
    output_stream: bool = False
    options: Options = field(default_factory=list)


@dataclass
class Service:
    """A service."""

    name: str
    methods: list[Method] = field(default_factory=list)
    options: Options = field(default_factory=list)


@dataclass
class File:
    """A file. `syntax` is None where it says none, which is proto2; `edition` is what it says instead."""

    syntax: str | None = None
    edition: str | None = None
    package: str = ""
    imports: list[str] = field(default_factory=list)
    public_imports: list[str] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    enums: list[Enum] = field(default_factory=list)
    extends: list[tuple[str, list[Field]]] = field(default_factory=list)
    services: list[Service] = field(default_factory=list)
    options: Options = field(default_factory=list)
