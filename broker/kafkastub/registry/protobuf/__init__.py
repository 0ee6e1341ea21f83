"""Protobuf: files out of their texts or descriptors, their texts again, and who can read what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kafkastub.registry.entities import is_descriptor
from kafkastub.registry.errors import InvalidSchema, TooComplex
from kafkastub.registry.protobuf.compare import COMPATIBLE, Side, differences
from kafkastub.registry.protobuf.model import Enum, Field, File, Message
from kafkastub.registry.protobuf.names import Definitions, definitions, resolve
from kafkastub.registry.protobuf.write import written


class ProtobufSchema:
    """A file of Protobuf, parsed.

    Attributes:
        text: its text, laid out anew, without comments.
    """

    def __init__(self, text: str, references: Sequence[tuple[str, str]], *, as_new: bool) -> None:
        """`references` are names with texts, each before those that import it. Raises InvalidSchema."""
        try:
            others: Definitions = {}
            packages: dict[str, str] = {}
            for _, each in references:
                file = _read(each)
                found = definitions(file)
                resolve(file, found, others, frozenset(name for name, _ in references))
                others |= found
                packages |= dict.fromkeys(found, file.package)
            self.file = _read(text)
            self._own = definitions(self.file)
            imports = frozenset(name for name, _ in references)
            resolve(self.file, self._own, others, imports)
        except RecursionError:
            raise TooComplex("messages lie too deep in each other") from None
        self._side = Side(self.file, self._own, others, packages)
        self.text = written(self.file)

    def normalized(self) -> str:
        """The text in an order that does not hang on how it was written, but for messages, which clients count."""
        return written(_normalized(self.file))

    def formatted(self, form: str) -> str:
        """`serialized`: its descriptor in base64; `ignore_extensions`: without these; anything else: the text."""
        if form == "serialized":
            from kafkastub.registry.protobuf.descriptors import serialized

            return serialized(self.file, self._own, self._side.others)
        if form == "ignore_extensions":
            return written(replace(self.file, extends=[]))
        return self.text

    def why_not_after(self, previous: ProtobufSchema, policy: str) -> list[str]:
        """Why it cannot read what `previous` has written; empty where it can."""
        found = differences(previous._side, self._side)
        return [one.told() for one in found if one.kind not in COMPATIBLE]


def _read(text: str) -> File:
    try:
        if is_descriptor(text):
            from kafkastub.registry.protobuf import descriptors

            return descriptors.read(text.strip())
        from kafkastub.registry.protobuf import text as texts

        return texts.read(text)
    except ImportError as error:
        raise InvalidSchema(
            f"Protobuf needs the extra registry ({error.name} is missing): pip install 'kafkastub[registry]'"
        ) from None


def _normalized(file: File) -> File:
    return replace(
        file,
        imports=sorted(set(file.imports)),
        public_imports=sorted(set(file.public_imports)),
        options=sorted(file.options),
        messages=[_sorted(one) for one in file.messages],
        enums=[_sorted_enum(one) for one in file.enums],
    )


def _sorted(message: Message) -> Message:
    oneofs = [replace(one, fields=sorted(one.fields, key=lambda each: each.number)) for one in message.oneofs]
    return replace(
        message,
        options=sorted(message.options),
        reserved=_one_by_one(message.reserved),
        fields=sorted((_with_full_type(one) for one in message.fields), key=lambda each: each.number),
        oneofs=sorted((one for one in oneofs if one.fields), key=lambda one: one.fields[0].number),
        messages=[_sorted(one) for one in message.messages],
        enums=[_sorted_enum(one) for one in message.enums],
    )


def _with_full_type(field: Field) -> Field:
    """With the name of its type in full."""
    options = sorted(field.options)
    if field.full_type is None:
        return replace(field, options=options)
    full = f".{field.full_type}"
    kind = f"map<{field.key}, {full}>" if field.is_map else full
    return replace(field, type=kind, options=options)


def _sorted_enum(enum: Enum) -> Enum:
    values = sorted(enum.values, key=lambda each: (each[1], each[0]))
    return replace(enum, options=sorted(enum.options), reserved=_one_by_one(enum.reserved), values=values)


def _one_by_one(reserved: list[list[str]]) -> list[list[str]]:
    every = [each for one in reserved for each in one]

    def place(text: str) -> tuple[int, str]:
        return (2**31 if text.startswith('"') else int(text.partition(" ")[0])), text

    return [[one] for one in sorted(every, key=place)]
