"""/v1/journal/{sequence}: a request and its answer, field by field beside the bytes."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Annotated, Any, Final

from fastapi import Query, Response
from pydantic import BaseModel, Field
from starlette.convertors import IntegerConvertor, register_url_convertor

from kafkastub.control import by_schema
from kafkastub.control.book import Book, Shape, as_json, entry_values
from kafkastub.control.by_schema import BySchema
from kafkastub.control.endpoints import Endpoints
from kafkastub.control.hosted import Hosted
from kafkastub.control.problems import Problem
from kafkastub.control.routes.shapes import Body, example
from kafkastub.control.threads import OneAtATime
from kafkastub.control.unpacked import pieces
from kafkastub.journal import Entry
from kafkastub.journal.export import json_value

if TYPE_CHECKING:
    from kafkastub.journal.decoded import Frame
    from kafkawire.codec.spans import FieldSpan

_LONGEST: Final = 1000
"""Characters of a text, or bytes of bytes, that are told of one field."""
_MOST_FIELDS: Final = 10_000
_MOST_BYTES: Final = 1 << 20
_OF_RECORDS: Final = ("key", "value")

Contents = list[tuple[bytes, dict[str, Any]]]
"""Keys and values of records, with what is told of them, where they may begin with the id of a schema."""


class DecodedField(BaseModel):
    """A field, or an element of an array."""

    name: str
    type: str = Field(
        description="type in the words of the protocol guide: int32, compact string, array of TopicPartition"
    )
    start: int = Field(description="position of its first byte, its length prefix included")
    end: int = Field(description="position after its last byte")
    value: Any = Field(None, description="a number or a text; the first bytes in base64; null if it has fields")
    size: int | None = Field(None, description="length of a text or bytes that are shown in part")
    fields: list[DecodedField] | None = Field(None, description="its fields or elements")
    left_out: int = Field(0, description="number of elements and fields that are not listed")
    by_schema: BySchema | None = Field(
        None, description="a record's key or value, decoded by the schema whose id it begins with"
    )


class DecodedFrame(BaseModel):
    """A frame as it was sent, its size first."""

    size: int = Field(description="bytes, with the four of its size")
    bytes: str = Field(description="the first bytes, in base64")
    fields: list[DecodedField] = Field(description="size, header, body")
    why: str | None = Field(description="why it could not be decoded to its end; null if it could")


class Decoded(BaseModel):
    """A journal entry with its frames."""

    model_config = example(
        entry={"sequence": 17, "api": "Heartbeat", "api_version": 4},
        request={
            "size": 8, "bytes": "AAAABAAMAAQ=", "why": None,
            "fields": [{"name": "size", "type": "int32", "start": 0, "end": 4, "value": 4, "left_out": 0}],
        },
        response=None,
    )  # fmt: skip

    entry: dict[str, Any] = Field(description="its columns; where frames are hidden, both messages without secrets")
    request: DecodedFrame | None = Field(description="null for a move of the clock")
    response: DecodedFrame | None = Field(description="null if there is none, or none yet")


class DecodedQuery(Body):
    """How much of it."""

    fields: int = Field(2000, ge=1, le=_MOST_FIELDS, description="maximum per frame")
    bytes: int = Field(16384, ge=0, le=_MOST_BYTES, description="maximum per frame")


class _Sequence(IntegerConvertor):
    """A number that Python reads: of thousands of digits it does not."""

    regex = "[0-9]{1,18}"


def add_to(router: Endpoints, book: Book, hosted: Hosted) -> None:
    """The endpoint, behind those of the journal that have names."""
    thread = OneAtATime()

    register_url_convertor("sequence", _Sequence())

    @router.get(
        "/{sequence:sequence}", summary="Return an entry field by field, with its bytes", response_model=Decoded
    )
    async def decode(sequence: int, query: Annotated[DecodedQuery, Query()]) -> Response:
        ring = book.ring
        if not ring.first <= sequence < ring.total:
            there = f"{ring.first} to {ring.total - 1} are there" if len(ring) else "there is none"
            raise Problem(404, f"the journal has no entry {sequence}: {there}")
        _, raw = next(ring.walk(before=sequence + 1))
        entry = book.entry(sequence, raw)
        contents: Contents = []
        told = await book.of_entry(raw, lambda: _told(entry, query, contents))
        if contents and hosted.schemas is not None:
            found = await by_schema.decode_all(hosted, thread, [content for content, _ in contents])
            for (_, field), shown in zip(contents, found, strict=True):
                field["by_schema"] = shown
            text = await thread.run(lambda: b"".join(pieces(told, json_value)))
        else:
            text = await book.of_entry(raw, lambda: as_json(told))
        return Response(text, media_type="application/json")


def _told(entry: Entry, query: DecodedQuery, contents: Contents) -> dict[str, Any]:
    from kafkastub.journal.decoded import request_frame, response_frame

    return {
        "entry": entry_values(entry, Shape(messages=entry.hides)),
        "request": _frame(request_frame(entry, query.fields), query.bytes, contents),
        "response": _frame(response_frame(entry, query.fields), query.bytes, contents),
    }


def _frame(frame: Frame | None, most: int, contents: Contents) -> dict[str, Any] | None:
    if frame is None:
        return None
    return {
        "size": len(frame.data),
        "bytes": base64.b64encode(frame.data[:most]).decode(),
        "fields": [_field(each, contents) for each in frame.fields],
        "why": frame.why,
    }


def _field(span: FieldSpan, contents: Contents) -> dict[str, Any]:
    told: dict[str, Any] = {
        "name": span.name, "type": span.kind, "start": span.start, "end": span.end, "left_out": span.left_out,
    }  # fmt: skip
    value = span.value
    if isinstance(value, bytes) and value[:1] == b"\0" and span.name in _OF_RECORDS:
        contents.append((value, told))
    if isinstance(value, str | bytes) and len(value) > _LONGEST:
        told["size"], value = len(value), value[:_LONGEST]
    if span.kind == "uuid":
        value = base64.urlsafe_b64encode(value).rstrip(b"=").decode()
    elif isinstance(value, bytes):
        value = {"base64": base64.b64encode(value).decode()}
    elif isinstance(value, float):
        value = value if abs(value) < float("inf") else str(value)
    if span.fields is None:
        told["value"] = value
        return told
    told["fields"] = [_field(each, contents) for each in span.fields]
    return told
