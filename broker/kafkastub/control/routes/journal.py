"""/v1/journal: every request and answer, as `stub.journal` has them (docs/journal.md).

Looking through the journal is done in slices, between which the broker serves.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from kafkastub.control.hosted import Hosted
from kafkastub.control.problems import Problem
from kafkastub.control.routes.shapes import Body, Limit, example
from kafkastub.journal import Entry, Outcome, Raw, Ring
from kafkastub.journal.export import json_value, row
from kafkastub.journal.journal import matcher

T = TypeVar("T")

LONGEST_WAIT: Final = 60
"""Seconds."""
_SLICE: Final = 50
"""Entries that are decoded in one go: a few milliseconds."""
_MOST_EXPORTS: Final = 4
_MOST_BEHIND: Final = 10_000
"""Entries that wait for a reader who follows and is slow; then some are left out."""

_EXAMPLE = {
    "schema_version": 1, "sequence": 17, "kind": "request", "broker_time": "2026-03-01T12:00:00.123000+00:00",
    "wall_time": "2026-03-01T12:00:00.123456+00:00", "duration_us": 180, "connection_id": 3,
    "peer": "127.0.0.1:50512", "listener": "PLAINTEXT", "node_id": 1, "principal": "User:ANONYMOUS",
    "client_id": "shipping-1", "software_name": "librdkafka", "software_version": "2.8.0", "api_key": 8,
    "api": "OffsetCommit", "api_version": 9, "correlation_id": 12, "groups": ["shipping"], "topics": ["orders"],
    "partitions": [{"topic": "orders", "partition": 0}], "errors": [{"code": 0, "name": "NONE", "count": 1}],
    "outcome": "reply", "fault": None, "text": "    17 12:00:00.123 shipping-1 OffsetCommit v9 group shipping …",
}  # fmt: skip


class Filters(Body):
    """Which entries: those that match everything that is given."""

    api: str | None = Field(None, description="an API's name, OffsetCommit")
    group: str | None = Field(None, description="named by the request")
    topic: str | None = Field(None, description="named by the request")
    client_id: str | None = None
    error: str | None = Field(None, description="an error in the answer, NOT_COORDINATOR or its number")
    outcome: str | None = Field(None, description="reply, pending, no_reply, closed, refused or dropped")
    fault: str | None = Field(None, description="the id of the fault that fired")
    since: str | None = Field(None, description="a sequence number, or broker time in ISO 8601 with a time zone")

    def wanted(self) -> dict[str, Any]:
        """The keywords of `Journal.requests`. Raises Problem."""
        said: dict[str, Any] = {name: getattr(self, name) for name in Filters.model_fields}
        said = {name: value for name, value in said.items() if value is not None}
        if (error := said.get("error", "")).lstrip("-").isdecimal():
            said["error"] = int(error)
        if "since" in said:
            said["since"] = _since(said["since"])
        return said


class ListQuery(Filters):
    """Which, and how many."""

    limit: Limit = 100


class WaitQuery(Filters):
    """Which, and how long."""

    timeout: float = Field(5, ge=0, le=LONGEST_WAIT, allow_inf_nan=False, description="seconds")


class ExportQuery(Filters):
    """Which, and how."""

    format: Literal["jsonl", "parquet"] = "jsonl"
    frames: bool = Field(False, description="whether with the raw bytes, in base64 in JSON lines")


class Page(BaseModel):
    """Entries, oldest first."""

    model_config = example(entries=[_EXAMPLE], next=18, total=18, first=0)

    entries: list[dict[str, Any]]
    next: int = Field(description="`since` for what comes after these")
    total: int = Field(description="how many entries there ever were: the sequence number of the next one")
    first: int = Field(description="the oldest that is still kept")


class Found(BaseModel):
    """The entry that was waited for."""

    model_config = example(entry=_EXAMPLE)

    entry: dict[str, Any]


class Cleared(BaseModel):
    """How many entries are gone."""

    removed: int


class _Book:
    """The journal of a hosted broker, read in slices."""

    def __init__(self, hosted: Hosted) -> None:
        self.hosted = hosted
        self.exporting = 0

    @contextmanager
    def export(self) -> Iterator[None]:
        """An export is under way, and holds what is in the journal as it begins."""
        self.exporting += 1
        try:
            yield
        finally:
            self.exporting -= 1

    @property
    def ring(self) -> Ring:
        """Raises Problem."""
        ring = self.hosted.running().observer.ring
        if ring is None:
            raise Problem(404, "this broker keeps no journal: leave journal=False out where it is started")
        return ring

    def entry(self, sequence: int, raw: Raw) -> Entry:
        cluster = self.hosted.running().state.cluster
        return Entry(sequence, raw, self.ring.wall_offset_ns, cluster.name_of)

    def matcher(self, wanted: dict[str, Any]) -> Callable[[Entry], bool]:
        """Raises Problem for a filter that nothing can match."""
        try:
            return matcher(wanted)
        except ValueError as error:
            raise Problem(400, str(error)) from None

    async def matching(self, wanted: dict[str, Any], newest_first: bool = False) -> AsyncIterator[Entry]:
        """The entries as they are now, one after the other. Raises Problem."""
        matches = self.matcher(wanted)
        since = wanted.get("since")
        numbered: Iterable[tuple[int, Raw]] = self.ring.numbered(since if isinstance(since, int) else 0)
        if newest_first:
            numbered = reversed(list(numbered))
        for number, each in enumerate(numbered, 1):
            entry = self.entry(*each)
            if matches(entry):
                yield entry
            if not number % _SLICE:
                await asyncio.sleep(0)


def routes(hosted: Hosted) -> APIRouter:
    """The endpoints."""
    router = APIRouter(prefix="/journal", tags=["journal"])
    book = _Book(hosted)

    @router.get("", summary="Entries: the newest, or with `since` the oldest from there on")
    async def query(query: Annotated[ListQuery, Query()]) -> Page:
        wanted, ring = query.wanted(), book.ring
        newest, total = "since" not in wanted, ring.total
        entries: list[Entry] = []
        async for entry in book.matching(wanted, newest):
            entries.append(entry)
            if len(entries) == query.limit:
                break
        entries.sort(key=lambda entry: entry.sequence)
        full = len(entries) == query.limit and not newest
        following = entries[-1].sequence + 1 if full else total
        return Page(entries=[_shown(entry) for entry in entries], next=following, total=ring.total, first=ring.first)

    @router.get("/wait", summary="The first answered request that matches, once it is there; 408 if it is not in time")
    async def wait(query: Annotated[WaitQuery, Query()]) -> Found:
        return Found(entry=_shown(await _wait(book, query.wanted(), query.timeout)))

    @router.get(
        "/follow",
        summary="Entries from now on, one JSON object a line, each when it is answered; ends when the reader goes",
        response_class=StreamingResponse,
        responses={200: {"content": {"application/x-ndjson": {"example": _EXAMPLE}}}},
    )
    async def follow(query: Annotated[Filters, Query()]) -> StreamingResponse:
        wanted = query.wanted()
        book.matcher(wanted)
        return StreamingResponse(_follow(book, book.ring, wanted), media_type="application/x-ndjson")

    @router.delete("", summary="Forget what is there; sequence numbers go on")
    async def clear() -> Cleared:
        ring = book.ring
        gone = len(ring)
        ring.clear()
        return Cleared(removed=gone)

    @router.get(
        "/export",
        summary="All entries as a file, of the schema of docs/journal.md",
        response_class=Response,
        responses={200: {"content": {"application/x-ndjson": {}, "application/vnd.apache.parquet": {}}}},
    )
    async def export(query: Annotated[ExportQuery, Query()]) -> Response:
        wanted = query.wanted()
        book.matcher(wanted)
        _ = book.ring  # refused here, before the answer has begun
        if book.exporting >= _MOST_EXPORTS:
            raise Problem(429, f"{_MOST_EXPORTS} exports are under way already: let one of them end")
        if query.format == "jsonl":
            return StreamingResponse(_export(book, wanted, query.frames), media_type="application/x-ndjson")
        with book.export():
            entries = [entry async for entry in book.matching(wanted)]
            content = await _in_a_thread(lambda: _parquet(entries, query.frames))
        return Response(content, media_type="application/vnd.apache.parquet")

    return router


async def _export(book: _Book, wanted: dict[str, Any], frames: bool) -> AsyncIterator[str]:
    with book.export():
        async for entry in book.matching(wanted):
            yield _line(row(entry, frames))


async def _wait(book: _Book, wanted: dict[str, Any], seconds: float) -> Entry:
    """Raises Problem."""
    matches, ring = book.matcher(wanted), book.ring
    pending_wanted = wanted.get("outcome") == "pending"
    found: asyncio.Future[Entry] = asyncio.get_running_loop().create_future()

    def look(sequence: int, raw: Raw) -> None:
        if not found.done() and (raw.outcome is not Outcome.PENDING or pending_wanted):
            entry = book.entry(sequence, raw)
            if matches(entry):
                found.set_result(entry)

    ring.watchers.append(look)
    try:
        async for entry in book.matching(wanted):
            if entry.outcome != "pending" or pending_wanted:
                return entry
            if found.done():
                break
        return await book.hosted.wait(found, seconds)
    except TimeoutError:
        said = ", ".join(f"{name}={value}" for name, value in wanted.items())
        raise Problem(408, f"no request with {said or 'anything'} was answered within {seconds:g} s") from None
    finally:
        ring.watchers.remove(look)


async def _follow(book: _Book, ring: Ring, wanted: dict[str, Any]) -> AsyncIterator[str]:
    """Ends with the broker."""
    matches = book.matcher(wanted)
    behind: list[tuple[int, Raw]] = []
    left_out = 0
    came = asyncio.Event()

    def look(sequence: int, raw: Raw) -> None:
        nonlocal left_out
        if raw.outcome is Outcome.PENDING:
            return
        if len(behind) < _MOST_BEHIND:
            behind.append((sequence, raw))
        else:
            left_out += 1
        came.set()

    ring.watchers.append(look)
    try:
        yield "\n"  # the reader is told that it has begun
        while not book.hosted.ended:
            if not behind:
                came.clear()
                try:
                    await book.hosted.wait(asyncio.ensure_future(came.wait()), LONGEST_WAIT)
                except TimeoutError:
                    yield "\n"  # whether somebody still listens
                except Problem:
                    return
            part = behind[:_SLICE]
            del behind[:_SLICE]
            for each in part:
                entry = book.entry(*each)
                if matches(entry):
                    yield _line(_shown(entry))
            if left_out:
                yield _line({"kind": "left_out", "count": left_out})
                left_out = 0
            await asyncio.sleep(0)
    finally:
        ring.watchers.remove(look)


def _shown(entry: Entry) -> dict[str, Any]:
    """An entry as JSON has it: the columns of an export without the frames, and `text`, a line for people."""
    values = row(entry, False)
    del values["request"], values["response"]
    shown: dict[str, Any] = json.loads(json.dumps(values, default=json_value))
    return shown | {"text": str(entry)}


def _line(values: dict[str, Any]) -> str:
    return json.dumps(values, default=json_value, ensure_ascii=False) + "\n"


def _since(text: str) -> int | datetime:
    """Raises Problem."""
    if text.isascii() and text.isdigit():
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise Problem(400, f"since={text!r} is refused: a sequence number is wanted, or a time with its zone")
    return moment


def _parquet(entries: list[Entry], frames: bool) -> bytes:
    """Raises Problem."""
    from kafkastub.journal.export import write_parquet

    with tempfile.TemporaryDirectory() as folder:
        try:
            return write_parquet(entries, Path(folder) / "journal.parquet", frames=frames).read_bytes()
        except ImportError as error:
            raise Problem(501, str(error)) from None


async def _in_a_thread(work: Callable[[], T]) -> T:
    """Run what takes long in a thread that ends with it."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def run() -> None:
        try:
            value = work()
        except BaseException as error:
            tell, said = done.set_exception, error
            _tell(loop, done, lambda: tell(said))
        else:
            _tell(loop, done, lambda: done.set_result(value))

    threading.Thread(target=run, name="kafkastub-export", daemon=True).start()
    return await done


def _tell(loop: asyncio.AbstractEventLoop, done: asyncio.Future[Any], tell: Callable[[], None]) -> None:
    try:
        loop.call_soon_threadsafe(lambda: None if done.done() else tell())
    except RuntimeError:  # the broker has ended
        return
