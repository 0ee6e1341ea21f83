"""/v1/topics/{name}/…: records looked for, by text or time; one of them as it is, and by an Avro schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal

from fastapi import Query, Response
from pydantic import BaseModel, Field, StrictInt

from kafkastub.control.avro import MOST_SCHEMA, AvroError, Reader
from kafkastub.control.endpoints import Endpoints
from kafkastub.control.hosted import Hosted
from kafkastub.control.problems import Problem, of_kafka
from kafkastub.control.routes.records import ShownRecord, shown_record
from kafkastub.control.routes.shapes import Body, Text, body_example, example, iso, whole_number, zoned
from kafkastub.control.threads import OneAtATime
from kafkastub.control.unpacked import MOST_UNPACKED, has, size_of
from kafkastub.server.in_turns import in_turns
from kafkastub.state.partitions import log_of
from kafkastub.views.records import LogRecord, Stretch, decoded, partition_named, stretch
from kafkawire.errors import KafkaError

_MOST_SEARCHED: Final = 4 << 20
"""Bytes of batches, as they are stored, that one request looks through."""
_MOST_RECORDS: Final = 50_000
"""Records that one request looks through: a batch may be a thousand times as many bytes once it is unpacked."""
_AT_ONCE: Final = 5000
"""Records that are looked at for their time before others have their turn."""
_MOST_FOUND: Final = 200
_MOST_READ: Final = 100
_CUT: Final = 2048

Part = Literal["key", "value"]


class SearchQuery(Body):
    """What, and where."""

    text: Text = Field(
        min_length=1, description="text in a key, a value or a header; the case of ASCII letters does not matter"
    )
    partition: int = Field(0, ge=0)
    offset: int = Field(0, ge=0)
    limit: int = Field(50, ge=1, le=_MOST_FOUND)


class FoundRecords(BaseModel):
    """Records that contain the text; keys, values and headers are cut."""

    records: list[ShownRecord]
    looked: int = Field(description="number of records that were searched")
    next: int = Field(description="`offset` of the next search; `end` if there is nothing more")
    end: int


class TimeQuery(Body):
    """When."""

    time: Text = Field(description="ISO 8601 with a time zone, or Unix milliseconds")
    partition: int = Field(0, ge=0)


class AtTime(BaseModel):
    """The first record at or after a time."""

    model_config = example(offset=17, timestamp="2026-03-01T12:00:00.000Z", timestamp_ms=1772366400000)

    offset: int = Field(description="its offset; the partition's end offset if there is none")
    timestamp: str | None
    timestamp_ms: int | None


class AvroQuery(Body):
    """Which records to decode, and how."""

    model_config = body_example(avro_schema='{"type": "string"}', partition=0, offset=17, limit=1, part="value")

    avro_schema: str = Field(
        max_length=MOST_SCHEMA, description="the schema that the records were written with, as JSON"
    )
    partition: StrictInt = Field(0, ge=0)
    offset: StrictInt = Field(0, ge=0)
    limit: StrictInt = Field(1, ge=1, le=_MOST_READ)
    part: Part = "value"


class AvroRecord(BaseModel):
    """A record's key or value."""

    offset: int
    content: Any = Field(description="decoded, as JSON; null if it is null or does not match the schema")
    schema_id: int | None = Field(description="schema id in Confluent's prefix, if it has one")
    error: str | None = Field(description="why it does not match the schema")


class AvroRecords(BaseModel):
    """Records, decoded with a schema."""

    model_config = example(records=[{"offset": 17, "content": "sent", "schema_id": None, "error": None}])

    records: list[AvroRecord]


def routes(hosted: Hosted) -> Endpoints:
    """The endpoints."""
    router = Endpoints(prefix="/topics", tags=["topics"])
    thread = OneAtATime()

    def of(name: str, partition: int, offset: int, most_bytes: int = 1) -> Stretch:
        try:
            return stretch(hosted.running().state, name, partition, offset, committed=False, most_bytes=most_bytes)
        except KafkaError as error:
            raise of_kafka(error, f"topic {name!r}") from None

    @router.get(
        "/{name}/search",
        summary="Search a partition for records that contain a text; a request searches a limited number of records",
    )
    async def search(name: str, query: Annotated[SearchQuery, Query()]) -> FoundRecords:
        found = of(name, query.partition, query.offset, _MOST_SEARCHED)
        return await thread.run(lambda: _searched(found, query.text, query.limit))

    @router.get("/{name}/offset", summary="Return the offset of a partition's first record at or after a time")
    async def at_time(name: str, query: Annotated[TimeQuery, Query()]) -> AtTime:
        moment = _moment(query.time)
        state = hosted.running().state
        try:
            log = log_of(state, partition_named(state, name, query.partition), query.partition)
            place = await in_turns(log.search(moment, state.logs.unpacker), _AT_ONCE)
        except KafkaError as error:
            raise of_kafka(error, f"topic {name!r}") from None
        if place is None:
            return AtTime(offset=log.high_watermark, timestamp=None, timestamp_ms=None)
        return AtTime(offset=place.offset, timestamp=iso(place.timestamp), timestamp_ms=place.timestamp)

    @router.get(
        "/{name}/partitions/{partition}/records/{offset}/{part}",
        summary="Return the key or the value of a record as raw bytes",
        response_class=Response,
        responses={200: {"content": {"application/octet-stream": {}}}},
    )
    async def raw(name: str, partition: int, offset: int, part: Part) -> Response:
        found = of(name, max(0, partition), max(0, offset))
        record = await thread.run(lambda: next(decoded(found, committed=False, most=MOST_UNPACKED), None))
        content = None if record is None else getattr(record, part)
        if record is None or record.offset != offset or record.partition != partition:
            raise Problem(404, f"{name}-{partition} has no record at offset {offset}")
        if content is None:
            raise Problem(404, f"the {part} of the record at offset {offset} of {name}-{partition} is null")
        headers = {"content-disposition": f'attachment; filename="{name}-{partition}-{offset}.{part}"'}
        return Response(content, media_type="application/octet-stream", headers=headers)

    @router.post("/{name}/avro", summary="Return keys or values of a partition's records, decoded with an Avro schema")
    async def avro(name: str, body: AvroQuery) -> AvroRecords:
        found = of(name, body.partition, body.offset, 1 << 20)
        try:
            return await thread.run(lambda: _by_schema(found, body))
        except AvroError as error:
            raise Problem(400, f"avro_schema is refused: {error}") from None

    return router


def _searched(found: Stretch, text: str, limit: int) -> FoundRecords:
    wanted = text.encode().lower()
    records: list[ShownRecord] = []
    following = found.end if not found.batches else min(found.batches[-1].last_offset + 1, found.end)
    looked = size = 0
    for record in decoded(found, committed=False, most=MOST_UNPACKED):
        if len(records) == limit or looked == _MOST_RECORDS or size > MOST_UNPACKED:
            following = record.offset
            break
        looked += 1
        size += size_of(record)
        if any(has(part, wanted, any_case=True) for part in _parts(record)):
            records.append(shown_record(record, _CUT))
    return FoundRecords(records=records, looked=looked, next=following, end=found.end)


def _parts(record: LogRecord) -> Iterator[bytes]:
    yield record.key or b""
    yield record.value or b""
    for name, value in record.headers:
        yield name.encode()
        yield value or b""


def _by_schema(found: Stretch, body: AvroQuery) -> AvroRecords:
    reader = Reader(body.avro_schema)
    records: list[AvroRecord] = []
    size = 0
    for record in decoded(found, committed=False, most=MOST_UNPACKED):
        if len(records) == body.limit or size > MOST_UNPACKED:
            break
        size += size_of(record)
        content = getattr(record, body.part)
        read: Any = None
        schema_id = error = None
        if content is not None:
            try:
                read, schema_id = reader.read(content)
            except AvroError as wrong:
                error = str(wrong)
        records.append(AvroRecord(offset=record.offset, content=read, schema_id=schema_id, error=error))
    return AvroRecords(records=records)


def _moment(text: str) -> int:
    """Unix milliseconds. Raises Problem."""
    if (number := whole_number(text, 17)) is not None:
        return number
    moment = zoned(text)
    if moment is None:
        raise Problem(400, f"time={text!r} is refused: expected ISO 8601 with a time zone, or Unix milliseconds")
    return int(moment.timestamp() * 1000)
