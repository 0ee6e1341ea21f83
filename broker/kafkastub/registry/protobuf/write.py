"""The text of a file, without comments, in the layout in which Confluent's registry gives it."""

from __future__ import annotations

from kafkastub.registry.protobuf.model import Enum, Field, File, Message, Method, OneOf, Options, Service


def written(file: File) -> str:
    """Messages before enums, in the order in which they are: clients count messages."""
    parts = [
        f'syntax = "{file.syntax}";\n' if file.syntax else f'edition = "{file.edition}";\n' if file.edition else ""
    ]
    if file.package:
        parts[0] += f"package {file.package};\n"
    imports = [*(f'import "{one}";\n' for one in file.imports)]
    imports += [f'import public "{one}";\n' for one in file.public_imports]
    parts.append("".join(imports))
    parts.append("".join(f"option {name} = {value};\n" for name, value in file.options))
    parts.append("".join([*map(_message, file.messages), *map(_enum, file.enums)]))
    parts.append("".join(_extend(*one) for one in file.extends))
    parts.append("".join(map(_service, file.services)))
    return parts[0] + "".join(f"\n{part}" for part in parts[1:] if part)


def _block(head: str, sections: list[list[str]]) -> str:
    """Sections with an empty line between them; what is in one is indented with its own empty lines."""
    whole = "\n".join(_indented("".join(section)) for section in sections if section)
    return f"{head} {{\n{whole}}}\n" if whole else f"{head} {{}}\n"


def _indented(text: str) -> str:
    return "".join(f"  {line}\n" for line in text.removesuffix("\n").split("\n"))


def _message(message: Message, head: str = "") -> str:
    return _block(
        head or f"message {message.name}",
        [
            [f"reserved {', '.join(one)};\n" for one in message.reserved],
            [f"option {name} = {value};\n" for name, value in message.options],
            [_field(one) for one in message.fields],
            [_oneof(one) for one in message.oneofs],
            [_group(*one) for one in message.groups],
            [f"extensions {', '.join(ranges)}{_options(options)};\n" for ranges, options in message.extensions],
            [_extend(*one) for one in message.extends],
            [*map(_message, message.messages), *map(_enum, message.enums)],
        ],
    )


def _field(field: Field) -> str:
    label = f"{field.label} " if field.label else ""
    return f"{label}{field.type} {field.name} = {field.number}{_options(field.options)};\n"


def _group(field: Field, message: Message) -> str:
    label = f"{field.label} " if field.label else ""
    return _message(message, f"{label}group {message.name} = {field.number}")


def _oneof(oneof: OneOf) -> str:
    options = [f"option {name} = {value};\n" for name, value in oneof.options]
    return _block(f"oneof {oneof.name}", [options, [_field(one) for one in oneof.fields]])


def _enum(enum: Enum) -> str:
    lines = [f"reserved {', '.join(one)};\n" for one in enum.reserved]
    lines += [f"option {name} = {value};\n" for name, value in enum.options]
    lines += [f"{name} = {number}{_options(options)};\n" for name, number, options in enum.values]
    return _block(f"enum {enum.name}", [lines])


def _extend(name: str, fields: list[Field]) -> str:
    return _block(f"extend {name}", [[_field(one) for one in fields]])


def _service(service: Service) -> str:
    options = [f"option {name} = {value};\n" for name, value in service.options]
    return _block(f"service {service.name}", [options, [_method(one) for one in service.methods]])


def _method(method: Method) -> str:
    given = ("stream " if method.input_stream else "") + method.input
    gives = ("stream " if method.output_stream else "") + method.output
    head = f"rpc {method.name} ({given}) returns ({gives})"
    if not method.options:
        return f"{head};\n"
    return _block(head, [[f"option {name} = {value};\n" for name, value in method.options]]).removesuffix("\n") + ";\n"


def _options(options: Options) -> str:
    if not options:
        return ""
    if len(options) == 1:
        return f" [{options[0][0]} = {options[0][1]}]"
    lines = ",\n".join(f"{name} = {value}" for name, value in options)
    return " [\n" + "\n".join(f"  {line}" for line in lines.split("\n")) + "\n]"
