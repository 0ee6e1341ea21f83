"""The types of schemas: a text becomes what can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, Self

from kafkastub.registry.entities import AVRO, JSON, PROTOBUF, TYPES
from kafkastub.registry.errors import InvalidSchema

LONGEST = 1 << 20
"""Characters of a schema, and of all that it refers to."""


class Parsed(Protocol):
    """A schema of any type.

    Attributes:
        text: its canonical text.
    """

    text: str

    def normalized(self) -> str:
        """The text in an order that does not hang on how it was written."""

    def formatted(self, form: str) -> str:
        """The text in a form that the type knows; the text itself where it does not."""

    def why_not_after(self, previous: Self, policy: str) -> list[str]:
        """Why what was written by `previous` may not be read; empty where it can. Raises TooComplex."""


def parse(kind: str, text: str, references: Sequence[tuple[str, str]], *, as_new: bool) -> Parsed:
    """`references` are names with texts, each before those that refer to it. Raises InvalidSchema."""
    if len(text) + sum(len(each) for _, each in references) > LONGEST:
        raise InvalidSchema(f"it has more than {LONGEST} characters, with what it refers to")
    if kind == AVRO:
        from kafkastub.registry.avro import AvroSchema

        return AvroSchema(text, references, as_new=as_new)
    if kind == JSON:
        from kafkastub.registry.json_schema import JsonSchema

        return JsonSchema(text, references, as_new=as_new)
    if kind == PROTOBUF:
        from kafkastub.registry.protobuf import ProtobufSchema

        return ProtobufSchema(text, references, as_new=as_new)
    raise InvalidSchema(f"Invalid schema type {kind}: {', '.join(TYPES)} are known")
