"""/v1/journal/wait-quiet: an answer that comes when nobody asks for anything any more."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import Query, Request
from pydantic import BaseModel, Field

from kafkastub.control.book import Book
from kafkastub.control.connections import Places
from kafkastub.control.endpoints import Endpoints
from kafkastub.control.hosted import Hosted
from kafkastub.control.problems import Problem
from kafkastub.control.routes.shapes import Body, example
from kafkastub.control.waiting import LONGEST_WAIT, MOST_WAITING, while_there
from kafkastub.journal import Raw
from kafkastub.journal.quiet import POLLS, counts, ignored_keys


class QuietQuery(Body):
    """How long, and what does not count."""

    seconds: float = Field(
        0.2, ge=0, le=LONGEST_WAIT, allow_inf_nan=False, description="seconds, by the machine's clock"
    )
    ignoring: list[str] = Field(list(POLLS), description="names of APIs to ignore", max_length=100)
    timeout: float = Field(5, ge=0, le=LONGEST_WAIT, allow_inf_nan=False, description="seconds")


class Quiet(BaseModel):
    """The broker has been quiet."""

    model_config = example(seconds=0.2)

    seconds: float = Field(description="seconds without requests")


def routes(hosted: Hosted) -> Endpoints:
    """The endpoints."""
    router = Endpoints(prefix="/journal", tags=["journal"])
    book = Book(hosted)
    waiting = Places(MOST_WAITING, "requests are waiting")

    @router.get(
        "/wait-quiet", summary="Wait until clients have sent nothing for a while, except what they send all the time"
    )
    async def wait_quiet(query: Annotated[QuietQuery, Query()], request: Request) -> Quiet:
        waiting.take(request.state.connection)
        return await while_there(request, _wait_quiet(book, query))

    return router


async def _wait_quiet(book: Book, query: QuietQuery) -> Quiet:
    """Raises Problem."""
    try:
        ignored = ignored_keys(query.ignoring)
    except ValueError as error:
        raise Problem(400, str(error)) from None
    ring, stirred = book.ring, asyncio.Event()
    last: list[tuple[int, Raw]] = []

    def look(sequence: int, raw: Raw) -> None:
        if counts(raw, ignored):
            last[:] = [(sequence, raw)]
            stirred.set()

    loop = asyncio.get_running_loop()
    deadline = loop.time() + query.timeout
    ring.watchers.append(look)
    try:
        left = query.seconds - ring.quiet_for(lambda raw: counts(raw, ignored))
        while left > 0:
            patience = deadline - loop.time()
            try:
                await book.hosted.wait(asyncio.ensure_future(stirred.wait()), max(min(left, patience), 0))
            except TimeoutError:
                if patience >= left:
                    break
                said = f"it was not quiet for {query.seconds:g} s within {query.timeout:g} s"
                asked = "; the last request was " + " ".join(str(book.entry(*last[0])).split()) if last else ""
                raise Problem(408, said + asked) from None
            stirred.clear()
            left = query.seconds
    finally:
        ring.watchers.remove(look)
    return Quiet(seconds=query.seconds)
