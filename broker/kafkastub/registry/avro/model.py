"""Avro's schemas (the specification of Avro 1.12)."""

from __future__ import annotations

from typing import Any, Final

PRIMITIVES: Final = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
MISSING: Final = object()
"""Where a field has no default: null is one."""


class Node:
    """A schema. `props` are the attributes that Avro knows nothing of, logical types among them."""

    __slots__ = ("props", "type")

    def __init__(self, kind: str) -> None:
        self.type = kind
        self.props: dict[str, Any] = {}


class Named(Node):
    """A schema with a name: a record, an enum, a fixed.

    Attributes:
        namespace: empty where it is in none.
        aliases: full names.
    """

    __slots__ = ("aliases", "doc", "name", "namespace")

    def __init__(self, kind: str, name: str, namespace: str) -> None:
        super().__init__(kind)
        self.name = name
        self.namespace = namespace
        self.doc: str | None = None
        self.aliases: list[str] = []

    @property
    def full_name(self) -> str:
        return f"{self.namespace}.{self.name}" if self.namespace else self.name


class Field:
    """A field of a record."""

    __slots__ = ("aliases", "default", "doc", "name", "order", "props", "schema")

    def __init__(self, name: str, schema: Node) -> None:
        self.name = name
        self.schema = schema
        self.doc: str | None = None
        self.default: Any = MISSING
        self.order = "ascending"
        self.aliases: list[str] = []
        self.props: dict[str, Any] = {}


class Record(Named):
    """A record; `is_error` of those that a protocol throws."""

    __slots__ = ("fields", "is_error")

    def __init__(self, name: str, namespace: str, is_error: bool) -> None:
        super().__init__("record", name, namespace)
        self.fields: list[Field] = []
        self.is_error = is_error


class Enum(Named):
    """An enum; `default` is what a reader takes a symbol for that it does not know."""

    __slots__ = ("default", "symbols")

    def __init__(self, name: str, namespace: str) -> None:
        super().__init__("enum", name, namespace)
        self.symbols: list[str] = []
        self.default: str | None = None


class Fixed(Named):
    """So many bytes."""

    __slots__ = ("size",)

    def __init__(self, name: str, namespace: str, size: int) -> None:
        super().__init__("fixed", name, namespace)
        self.size = size


class Many(Node):
    """An array or a map of values of one schema."""

    __slots__ = ("of",)

    def __init__(self, kind: str, of: Node) -> None:
        super().__init__(kind)
        self.of = of


class Union(Node):
    """One of several schemas."""

    __slots__ = ("branches",)

    def __init__(self, branches: list[Node]) -> None:
        super().__init__("union")
        self.branches = branches


class Later(Node):
    """A name that stands before what it names. None is left in a schema that was parsed.

    Attributes:
        name: the full name; `plain` is meant where there is none of that.
    """

    __slots__ = ("name", "plain")

    def __init__(self, name: str, plain: str) -> None:
        super().__init__("later")
        self.name = name
        self.plain = plain
