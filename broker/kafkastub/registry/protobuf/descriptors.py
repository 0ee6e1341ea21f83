"""Files as descriptors (`google.protobuf.FileDescriptorProto`), in which some clients send and want them: base64."""

from __future__ import annotations

import base64
import binascii
from typing import Any, Final

from google.protobuf import descriptor_pb2
from google.protobuf.message import DecodeError
from google.protobuf.message import Message as AnyMessage

from kafkastub.registry.errors import InvalidSchema
from kafkastub.registry.protobuf.model import (
    LARGEST_TAG,
    SCALARS,
    Enum,
    Field,
    File,
    Message,
    Method,
    OneOf,
    Options,
    Service,
)
from kafkastub.registry.protobuf.names import Definitions, full_name

_FIELD: Final = descriptor_pb2.FieldDescriptorProto
_TYPES: Final = {number: name.removeprefix("TYPE_").lower() for name, number in _FIELD.Type.items()}
_NUMBERS: Final = {name: number for number, name in _TYPES.items()}
_LABELS: Final = {
    "optional": _FIELD.LABEL_OPTIONAL,
    "required": _FIELD.LABEL_REQUIRED,
    "repeated": _FIELD.LABEL_REPEATED,
}
_LAST_OF_ENUM: Final = 2**31 - 1


def read(text: str) -> File:
    """Raises InvalidSchema."""
    try:
        found = descriptor_pb2.FileDescriptorProto.FromString(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError, DecodeError):
        raise InvalidSchema("it is neither the text of a .proto file nor a descriptor in base64") from None
    syntax = found.syntax or "proto2"
    edition = descriptor_pb2.Edition.Name(found.edition).removeprefix("EDITION_") if syntax == "editions" else None
    public = {found.dependency[at] for at in found.public_dependency}
    file = File(None if edition else syntax, edition, found.package)
    file.imports = [one for one in found.dependency if one not in public]
    file.public_imports = [one for one in found.dependency if one in public]
    file.options = _options(found.options)
    proto3 = syntax == "proto3"
    file.messages = [_message(one, proto3) for one in found.message_type]
    file.enums = [_enum(one) for one in found.enum_type]
    file.extends = _extends(found.extension, proto3)
    file.services = [_service(one) for one in found.service]
    return file


def _message(given: Any, proto3: bool) -> Message:
    message = Message(given.name)
    maps = {one.name: one for one in given.nested_type if one.options.map_entry}
    made_up = {one.oneof_index for one in given.field if one.proto3_optional}
    oneofs = {
        at: OneOf(one.name, options=_options(one.options))
        for at, one in enumerate(given.oneof_decl)
        if at not in made_up
    }
    for one in given.field:
        field = _field(one, maps, proto3)
        if one.HasField("oneof_index") and one.oneof_index in oneofs:
            oneofs[one.oneof_index].fields.append(Field(field.name, field.number, field.type, "", field.options))
        else:
            message.fields.append(field)
    message.oneofs = [*oneofs.values()]
    message.messages = [_message(one, proto3) for one in given.nested_type if not one.options.map_entry]
    message.enums = [_enum(one) for one in given.enum_type]
    ranges = [_range(one.start, one.end - 1, LARGEST_TAG) for one in given.reserved_range]
    names = [f'"{one}"' for one in given.reserved_name]
    message.reserved = [each for each in (ranges, names) if each]
    message.extensions = [([_range(one.start, one.end - 1, LARGEST_TAG)], []) for one in given.extension_range]
    message.extends = _extends(given.extension, proto3)
    message.options = _options(given.options)
    return message


def _field(given: Any, maps: dict[str, Any], proto3: bool) -> Field:
    entry = maps.get(given.type_name.rpartition(".")[2])
    options = _options(given.options)
    if given.HasField("default_value"):
        kind = _TYPES[given.type]
        default = f'"{given.default_value}"' if kind in ("string", "bytes") else given.default_value
        options.append(("default", default))
    if given.HasField("json_name"):
        options.append(("json_name", f'"{given.json_name}"'))
    if entry is not None:
        key, value = (_type(one) for one in entry.field)
        return Field(given.name, given.number, f"map<{key}, {value}>", "", options, key, value)
    label = {number: name for name, number in _LABELS.items()}[given.label]
    if label == "optional" and proto3 and not given.proto3_optional:
        label = ""
    return Field(given.name, given.number, _type(given), label, options)


def _type(given: Any) -> str:
    return str(given.type_name or _TYPES[given.type])


def _enum(given: Any) -> Enum:
    values = [(one.name, one.number, _options(one.options)) for one in given.value]
    ranges = [_range(one.start, one.end, _LAST_OF_ENUM) for one in given.reserved_range]
    names = [f'"{one}"' for one in given.reserved_name]
    return Enum(given.name, values, [each for each in (ranges, names) if each], _options(given.options))


def _range(start: int, last: int, most: int) -> str:
    return str(start) if start == last else f"{start} to {'max' if last >= most else last}"


def _extends(given: Any, proto3: bool) -> list[tuple[str, list[Field]]]:
    found: dict[str, list[Field]] = {}
    for one in given:
        found.setdefault(one.extendee, []).append(_field(one, {}, proto3))
    return list(found.items())


def _service(given: Any) -> Service:
    methods = [
        Method(
            one.name, one.input_type, one.output_type, one.client_streaming, one.server_streaming, _options(one.options)
        )
        for one in given.method
    ]
    return Service(given.name, methods, _options(given.options))


def _options(given: AnyMessage) -> Options:
    """Those that descriptors know by themselves; what somebody has added cannot be read without its file."""
    found: Options = []
    for field, value in given.ListFields():
        if field.name in ("uninterpreted_option", "map_entry", "features") or field.is_extension:
            continue
        if field.enum_type is not None:
            found.append((field.name, field.enum_type.values_by_number[value].name))
        elif isinstance(value, bool):
            found.append((field.name, "true" if value else "false"))
        elif isinstance(value, str):
            found.append((field.name, f'"{value}"'))
        elif isinstance(value, int | float):
            found.append((field.name, str(value)))
    return found


# -- as a descriptor -------------------------------------------------------------------------------------------------


def serialized(file: File, own: Definitions, others: Definitions) -> str:
    """The descriptor of a file, base64; options that descriptors do not know by themselves are left out."""
    found = descriptor_pb2.FileDescriptorProto(package=file.package, syntax=file.syntax or "")
    if file.edition:
        found.edition = descriptor_pb2.Edition.Value(f"EDITION_{file.edition}")
    found.dependency.extend((*file.imports, *file.public_imports))
    found.public_dependency.extend(range(len(file.imports), len(file.imports) + len(file.public_imports)))
    _set_options(found.options, file.options)
    writer = _Writer(own, others, is_proto3=file.syntax == "proto3")
    for message in file.messages:
        writer.message(found.message_type.add(), message, file.package)
    for enum in file.enums:
        writer.enum(found.enum_type.add(), enum)
    for name, fields in file.extends:
        writer.extend(found.extension, name, fields, file.package)
    for service in file.services:
        its = found.service.add(name=service.name)
        _set_options(its.options, service.options)
        for one in service.methods:
            names = (writer.named(each, file.package) for each in (one.input, one.output))
            method = its.method.add(name=one.name, input_type=next(names), output_type=next(names))
            method.client_streaming, method.server_streaming = one.input_stream, one.output_stream
            _set_options(method.options, one.options)
    return base64.b64encode(found.SerializeToString(deterministic=True)).decode()


class _Writer:
    def __init__(self, own: Definitions, others: Definitions, *, is_proto3: bool) -> None:
        self._own = own
        self._others = others
        self._is_proto3 = is_proto3

    def named(self, name: str, place: str) -> str:
        full = full_name(name, place, self._own, self._others)
        return f".{full or name.removeprefix('.')}"

    def message(self, found: Any, message: Message, place: str) -> None:
        found.name = message.name
        place = f"{place}.{message.name}" if place else message.name
        for one in message.fields:
            self.field(found.field.add(), one, place, found)
        for at, oneof in enumerate(message.oneofs):
            found.oneof_decl.add(name=oneof.name)
            for one in oneof.fields:
                field = found.field.add(oneof_index=at)
                self.field(field, one, place, found)
        for one, group in message.groups:
            field = found.field.add()
            self.field(field, one, place, found)
            field.type = _FIELD.TYPE_GROUP
            self.message(found.nested_type.add(), group, place)
        for one in list(found.field):
            if one.proto3_optional:
                one.oneof_index = len(found.oneof_decl)
                found.oneof_decl.add(name=f"_{one.name}")
        for each in message.messages:
            self.message(found.nested_type.add(), each, place)
        for enum in message.enums:
            self.enum(found.enum_type.add(), enum)
        for name, fields in message.extends:
            self.extend(found.extension, name, fields, place)
        for text in (each for reserved in message.reserved for each in reserved):
            if text.startswith('"'):
                found.reserved_name.append(text.strip('"'))
            else:
                start, last = _bounds(text, LARGEST_TAG)
                found.reserved_range.add(start=start, end=last + 1)
        for text in (each for ranges, _ in message.extensions for each in ranges):
            start, last = _bounds(text, LARGEST_TAG)
            found.extension_range.add(start=start, end=last + 1)
        _set_options(found.options, message.options)

    def field(self, found: Any, field: Field, place: str, message: Any) -> None:
        found.name, found.number = field.name, field.number
        found.label = _LABELS[field.label or "optional"]
        if field.label == "optional" and message is not None and self._is_proto3:
            found.proto3_optional = True
        if field.is_map:
            name = "".join(part.capitalize() for part in field.name.split("_")) + "Entry"
            entry = message.nested_type.add(name=name)
            entry.options.map_entry = True
            for at, (part, kind) in enumerate((("key", field.key), ("value", field.value)), 1):
                its = entry.field.add(name=part, number=at, label=_FIELD.LABEL_OPTIONAL)
                self._set_type(its, kind, place)
            found.label, found.type, found.type_name = _FIELD.LABEL_REPEATED, _FIELD.TYPE_MESSAGE, f".{place}.{name}"
        else:
            self._set_type(found, field.type, place)
        for option, value in field.options:
            if option in ("json_name", "default"):
                setattr(found, "default_value" if option == "default" else option, value.strip('"'))
        _set_options(found.options, field.options)

    def _set_type(self, found: Any, name: str, place: str) -> None:
        if name in SCALARS:
            found.type = _NUMBERS[name]
            return
        found.type_name = self.named(name, place)
        full = found.type_name[1:]
        is_enum = isinstance(self._own.get(full) or self._others.get(full), Enum)
        found.type = _FIELD.TYPE_ENUM if is_enum else _FIELD.TYPE_MESSAGE

    def enum(self, found: Any, enum: Enum) -> None:
        found.name = enum.name
        for name, number, options in enum.values:
            _set_options(found.value.add(name=name, number=number).options, options)
        for text in (each for reserved in enum.reserved for each in reserved):
            if text.startswith('"'):
                found.reserved_name.append(text.strip('"'))
            else:
                start, last = _bounds(text, _LAST_OF_ENUM)
                found.reserved_range.add(start=start, end=last)
        _set_options(found.options, enum.options)

    def extend(self, found: Any, name: str, fields: list[Field], place: str) -> None:
        for one in fields:
            its = found.add(extendee=self.named(name, place))
            self.field(its, one, place, None)


def _bounds(text: str, most: int) -> tuple[int, int]:
    start, to, last = text.partition(" to ")
    if not to:
        return int(start), int(start)
    return int(start), most if last.strip() == "max" else int(last)


def _set_options(found: Any, options: Options) -> None:
    known = {one.name: one for one in found.DESCRIPTOR.fields}
    for name, value in options:
        field = known.get(name)
        if field is None or field.message_type is not None:
            continue
        if field.enum_type is not None:
            number = field.enum_type.values_by_name.get(value)
            if number is not None:
                setattr(found, name, number.number)
        elif value in ("true", "false"):
            setattr(found, name, value == "true")
        elif value.startswith('"'):
            setattr(found, name, value.strip('"'))
