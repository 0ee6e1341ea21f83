"""/v1/journal: every request and answer, as `stub.journal` has them (docs/journal.md)."""

from __future__ import annotations

import asyncio
import tempfile
from collections import deque
from collections.abc import AsyncIterator
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from fastapi import Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from kafkastub.control.book import Book, Shape, as_json, entry_json
from kafkastub.control.connections import Places
from kafkastub.control.endpoints import Endpoints
from kafkastub.control.hosted import Hosted
from kafkastub.control.problems import Problem
from kafkastub.control.routes import decoded
from kafkastub.control.routes.shapes import Body, Limit, example, whole_number, zoned
from kafkastub.control.waiting import LONGEST_WAIT, MOST_WAITING, while_there
from kafkastub.journal import DEFAULT_BYTES, Entry, Outcome, Raw, Ring
from kafkastub.journal.export import row
from kafkastub.journal.naming import api_key
from kafkastub.journal.ring import reply_size

_PIECE: Final = 32 << 10
"""Bytes that are sent together."""

MOST_FOLLOWING: Final = 16
MOST_EXPORTS: Final = 4
_MOST_BEHIND: Final = 10_000
"""Entries that wait for a reader who follows and is slow, `DEFAULT_BYTES` at most; then some are left out."""

_EXAMPLE = {
    "schema_version": 1, "sequence": 17, "kind": "request", "broker_time": "2026-03-01T12:00:00.123000+00:00",
    "wall_time": "2026-03-01T12:00:00.123456+00:00", "duration_us": 180, "connection_id": 3,
    "peer": "127.0.0.1:50512", "listener": "PLAINTEXT", "node_id": 1, "principal": "User:ANONYMOUS",
    "client_id": "shipping-1", "software_name": "librdkafka", "software_version": "2.8.0", "api_key": 8,
    "api": "OffsetCommit", "api_version": 9, "correlation_id": 12, "groups": ["shipping"], "members": [],
    "transactions": [], "topics": ["orders"],
    "partitions": [{"topic": "orders", "partition": 0}], "errors": [{"code": 0, "name": "NONE", "count": 1}],
    "outcome": "reply", "fault": None, "throttle_time_ms": 0,
    "text": "    17 12:00:00.123 shipping-1 OffsetCommit v9 group shipping …",
}  # fmt: skip


class Filters(Body):
    """Which entries: those that match everything that is given."""

    api: str | None = Field(None, description="name of an API, for example OffsetCommit")
    group: str | None = Field(None, description="named in the request")
    member_id: str | None = Field(None, description="the member that sends the request, or that the request names")
    transactional_id: str | None = Field(None, description="of a transaction that the request belongs to or names")
    producer_id: int | None = Field(None, description="of such a transaction")
    topic: str | None = Field(None, description="named in the request")
    client_id: str | None = None
    error: str | None = Field(None, description="an error code in the answer, by name (NOT_COORDINATOR) or number")
    outcome: str | None = Field(None, description="reply, pending, no_reply, closed, refused or dropped")
    fault: str | None = Field(None, description="id of the fault rule that fired")
    since: str | None = Field(None, description="a sequence number, or broker time in ISO 8601 with a time zone")

    def wanted(self) -> dict[str, Any]:
        """The keywords of `Journal.requests`. Raises Problem."""
        said: dict[str, Any] = {name: getattr(self, name) for name in Filters.model_fields}
        said = {name: value for name, value in said.items() if value is not None}
        if (code := whole_number(said.get("error", ""))) is not None:
            said["error"] = code
        if "since" in said:
            said["since"] = _since(said["since"])
        return said


_FRAMES: Final = Field(False, description="whether to return the raw bytes; base64 in JSON")
_MESSAGES: Final = Field(False, description="whether to return requests and answers field by field")


class Shown(Filters):
    """Which, and what of them."""

    frames: bool = _FRAMES
    messages: bool = _MESSAGES

    @property
    def shape(self) -> Shape:
        return Shape(self.frames, self.messages)


class ListQuery(Shown):
    """Which, and how many."""

    limit: Limit = 100
    before: int | None = Field(None, ge=0, le=1 << 62, description="only the newest entries below this sequence number")
    not_api: list[str] = Field([], max_length=100, description="leave this API out; may be given several times")

    def wanted(self) -> dict[str, Any]:
        said = super().wanted()
        if self.not_api:
            try:
                keys = frozenset(map(api_key, self.not_api))
            except ValueError as error:
                raise Problem(400, f"not_{error}") from None
            said["where"] = lambda entry: entry.api_key not in keys
        return said


class WaitQuery(Shown):
    """Which, and how long."""

    timeout: float = Field(5, ge=0, le=LONGEST_WAIT, allow_inf_nan=False, description="seconds")


class ExportQuery(Shown):
    """Which, and how."""

    format: Literal["jsonl", "parquet"] = "jsonl"


class JournalPage(BaseModel):
    """Entries, oldest first."""

    model_config = example(entries=[_EXAMPLE], next=18, total=18, first=0)

    entries: list[dict[str, Any]]
    next: int = Field(description="`since` for the entries after these")
    total: int = Field(description="number of entries ever written, which is the sequence number of the next one")
    first: int = Field(description="sequence number of the oldest entry that is kept")


class FoundEntry(BaseModel):
    """The entry that was waited for."""

    model_config = example(entry=_EXAMPLE)

    entry: dict[str, Any]


class ClearedJournal(BaseModel):
    """How many entries were removed."""

    removed: int


def routes(hosted: Hosted) -> Endpoints:
    """The endpoints."""
    router = Endpoints(prefix="/journal", tags=["journal"])
    book = Book(hosted)
    waiting = Places(MOST_WAITING, "requests are waiting")
    following = Places(MOST_FOLLOWING, "clients follow the journal")
    exporting = Places(MOST_EXPORTS, "exports are under way")

    @router.get(
        "", summary="Return the newest entries, or with `since` the oldest from there on", response_model=JournalPage
    )
    async def query(query: Annotated[ListQuery, Query()]) -> Response:
        wanted, ring = query.wanted(), book.ring
        newest, total = "since" not in wanted or query.before is not None, ring.total
        before = (total if query.before is None else query.before) if newest else None
        found: list[tuple[int, Raw]] = []
        async for entry, raw in book.matching(wanted, before):
            found.append((entry.sequence, raw))
            if len(found) == query.limit:
                break
        found.sort(key=lambda one: one[0])
        full = len(found) == query.limit and not newest
        rest = {"next": found[-1][0] + 1 if full else total, "total": ring.total, "first": ring.first}
        pieces = _page(book, found, query.shape, rest)
        return StreamingResponse(_together(pieces), media_type="application/json")

    @router.get(
        "/wait",
        summary="Wait for an answered request that matches, and return the first; 408 after the timeout",
        response_model=FoundEntry,
    )
    async def wait(query: Annotated[WaitQuery, Query()], request: Request) -> Response:
        waiting.take(request.state.connection)
        entry, raw = await while_there(request, _wait(book, query.wanted(), query.timeout))
        told = await book.of_entry(raw, partial(entry_json, entry, query.shape))
        return Response(b'{"entry":' + told + b"}", media_type="application/json")

    @router.get(
        "/follow",
        summary="Stream new entries as JSON lines, each when it is answered, until the client disconnects",
        response_class=StreamingResponse,
        responses={200: {"content": {"application/x-ndjson": {"example": _EXAMPLE}}}},
    )
    async def follow(query: Annotated[Shown, Query()], request: Request) -> StreamingResponse:
        wanted = query.wanted()
        book.matcher(wanted)
        ring = book.ring
        following.take(request.state.connection)
        return StreamingResponse(_follow(book, ring, wanted, query.shape), media_type="application/x-ndjson")

    @router.delete("", summary="Clear the journal; sequence numbers continue")
    async def clear() -> ClearedJournal:
        ring = book.ring
        gone = len(ring)
        ring.clear()
        return ClearedJournal(removed=gone)

    @router.get(
        "/export",
        summary="Export all entries as a file, in the schema of docs/journal.md",
        response_class=Response,
        responses={200: {"content": {"application/x-ndjson": {}, "application/vnd.apache.parquet": {}}}},
    )
    async def export(query: Annotated[ExportQuery, Query()], request: Request) -> Response:
        wanted = query.wanted()
        book.matcher(wanted)
        _ = book.ring  # refused here, before the answer has begun
        exporting.take(request.state.connection)
        if query.format == "jsonl":
            return StreamingResponse(_together(_export(book, wanted, query.shape)), media_type="application/x-ndjson")
        entries = [entry async for entry, _ in book.matching(wanted)]
        content = await book.in_a_thread(lambda: _parquet(entries, query.shape))
        return Response(content, media_type="application/vnd.apache.parquet")

    decoded.add_to(router, book, hosted)
    return router


async def _page(book: Book, found: list[tuple[int, Raw]], shape: Shape, rest: dict[str, int]) -> AsyncIterator[bytes]:
    """A `JournalPage`, made as it is read: it may be a hundred times as large as the journal is in memory."""
    yield b'{"entries":['
    for number, (sequence, raw) in enumerate(found):
        text = await book.of_entry(raw, partial(entry_json, book.entry(sequence, raw), shape))
        yield b"," + text if number else text
        await book.turns.pause()
    yield b"]," + as_json(rest)[1:]


async def _together(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The same in fewer pieces."""
    held: list[bytes] = []
    size = 0
    async for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= _PIECE:
            yield b"".join(held)
            held, size = [], 0
    if held:
        yield b"".join(held)


async def _export(book: Book, wanted: dict[str, Any], shape: Shape) -> AsyncIterator[bytes]:
    async for entry, raw in book.matching(wanted):
        yield await book.of_entry(raw, partial(_line, entry, shape))


def _line(entry: Entry, shape: Shape) -> bytes:
    return as_json(row(entry, *shape)) + b"\n"


async def _wait(book: Book, wanted: dict[str, Any], seconds: float) -> tuple[Entry, Raw]:
    """Raises Problem."""
    matches, ring = book.matcher(wanted), book.ring
    pending_wanted = wanted.get("outcome") == "pending"
    behind = _Behind(pending_wanted)

    async def in_the_journal() -> tuple[Entry, Raw] | None:
        async for entry, raw in book.matching(wanted):
            if entry.outcome != "pending" or pending_wanted:
                return entry, raw
        return None

    async def among_the_new() -> tuple[Entry, Raw] | None:
        left = len(behind.entries)
        while left > 0 and (some := behind.next()):
            left -= len(some)
            for sequence, raw in some:
                entry = book.entry(sequence, raw)
                if await book.of_entry(raw, partial(matches, entry)):
                    return entry, raw
                await book.turns.pause()
        if not behind.left_out:
            return None
        behind.left_out = 0
        return await in_the_journal()

    async def come() -> tuple[Entry, Raw]:
        while (found := await among_the_new()) is None:
            if not behind.entries:
                behind.came.clear()
                await behind.came.wait()
        return found

    ring.watchers.append(behind.add)
    try:
        found = await in_the_journal() or await among_the_new()
        return await book.hosted.wait(asyncio.ensure_future(come()), seconds) if found is None else found
    except TimeoutError:
        said = ", ".join(f"{name}={value}" for name, value in wanted.items())
        raise Problem(408, f"no request with {said or 'anything'} was answered within {seconds:g} s") from None
    finally:
        ring.watchers.remove(behind.add)


async def _follow(book: Book, ring: Ring, wanted: dict[str, Any], shape: Shape) -> AsyncIterator[bytes]:
    """Ends with the broker."""
    matches = book.matcher(wanted)
    behind = _Behind()
    ring.watchers.append(behind.add)
    try:
        yield b"\n"  # the reader is told that it has begun
        while not book.hosted.ended:
            if not behind.entries:
                behind.came.clear()
                try:
                    await book.hosted.wait(asyncio.ensure_future(behind.came.wait()), LONGEST_WAIT)
                except TimeoutError:
                    yield b"\n"  # whether somebody still listens
                except Problem:
                    return
            for sequence, raw in behind.next():
                entry = book.entry(sequence, raw)
                if await book.of_entry(raw, partial(matches, entry)):
                    yield await book.of_entry(raw, partial(entry_json, entry, shape)) + b"\n"
                await book.turns.pause()
            if behind.left_out:
                yield as_json({"kind": "left_out", "count": behind.left_out}) + b"\n"
                behind.left_out = 0
            await book.turns.next()
    finally:
        ring.watchers.remove(behind.add)


_SOME: Final = 20
"""Entries that are taken off in one go."""


class _Behind:
    """What a reader who follows, or waits, was not told of yet: that a request is answered, nobody waits for."""

    def __init__(self, pending_too: bool = False) -> None:
        self._pending_too = pending_too
        self.entries: deque[tuple[int, Raw]] = deque()
        self.left_out = 0
        self.came = asyncio.Event()
        self._bytes = 0

    def add(self, sequence: int, raw: Raw) -> None:
        """The ring's: a request was answered, or has come."""
        if raw.outcome is Outcome.PENDING and not self._pending_too:
            return
        if len(self.entries) < _MOST_BEHIND and self._bytes < DEFAULT_BYTES:
            self.entries.append((sequence, raw))
            self._bytes += _size(raw)
        else:
            self.left_out += 1
        self.came.set()

    def next(self) -> list[tuple[int, Raw]]:
        """Some of it, which is told now."""
        part = [self.entries.popleft() for _ in range(min(_SOME, len(self.entries)))]
        self._bytes -= sum(_size(raw) for _, raw in part)
        return part


def _size(raw: Raw) -> int:
    return raw.end - raw.start + reply_size(raw.reply)


def _since(text: str) -> int | datetime:
    """Raises Problem."""
    number = whole_number(text)
    if number is not None and number >= 0:
        return number
    moment = zoned(text)
    if moment is None:
        raise Problem(400, f"since={text!r} is refused: expected a sequence number, or a time with its zone")
    return moment


def _parquet(entries: list[Entry], shape: Shape) -> bytes:
    """Raises Problem."""
    from kafkastub.journal.export import write_parquet

    with tempfile.TemporaryDirectory() as folder:
        try:
            return write_parquet(entries, Path(folder) / "journal.parquet", *shape).read_bytes()
        except ImportError as error:
            raise Problem(501, str(error)) from None
