"""Whether a reader can read what was written (Apache Avro for Java: SchemaCompatibility)."""

from __future__ import annotations

from typing import Final, NamedTuple

from kafkastub.registry.avro.model import MISSING, Enum, Field, Fixed, Many, Named, Node, Record, Union
from kafkastub.registry.errors import TooComplex

_PROMOTED: Final = {
    "long": ("int",),
    "float": ("int", "long"),
    "double": ("int", "long", "float"),
    "bytes": ("string",),
    "string": ("bytes",),
}
_MOST_STEPS: Final = 200_000


class Incompatibility(NamedTuple):
    """Why it cannot: Avro's name for it, where in the reader's schema, and what."""

    kind: str
    path: str
    what: str

    def told(self) -> str:
        return (
            f"{{errorType:'{self.kind}', description:'{self.what} (path {self.path})', additionalInfo:'{self.what}'}}"
        )


class Ambiguous(Exception):
    """A field of the reader may be several of the writer's: Avro does not decide that."""


def incompatibilities(reader: Node, writer: Node) -> list[Incompatibility]:
    """All that is in the way; empty where there is nothing. Raises TooComplex, Ambiguous."""
    try:
        return list(dict.fromkeys(_Comparison().compare(reader, writer, ())))
    except RecursionError:
        raise TooComplex("the schemas refer too deep to each other to be compared") from None


class _Comparison:
    def __init__(self) -> None:
        self._known: dict[tuple[int, int], list[Incompatibility]] = {}
        self._steps = 0

    def compare(self, reader: Node, writer: Node, path: tuple[str, ...]) -> list[Incompatibility]:
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise TooComplex(f"more than {_MOST_STEPS} pairs of schemas would have to be compared")
        pair = id(reader), id(writer)
        found = self._known.get(pair)
        if found is None:
            self._known[pair] = []  # meanwhile, where it has itself in it
            found = self._known[pair] = self._of(reader, writer, path)
        return found

    def _of(self, reader: Node, writer: Node, path: tuple[str, ...]) -> list[Incompatibility]:
        if reader.type == writer.type:
            return self._same_type(reader, writer, path)
        if isinstance(writer, Union):
            branches = enumerate(writer.branches)
            return [each for at, one in branches for each in self.compare(reader, one, (*path, str(at)))]
        if isinstance(reader, Union):
            if any(not self.compare(one, writer, path) for one in reader.branches):
                return []
            what = f"reader union lacking writer type: {writer.type.upper()}"
            return [Incompatibility("MISSING_UNION_BRANCH", _pointer(path), what)]
        if writer.type in _PROMOTED.get(reader.type, ()):
            return []
        what = f"reader type: {reader.type.upper()} not compatible with writer type: {writer.type.upper()}"
        return [Incompatibility("TYPE_MISMATCH", _pointer(path), what)]

    def _same_type(self, reader: Node, writer: Node, path: tuple[str, ...]) -> list[Incompatibility]:
        if isinstance(reader, Many) and isinstance(writer, Many):
            return self.compare(reader.of, writer.of, (*path, "items" if reader.type == "array" else "values"))
        if isinstance(reader, Named) and isinstance(writer, Named):
            return [*_names(reader, writer, path), *self._named(reader, writer, path)]
        found = []
        if isinstance(writer, Union):
            for at, one in enumerate(writer.branches):
                if self.compare(reader, one, (*path, str(at))):
                    what = f"reader union lacking writer type: {one.type.upper()}"
                    found.append(Incompatibility("MISSING_UNION_BRANCH", _pointer((*path, str(at))), what))
        return found

    def _named(self, reader: Named, writer: Named, path: tuple[str, ...]) -> list[Incompatibility]:
        if isinstance(reader, Record) and isinstance(writer, Record):
            return self._fields(reader, writer, path)
        if isinstance(reader, Enum) and isinstance(writer, Enum):
            missing = [one for one in writer.symbols if one not in reader.symbols]
            if missing and reader.default is None:
                what = f"[{', '.join(missing)}]"
                return [Incompatibility("MISSING_ENUM_SYMBOLS", _pointer((*path, "symbols")), what)]
        if isinstance(reader, Fixed) and isinstance(writer, Fixed) and reader.size != writer.size:
            what = f"expected: {writer.size}, found: {reader.size}"
            return [Incompatibility("FIXED_SIZE_MISMATCH", _pointer((*path, "size")), what)]
        return []

    def _fields(self, reader: Record, writer: Record, path: tuple[str, ...]) -> list[Incompatibility]:
        there = {one.name: one for one in writer.fields}
        found: list[Incompatibility] = []
        for at, field in enumerate(reader.fields):
            here = (*path, "fields", str(at))
            its = _writers_field(field, there)
            if its is not None:
                found += self.compare(field.schema, its.schema, (*here, "type"))
            elif field.default is MISSING:
                if isinstance(field.schema, Enum) and field.schema.default is not None:
                    found += self.compare(field.schema, writer, (*here, "type"))
                else:
                    found.append(Incompatibility("READER_FIELD_MISSING_DEFAULT_VALUE", _pointer(here), field.name))
        return found


def _writers_field(field: Field, there: dict[str, Field]) -> Field | None:
    """The field of that name, or of one of its aliases. Raises Ambiguous where there are several."""
    found = [there[name] for name in (field.name, *field.aliases) if name in there]
    if len(found) > 1:
        raise Ambiguous(f"Reader record field {field.name} matches multiple fields in writer record schema")
    return found[0] if found else None


def _names(reader: Named, writer: Named, path: tuple[str, ...]) -> list[Incompatibility]:
    if reader.name == writer.name or writer.full_name in reader.aliases:
        return []
    return [Incompatibility("NAME_MISMATCH", _pointer((*path, "name")), f"expected: {writer.full_name}")]


def _pointer(path: tuple[str, ...]) -> str:
    return "/" + "/".join(path)
