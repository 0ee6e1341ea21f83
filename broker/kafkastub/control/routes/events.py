"""/v1/events: what has changed, as server-sent events: a page asks again for what it shows, and for nothing else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Annotated, Final

from fastapi import Query, Request
from fastapi.responses import StreamingResponse
from pydantic import Field

from kafkastub.control.connections import Places
from kafkastub.control.endpoints import Endpoints
from kafkastub.control.hosted import Hosted
from kafkastub.control.page.versions import SUBJECTS, Versions
from kafkastub.control.problems import Problem
from kafkastub.control.routes.shapes import Body

MOST_STREAMS: Final = 32
_SIGN_OF_LIFE_SECONDS: Final = 15.0
_EXAMPLE: Final = 'event: changed\ndata: {"subjects":["groups","topics"]}\n\n'


class EventsQuery(Body):
    """Of what."""

    subjects: str = Field(
        max_length=1000,
        description=f"names with commas between them, of {', '.join(SUBJECTS)}",
        examples=["topics,groups"],
    )

    def named(self) -> list[str]:
        """Raises Problem."""
        named = sorted({each.strip() for each in self.subjects.split(",") if each.strip()})
        unknown = [each for each in named if each not in SUBJECTS]
        if unknown or not named:
            what = f"{unknown[0]!r} is none of" if unknown else "name at least one of"
            raise Problem(400, f"subjects={self.subjects!r} is refused: {what} {', '.join(SUBJECTS)}")
        return named


def routes(hosted: Hosted) -> Endpoints:
    """The endpoint."""
    router = Endpoints(tags=["page"])
    versions = Versions(hosted, hosted.looks)
    streams = Places(MOST_STREAMS, "pages are kept up to date")

    @router.get(
        "/events",
        summary="Stream the subjects that have changed, as server-sent events, at most four times a second",
        response_class=StreamingResponse,
        responses={200: {"content": {"text/event-stream": {"example": _EXAMPLE}}}},
    )
    async def events(query: Annotated[EventsQuery, Query()], request: Request) -> StreamingResponse:
        subjects = query.named()
        streams.take(request.state.connection)
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        return StreamingResponse(_told(hosted, versions, subjects), media_type="text/event-stream", headers=headers)

    return router


async def _told(hosted: Hosted, versions: Versions, subjects: list[str]) -> AsyncIterator[str]:
    """Ends with the broker. Of what happens while the reader does not read, it is told the last state alone."""
    versions.begin(subjects)
    known = versions.numbers(subjects)
    try:
        yield "retry: 1000\n\n"  # the reader is told that it has begun
        while not hosted.ended:
            moved = versions.moved()
            now = versions.numbers(subjects)
            changed = [subject for subject in subjects if now[subject] != known[subject]]
            known = now
            if changed:
                yield f"event: changed\ndata: {json.dumps({'subjects': changed}, separators=(',', ':'))}\n\n"
                continue
            try:
                await hosted.wait(asyncio.ensure_future(moved.wait()), _SIGN_OF_LIFE_SECONDS)
            except TimeoutError:
                yield ":\n\n"  # whether somebody still listens
            except Problem:
                return
    finally:
        versions.end(subjects)
