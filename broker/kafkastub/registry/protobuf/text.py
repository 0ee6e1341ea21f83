"""A file out of its text, by the parser of proto-schema-parser."""

from __future__ import annotations

from typing import Any, NoReturn

from antlr4.error.ErrorListener import ErrorListener
from proto_schema_parser import ast
from proto_schema_parser.parser import Parser

from kafkastub.registry.errors import InvalidSchema
from kafkastub.registry.protobuf.model import (
    Enum,
    Field,
    File,
    Message,
    Method,
    OneOf,
    Options,
    Service,
)


def read(text: str) -> File:
    """Raises InvalidSchema, RecursionError."""
    parsed = Parser(setup_lexer=_refusing, setup_parser=_refusing).parse(text)
    syntax = None if parsed.syntax is None else parsed.syntax.strip("\"'")
    if syntax not in (None, "proto2", "proto3"):
        raise InvalidSchema(f'syntax "{syntax}" is none of proto2 and proto3')
    edition = None if parsed.edition is None else parsed.edition.strip("\"'")
    file = File(syntax, edition)
    for one in parsed.file_elements:
        if isinstance(one, ast.Package):
            file.package = one.name
        elif isinstance(one, ast.Import):
            (file.public_imports if one.public else file.imports).append(one.name)
        elif isinstance(one, ast.Option):
            file.options.append(_option(one))
        elif isinstance(one, ast.Message):
            file.messages.append(_message(one.name, one.elements))
        elif isinstance(one, ast.Enum):
            file.enums.append(_enum(one))
        elif isinstance(one, ast.Extension):
            file.extends.append(_extend(one))
        elif isinstance(one, ast.Service):
            file.services.append(_service(one))
    return file


class _Refusing(ErrorListener):  # type: ignore[misc]
    """The parser goes on where a text is wrong, and prints it."""

    def syntaxError(  # noqa: N802
        self, recognizer: Any, symbol: Any, line: int, column: int, message: str, error: Any
    ) -> NoReturn:
        raise InvalidSchema(f"line {line}, column {column + 1}: {message[:200]}")


def _refusing(part: Any) -> Any:
    part.removeErrorListeners()
    part.addErrorListener(_Refusing())
    return part


def _message(name: str, elements: Any) -> Message:
    found = Message(name)
    for one in elements:
        if isinstance(one, ast.Field):
            found.fields.append(_field(one))
        elif isinstance(one, ast.MapField):
            found.fields.append(_map(one))
        elif isinstance(one, ast.OneOf):
            found.oneofs.append(_oneof(one, found))
        elif isinstance(one, ast.Group):
            found.groups.append(_group(one))
        elif isinstance(one, ast.Message):
            found.messages.append(_message(one.name, one.elements))
        elif isinstance(one, ast.Enum):
            found.enums.append(_enum(one))
        elif isinstance(one, ast.Reserved):
            found.reserved.append(_reserved(one))
        elif isinstance(one, ast.ExtensionRange):
            found.extensions.append(([*one.ranges], _options(one.options)))
        elif isinstance(one, ast.Extension):
            found.extends.append(_extend(one))
        elif isinstance(one, ast.Option):
            found.options.append(_option(one))
    return found


def _field(one: ast.Field) -> Field:
    label = "" if one.cardinality is None else one.cardinality.value.lower()
    return Field(one.name, one.number, one.type, label, _options(one.options))


def _map(one: ast.MapField) -> Field:
    kind = f"map<{one.key_type}, {one.value_type}>"
    return Field(one.name, one.number, kind, "", _options(one.options), one.key_type, one.value_type)


def _group(one: ast.Group) -> tuple[Field, Message]:
    label = "" if one.cardinality is None else one.cardinality.value.lower()
    return Field(one.name.lower(), one.number, one.name, label), _message(one.name, one.elements)


def _oneof(one: ast.OneOf, message: Message) -> OneOf:
    found = OneOf(one.name)
    for each in one.elements:
        if isinstance(each, ast.Field):
            found.fields.append(_field(each))
        elif isinstance(each, ast.Option):
            found.options.append(_option(each))
        elif isinstance(each, ast.Group):
            message.groups.append(_group(each))
    return found


def _enum(one: ast.Enum) -> Enum:
    found = Enum(one.name)
    for each in one.elements:
        if isinstance(each, ast.EnumValue):
            found.values.append((each.name, each.number, _options(each.options)))
        elif isinstance(each, ast.EnumReserved):
            found.reserved.append(_reserved(each))
        elif isinstance(each, ast.Option):
            found.options.append(_option(each))
    return found


def _reserved(one: ast.Reserved | ast.EnumReserved) -> list[str]:
    return [*one.ranges, *(f'"{name.strip(chr(34))}"' for name in one.names)]


def _extend(one: ast.Extension) -> tuple[str, list[Field]]:
    return one.typeName, [_field(each) for each in one.elements if isinstance(each, ast.Field)]


def _service(one: ast.Service) -> Service:
    found = Service(one.name)
    for each in one.elements:
        if isinstance(each, ast.Option):
            found.options.append(_option(each))
        elif isinstance(each, ast.Method):
            options = [_option(part) for part in each.elements if isinstance(part, ast.Option)]
            types = each.input_type, each.output_type
            found.methods.append(
                Method(each.name, types[0].type, types[1].type, types[0].stream, types[1].stream, options)
            )
    return found


def _options(given: list[ast.Option]) -> Options:
    return [_option(one) for one in given]


def _option(one: ast.Option) -> tuple[str, str]:
    return one.name, literal(one.value)


def literal(value: Any) -> str:
    """A value of an option, as it is written."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, ast.Identifier):
        return value.name
    if isinstance(value, ast.MessageLiteral):
        fields = [one for one in value.elements if isinstance(one, ast.MessageLiteralField)]
        lines = ",\n".join(f"{one.name}: {literal(one.value)}" for one in fields)
        return "{\n" + indented(lines) + "\n}" if fields else "{}"
    if isinstance(value, list):
        return "[\n" + indented(",\n".join(map(literal, value))) + "\n]" if value else "[]"
    return str(value)


def quoted(text: str) -> str:
    """Between quotation marks, which are escaped in it as far as they are not."""
    escaped = text.replace('\\"', '"').replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def indented(text: str) -> str:
    """Each line two spaces further."""
    return "\n".join(f"  {line}" for line in text.split("\n"))
