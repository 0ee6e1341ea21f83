"""Keys and values of records, as people are shown them: by the schemas whose ids they begin with.

What is shown is somebody else's: schemas and values of any size. All of it is bounded, and meant for a thread of its
own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from kafkastub.registry.entities import Schema
from kafkastub.registry.values import Codec, ResolvedSchema, codec_of, id_in, named
from kafkastub.registry.values.as_json import JsonMaker, TooMuch

MOST_SCHEMA: Final = 256 << 10
"""Characters of a schema, with what it refers to."""
MOST_VALUE: Final = 256 << 10
"""Bytes of one value: JSON and Protobuf are read by libraries, in one step in which no other thread runs."""
_MOST_READ: Final = 1 << 20
"""Bytes of all values that are read for one answer."""
_MOST_VALUES: Final = 50_000
_MOST_TEXT: Final = 4 << 20
MOST_SCHEMAS: Final = 100
"""Schemas that are looked up for one answer."""


class DisplayedValue(NamedTuple):
    """A key or a value by its schema.

    Attributes:
        schema: None where the registry has none with that id.
        content: as JSON has it; None where there is an error.
        error: why it is not shown, as a sentence.
    """

    schema_id: int
    schema: Schema | None
    content: Any
    error: str | None


def ids_in(contents: Iterable[bytes | None]) -> list[int]:
    """The ids that keys and values begin with, as many as are looked up for one answer, each once."""
    found: dict[int, None] = {}
    for content in contents:
        number = id_in(content)
        if number is not None:
            found[number] = None
            if len(found) == MOST_SCHEMAS:
                break
    return list(found)


class BySchema:
    """Shows the keys and values of one answer."""

    def __init__(self, known: Mapping[int, ResolvedSchema]) -> None:
        """`known` has the schemas of `ids_in`."""
        self._known = known
        self._codecs: dict[int, Codec] = {}
        self._left = _MOST_READ
        self._maker = JsonMaker(_MOST_VALUES, _MOST_TEXT)

    def decode(self, content: bytes | None) -> DisplayedValue | None:
        """None for what begins with no id of a schema."""
        number = id_in(content)
        if number is None or content is None:
            return None
        known = self._known.get(number)
        if known is None:
            return DisplayedValue(number, None, None, f"the registry has no schema with the id {number}")
        try:
            return DisplayedValue(number, known.schema, self._read(known, number, content), None)
        except TooMuch as error:
            return DisplayedValue(number, known.schema, None, f"it is too much for one answer: {error}")
        except ValueError as error:
            return DisplayedValue(number, known.schema, None, str(error))

    def _read(self, known: ResolvedSchema, number: int, content: bytes) -> Any:
        """Raises ValueError."""
        if len(content) > MOST_VALUE:
            raise TooMuch(f"it has {len(content)} bytes, and of one value {MOST_VALUE} are read")
        self._maker.check()
        self._left -= len(content)
        if self._left < 0:
            raise TooMuch(f"more than {_MOST_READ} bytes of values were to be read")
        try:
            value = self._codec(known, number).decode(content[5:])
        except ValueError as error:
            raise ValueError(f"it is not of {named(known.schema)}: {error}") from None
        return self._maker.to_json(value)

    def _codec(self, known: ResolvedSchema, number: int) -> Codec:
        """Raises ValueError."""
        codec = self._codecs.get(number)
        if codec is None:
            check_schema(known)
            codec = self._codecs[number] = codec_of(known, trusted=False)
        return codec


def check_schema(known: ResolvedSchema) -> None:
    """Raises ValueError for a schema that is larger than those by which values are shown and written."""
    size = len(known.schema.text) + sum(len(text) for _, text in known.references)
    if size > MOST_SCHEMA:
        raise ValueError(f"{named(known.schema)} has {size} characters with what it refers to; {MOST_SCHEMA} are used")
