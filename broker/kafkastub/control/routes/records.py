"""/v1/topics/{name}/records: records without a client, as `stub.records` and `stub.produce` have them."""

from __future__ import annotations

import asyncio
import base64
import binascii
import itertools
import json
from typing import Annotated, Any, Final, Literal

from fastapi import Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field, PlainValidator, StrictInt, WithJsonSchema

from kafkastub.config.durations import LAST_MS
from kafkastub.control import by_schema
from kafkastub.control.by_schema import BySchema, Content, GivenBySchema
from kafkastub.control.connections import Places
from kafkastub.control.endpoints import Endpoints
from kafkastub.control.hosted import Hosted
from kafkastub.control.problems import Problem, of_kafka
from kafkastub.control.routes.shapes import (
    Body,
    Names,
    UntilRefused,
    body_example,
    example,
    iso,
)
from kafkastub.control.threads import OneAtATime
from kafkastub.control.unpacked import MOST_UNPACKED, in_pieces, pieces, size_of
from kafkastub.control.waiting import LONGEST_WAIT, MOST_WAITING, while_there
from kafkastub.state.deferred import Deferred, as_it_is
from kafkastub.state.partitions import log_of
from kafkastub.views.records import LogRecord, Stretch, chosen_partition, decoded, partition_named, stretch, write
from kafkawire.errors import KafkaError
from kafkawire.records import NewRecord

_MOST_BYTES: Final = 1 << 20
"""Of batches, as they are stored, that are looked at for one answer."""
_MOST_CONTENT: Final = 4 << 20
"""Of keys, values and headers in one answer, a single record excepted: a batch may be a thousand times as many bytes
once it is unpacked."""
_LONG: Final = 1 << 20
"""Characters from which an answer is made a piece at a time: six times as many bytes, where none of them is printed."""
_MOST_RECORDS: Final = 1000
_NEVER: Final = 1 << 62
"""A timer time that does not come."""


def _content(given: Any) -> bytes | None:
    """Raises ValueError."""
    if given is None:
        return None
    if isinstance(given, str):
        try:
            return given.encode()
        except UnicodeEncodeError:
            raise ValueError("half of a surrogate pair is not a character") from None
    if isinstance(given, dict) and given.keys() == {"json"}:
        try:
            return json.dumps(given["json"], ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        except ValueError:  # half of a surrogate pair is one, too
            raise ValueError("NaN, infinite numbers and halves of characters are no JSON") from None
    if isinstance(given, dict) and given.keys() == {"base64"} and isinstance(given["base64"], str):
        try:
            return base64.b64decode(given["base64"], validate=True)
        except (binascii.Error, ValueError):
            raise ValueError("it is not base64") from None
    raise ValueError('expected a string, {"json": …}, {"base64": …} or null')


def _content_or_schema(given: Any) -> Content:
    """Raises ValueError."""
    if not isinstance(given, dict) or "schema" not in given:
        return _content(given)
    subject, message = given["schema"], given.get("message")
    if "json" not in given or not given.keys() <= {"json", "schema", "message"}:
        raise ValueError('with "schema", expected {"json": …, "schema": SUBJECT}, and "message" for Protobuf')
    if not isinstance(subject, str) or not isinstance(message, str | None):
        raise ValueError("schema has to be a subject, and message the full name of a message of Protobuf")
    return GivenBySchema(subject, given["json"], message)


HeaderContent = Annotated[
    Any,
    PlainValidator(_content),
    WithJsonSchema(
        {
            "description": 'a text, {"json": …}, {"base64": …} or null',
            "anyOf": [{"type": "string"}, {"type": "object", "maxProperties": 1}, {"type": "null"}],
        }
    ),
]
"""The value of a header, as bytes or None."""
GivenContent = Annotated[
    Any,
    PlainValidator(_content_or_schema),
    WithJsonSchema(
        {
            "description": 'a text, {"json": …}, {"base64": …} or null; {"json": …, "schema": SUBJECT} is encoded by '
            'the latest schema of the subject, with "message": NAME by that Protobuf message',
            "anyOf": [{"type": "string"}, {"type": "object", "maxProperties": 3}, {"type": "null"}],
        }
    ),
]
"""A key or a value."""


class GivenRecord(Body):
    """A record to write."""

    value: GivenContent = None
    key: GivenContent = None
    headers: Names[HeaderContent] = Field(default_factory=dict)
    partition: StrictInt | None = Field(None, ge=0, description="by default chosen by the key, as Kafka's producers do")
    timestamp: StrictInt | None = Field(
        None,
        ge=-(2**63),
        lt=2**63,
        description="Unix milliseconds; broker time by default",
    )


class GivenRecords(Body):
    """Records to write, in this order."""

    model_config = body_example(records=[{"key": "4711", "value": {"json": {"state": "sent"}}}])

    records: UntilRefused[GivenRecord] = Field(min_length=1, max_length=_MOST_RECORDS)


class WrittenRecord(BaseModel):
    """Where a record was written."""

    partition: int
    offset: int


class Written(BaseModel):
    """Where the records were written, in the order in which they were given."""

    model_config = example(records=[{"partition": 0, "offset": 17}])

    records: list[WrittenRecord]


class ShownRecord(BaseModel):
    """A record; data that is not UTF-8 is `{"base64": …}`. With `cut`, keys, values and headers may be cut."""

    partition: int
    offset: int
    timestamp: str
    timestamp_ms: int
    timestamp_type: str
    key: str | dict[str, str] | None
    value: str | dict[str, str] | None
    key_size: int = Field(description="bytes; -1 for null")
    value_size: int = Field(description="bytes; -1 for null")
    headers: list[tuple[str, str | dict[str, str] | None]]
    producer_id: int
    producer_epoch: int
    transaction: str | None = Field(description='"committed", "aborted" or "open"; null without a transaction')
    key_by_schema: BySchema | None = Field(
        None, description="with `decoded`: the key, decoded by the schema whose id it begins with"
    )
    value_by_schema: BySchema | None = Field(None, description="with `decoded`: the value, likewise")

    @property
    def size(self) -> int:
        """Characters of what it has."""
        parts = (self.key, self.value, *(value for _, value in self.headers))
        texts = (one["base64"] if isinstance(one, dict) else one or "" for one in parts)
        return sum(map(len, texts))


class Records(BaseModel):
    """Some of a partition's records."""

    records: list[ShownRecord]
    next: int = Field(description="`offset` for the records after these")
    end: int = Field(description="end offset of the partition, or its last stable offset with read_committed")


class RecordsQuery(Body):
    """Which."""

    partition: int = Field(0, ge=0)
    offset: int = Field(0, ge=0)
    limit: int = Field(100, ge=1, le=_MOST_RECORDS)
    isolation: Literal["read_uncommitted", "read_committed"] = "read_uncommitted"
    until_end: int | None = Field(
        None, ge=0, description="wait until the partition's end offset reaches this; 408 after the timeout"
    )
    timeout: float = Field(5, ge=0, le=LONGEST_WAIT, allow_inf_nan=False, description="seconds")
    cut: int | None = Field(None, ge=1, description="maximum number of bytes of each key, value and header; null: all")
    decoded: bool = Field(
        False, description="whether to decode keys and values by the schemas of the broker's registry"
    )


def routes(hosted: Hosted) -> Endpoints:
    """The endpoints."""
    router = Endpoints(prefix="/topics", tags=["topics"])
    thread = OneAtATime()
    waiting = Places(MOST_WAITING, "requests are waiting")

    @router.get(
        "/{name}/records",
        summary="Read records of a partition from an offset on, without a client",
        response_model=Records,
    )
    async def read(name: str, query: Annotated[RecordsQuery, Query()], request: Request) -> Records | Response:
        state = hosted.running().state
        committed = query.isolation == "read_committed"
        try:
            if query.until_end is not None:
                waiting.take(request.state.connection)
                await while_there(
                    request, _come(hosted, name, query.partition, query.until_end, committed, query.timeout)
                )
            found = stretch(state, name, query.partition, query.offset, committed=committed, most_bytes=_MOST_BYTES)
            shown, records = await thread.run(lambda: _shown(found, query.limit, committed, query.cut))
            if query.decoded and hosted.schemas is not None:
                by_key = await by_schema.decode_all(hosted, thread, [each.key for each in records], f"{name}-key")
                by_value = await by_schema.decode_all(hosted, thread, [each.value for each in records], f"{name}-value")
                answer = await thread.run(lambda: _with_schemas(shown, by_key, by_value))
                return Response(answer, media_type="application/json")
            if sum(one.size for one in shown.records) > _LONG:
                return StreamingResponse(in_pieces(shown.model_dump()), media_type="application/json")
            return shown
        except KafkaError as error:
            raise of_kafka(error, f"topic {name!r}") from None

    turns = itertools.count()

    @router.post("/{name}/records", status_code=201, summary="Write records, without a client")
    async def produce(name: str, body: GivenRecords) -> Written:
        broker = hosted.running()
        written: list[WrittenRecord] = []
        contents = await contents_of(hosted, thread, body)

        def work() -> None:
            now = broker.clock.broker_ms()
            topic = partition_named(broker.state, name, 0)
            for given, (key, value) in zip(body.records, contents, strict=True):
                record = NewRecord(
                    key,
                    value,
                    now if given.timestamp is None else given.timestamp,
                    tuple((header.encode(), content) for header, content in given.headers.items()),
                )
                index = chosen_partition(topic, record.key, turns) if given.partition is None else given.partition
                written.append(
                    WrittenRecord(partition=index, offset=write(broker.state, name, index, [record], now)[0])
                )

        try:
            hosted.call(work)
        except KafkaError as error:
            problem = of_kafka(error, f"topic {name!r}")
            if written:
                sentence = f"record {len(written)}: {problem.sentence}; those before it are written"
                problem = Problem(problem.status, sentence, problem.code)
            raise problem from None
        await hosted.kept()
        return Written(records=written)

    return router


async def contents_of(
    hosted: Hosted, thread: OneAtATime, body: GivenRecords
) -> list[tuple[bytes | None, bytes | None]]:
    """Key and value of each record. Raises Problem for what does not fit its schema."""
    parts = [(f"records.{at}", one) for at, one in enumerate(body.records)]
    keys = await by_schema.encode_all(hosted, thread, [(f"{place}.key", one.key) for place, one in parts])
    values = await by_schema.encode_all(hosted, thread, [(f"{place}.value", one.value) for place, one in parts])
    return list(zip(keys, values, strict=True))


async def _come(hosted: Hosted, name: str, index: int, end: int, committed: bool, seconds: float) -> None:
    """Until the partition's end, or its last stable offset, is there. Raises Problem, KafkaError."""
    state = hosted.running().state
    topic = partition_named(state, name, index)
    log = log_of(state, topic, index)
    come: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def here() -> int:
        return log.last_stable_offset if committed else log.high_watermark

    def look() -> bool:
        if not come.done() and here() >= end:
            come.set_result(None)
        return False

    parked = Deferred(as_it_is)
    state.fetch_purgatory.park(parked, [(topic.topic_id, index)], _NEVER, look)
    try:
        look()
        await hosted.wait(come, seconds)
    except TimeoutError:
        raise Problem(408, f"{name}-{index} ends at {here()} after {seconds:g} s, {end} was waited for") from None
    finally:
        parked.abandon()


def _with_schemas(shown: Records, keys: list[dict[str, Any] | None], values: list[dict[str, Any] | None]) -> bytes:
    """The answer as JSON."""
    told = shown.model_dump()
    for record, key, value in zip(told["records"], keys, values, strict=True):
        record |= {"key_by_schema": key, "value_by_schema": value}
    return b"".join(pieces(told))


def _shown(found: Stretch, limit: int, committed: bool, cut: int | None) -> tuple[Records, list[LogRecord]]:
    """The records as they are told, and as they are."""
    records: list[ShownRecord] = []
    raw: list[LogRecord] = []
    following = found.start if not found.batches else min(found.batches[-1].last_offset + 1, found.end)
    size = unpacked = 0
    for record in decoded(found, committed=committed, most=MOST_UNPACKED):
        size += _size(record, cut)
        if records and (len(records) == limit or size > _MOST_CONTENT or unpacked > MOST_UNPACKED):
            following = record.offset
            break
        unpacked += size_of(record)
        records.append(shown_record(record, cut))
        raw.append(record)
    return Records(records=records, next=following, end=found.end), raw


def _size(one: LogRecord, cut: int | None) -> int:
    headers = sum(len(name) + len((value or b"")[:cut]) for name, value in one.headers)
    return len((one.key or b"")[:cut]) + len((one.value or b"")[:cut]) + headers


def shown_record(one: LogRecord, cut: int | None = None) -> ShownRecord:
    """A record as JSON has it, with `cut` bytes at most of each part of it."""
    return ShownRecord(
        partition=one.partition,
        offset=one.offset,
        timestamp=_moment(one.timestamp),
        timestamp_ms=one.timestamp,
        timestamp_type=one.timestamp_type,
        key=_told(one.key, cut),
        value=_told(one.value, cut),
        key_size=-1 if one.key is None else len(one.key),
        value_size=-1 if one.value is None else len(one.value),
        headers=[(name, _told(value, cut)) for name, value in one.headers],
        producer_id=one.producer_id,
        producer_epoch=one.producer_epoch,
        transaction=one.transaction,
        key_by_schema=None,
        value_by_schema=None,
    )


def _moment(ms: int) -> str:
    """ISO 8601; empty where no calendar has it: clients may give what they like."""
    return iso(ms) if 0 <= ms <= LAST_MS else ""


def _told(content: bytes | None, cut: int | None) -> str | dict[str, str] | None:
    if content is None:
        return None
    part = content[:cut]
    try:
        return part.decode()
    except UnicodeDecodeError as error:
        if len(part) < len(content) and error.reason == "unexpected end of data":  # the cut went through a character
            return part[: error.start].decode()
        return {"base64": base64.b64encode(part).decode()}
