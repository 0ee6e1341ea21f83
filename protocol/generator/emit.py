"""Python source for one message: a version-neutral class a struct, with the table that the codec compiles from."""

from __future__ import annotations

import keyword

from definitions import FieldDef, Message, StructDef

HEADER = '"""{title}. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""\n'

PYTHON_TYPES = {
    "bool": "bool", "int8": "int", "int16": "int", "uint16": "int", "int32": "int", "uint32": "int", "int64": "int",
    "float64": "float", "string": "str", "uuid": "bytes", "bytes": "bytes", "records": "Records",
}  # fmt: skip

ZEROS = {"bool": "False", "float64": "0.0", "string": '""', "uuid": "ZERO_UUID", "bytes": 'b""', "records": "None"}


def attribute(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) else name


def emit_module(message: Message) -> str:
    lines = [HEADER.format(title=_title(message))]
    lines.append("from __future__ import annotations\n")
    lines.append("from collections.abc import Sequence\n")
    lines.append("from kafkawire.schema import ZERO_UUID, Message, Records, Struct\n")
    body: list[str] = []
    for struct in message.structs:
        body.extend(_class(message, struct))
    text = "\n".join(body)
    for name in ("Sequence", "ZERO_UUID", "Records", "Struct"):
        if name not in text.replace("class Struct", ""):
            lines = [_without(line, name) for line in lines]
    return "\n".join(line for line in lines if line) + "\n" + text + "\n"


def _without(line: str, name: str) -> str:
    if line.startswith("from kafkawire.schema"):
        names = [n for n in line.strip().split(" import ")[1].split(", ") if n != name]
        return f"from kafkawire.schema import {', '.join(names)}\n"
    if line.startswith("from collections.abc") and name == "Sequence":
        return ""
    return line


def _title(message: Message) -> str:
    key = f" (key {message.api_key})" if message.api_key is not None else ""
    versions = f"version {message.valid.first}"
    if message.valid.last > message.valid.first:
        versions = f"versions {message.valid.first}-{message.valid.last}"
    return f"{message.name}{key}, {versions}"


def _class(message: Message, struct: StructDef) -> list[str]:
    top = struct.name == message.name
    lines = [""]
    for f in filter(_nullable_struct_default, struct.fields):
        lines += [f"{_default(f)} = {f.type}()", f'"""Stands for the default of {struct.name}.{f.name}."""', ""]
    lines.append(f"class {struct.name}({'Message' if top else 'Struct'}):")
    slots = ", ".join(f'"{attribute(f.name)}"' for f in struct.fields)
    lines.append(f"    __slots__ = ({slots}{',' if len(struct.fields) == 1 else ''})")
    if top:
        if message.api_key is not None:
            lines.append(f"    API_KEY = {message.api_key}")
        lines.append(f"    VERSIONS = ({message.valid.first}, {message.valid.last})")
        if message.flexible:
            lines.append(f"    FLEXIBLE = ({message.flexible.first}, {message.flexible.last})")
    lines.append("    FIELDS = (")
    lines.extend(f"        {_table_row(f)}," for f in struct.fields)
    lines.append("    )")
    lines.append("")
    if not struct.fields:
        return lines[:-1]
    lines.append("    def __init__(")
    lines.append("        self,")
    for f in struct.fields:
        lines.append(f"        {attribute(f.name)}: {_parameter_type(message, f)} = {_default(f)},")
    lines.append("    ) -> None:")
    for f in struct.fields:
        name = attribute(f.name)
        if _struct_default(f):
            lines.append(f"        self.{name} = {f.type}() if {name} is None else {name}")
        elif _nullable_struct_default(f):
            default = _default(f)
            lines.append(f"        self.{name} = {f.type}() if {name} is {default} else {name}")
        else:
            lines.append(f"        self.{name} = {name}")
    return [*lines, ""] if not top else lines


def _table_row(f: FieldDef) -> str:
    nullable = (f.nullable.first, f.nullable.last) if f.nullable else None
    tagged = (f.tagged.first, f.tagged.last) if f.tagged else None
    versions = (f.versions.first, f.versions.last)
    tail = ", True" if f.flexible_never else ""
    return f'("{attribute(f.name)}", "{f.type}", {versions}, {nullable}, {f.tag if tagged else None}, {tagged}{tail})'


def _struct_default(f: FieldDef) -> bool:
    return f.type not in PYTHON_TYPES and not f.type.startswith("[]") and f.nullable is None


def _nullable_struct_default(f: FieldDef) -> bool:
    """A structure that may be null, but by default is not (a `default` of JSON's null counts as none given)."""
    return f.type not in PYTHON_TYPES and not f.type.startswith("[]") and f.nullable is not None and f.default is None


def _parameter_type(message: Message, f: FieldDef) -> str:
    if f.type.startswith("[]"):
        inner = f.type[2:]
        base = f"Sequence[{PYTHON_TYPES.get(inner, inner)}]"
    else:
        base = PYTHON_TYPES.get(f.type, f.type)
    if f.type == "records" and message.kind == "request":
        base = "bytes"
    if f.nullable or _struct_default(f) or f.type == "records":
        base += " | None"
    return base


def _default(f: FieldDef) -> str:
    raw = f.default
    if raw == "null" or _struct_default(f):
        return "None"
    if f.type.startswith("[]"):
        return "()"
    if _nullable_struct_default(f):
        return f"_{f.name.upper()}"
    if raw is None or raw == "":
        return ZEROS.get(f.type, "0")
    if f.type == "bool":
        return "True" if str(raw).lower() == "true" else "False"
    if f.type == "string":
        return f'"{raw}"'
    if f.type == "float64":
        return repr(float(raw))
    if f.type == "uuid":
        return "ZERO_UUID"
    return str(int(str(raw), 0))


def emit_index(messages: list[Message]) -> str:
    lines = [HEADER.format(title="Where the request and response of each API are"), ""]
    lines.append("REQUESTS: dict[int, tuple[str, str, tuple[int, int]]] = {")
    for kind in ("request", "response"):
        if kind == "response":
            lines.append("}")
            lines.append('"""API key -> (module, class, versions)."""\n')
            lines.append("RESPONSES: dict[int, tuple[str, str, tuple[int, int]]] = {")
        chosen = sorted((m for m in messages if m.kind == kind), key=lambda m: m.api_key or 0)
        for m in chosen:
            versions = (m.valid.first, m.valid.last)
            lines.append(f'    {m.api_key}: ("kafkawire.messages.{m.module}", "{m.name}", {versions}),')
    lines.append("}")
    lines.append('"""API key -> (module, class, versions)."""\n')
    lines.append("OTHERS: tuple[tuple[str, str], ...] = (")
    for m in sorted((m for m in messages if m.kind not in ("request", "response")), key=lambda m: m.name):
        lines.append(f'    ("kafkawire.messages.{m.module}", "{m.name}"),')
    lines.append(")")
    lines.append('"""Headers, data messages and coordinator records: (module, class)."""')
    return "\n".join(lines) + "\n"
