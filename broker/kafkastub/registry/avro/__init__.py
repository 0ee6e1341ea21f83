"""Avro: schemas out of their texts, their texts again, and who can read what."""

from __future__ import annotations

from collections.abc import Sequence

from kafkastub.registry.avro.compatible import Ambiguous, incompatibilities
from kafkastub.registry.avro.model import Named
from kafkastub.registry.avro.parse import parse
from kafkastub.registry.avro.write import written
from kafkastub.registry.errors import TooComplex


class AvroSchema:
    """A schema of Avro, parsed.

    Attributes:
        text: its canonical text.
    """

    def __init__(self, text: str, references: Sequence[tuple[str, str]], *, as_new: bool) -> None:
        """`references` are names with texts, each before those that refer to it; `as_new` checks defaults, too.

        Raises InvalidSchema.
        """
        known: dict[str, Named] = {}
        try:
            for _, each in references:
                parse(each, known, validate_defaults=False)
            self._known = list(known)
            self.root = parse(text, known, validate_defaults=as_new)
        except RecursionError:  # a default without end
            raise TooComplex("the schema refers too deep to itself") from None
        self.text = written(self.root, self._known)

    def normalized(self) -> str:
        """The text in an order that does not hang on how it was written."""
        return written(self.root, self._known, normalized=True)

    def formatted(self, form: str) -> str:
        """`resolved`: with what it refers to in it; anything else: the text as it is."""
        return written(self.root) if form == "resolved" else self.text

    def why_not_after(self, previous: AvroSchema, policy: str) -> list[str]:
        """Why it cannot read what `previous` has written; empty where it can."""
        try:
            return [one.told() for one in incompatibilities(self.root, previous.root)]
        except Ambiguous as error:
            return [f"Unexpected exception during compatibility check: {error}"]
