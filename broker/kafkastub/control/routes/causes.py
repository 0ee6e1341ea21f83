"""/v1/causes: why a test may have failed, or why its clients wait, in sentences."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, Field

from kafkastub.control.book import Book
from kafkastub.control.endpoints import Endpoints
from kafkastub.control.hosted import Hosted
from kafkastub.control.routes.of_groups import loaded
from kafkastub.control.routes.shapes import Body, example
from kafkastub.control.walks import Walks
from kafkastub.findings.causes import Reader, RequestFacts, find_causes, recent


class CausesQuery(Body):
    """Which part of the journal is read."""

    seconds: float | None = Field(
        None, gt=0, le=1e9, description="seconds: only requests of this last period count, by the machine's clock"
    )


class CauseList(BaseModel):
    """Why clients may wait."""

    model_config = example(
        causes=["Topic 'order' does not exist; shipping asked for it 12 times. Did you mean 'orders'?"]
    )  # fmt: skip

    causes: list[str] = Field(description="at most eight sentences, the most likely cause first")


def routes(hosted: Hosted) -> Endpoints:
    """The endpoint."""
    router = Endpoints(prefix="/causes", tags=["check"])
    walks, book = Walks(), Book(hosted)

    @router.get("", summary="Why clients may wait: what a test that hangs or fails is likely to have missed")
    async def list_causes(query: Annotated[CausesQuery, Query()]) -> CauseList:
        if getattr(hosted.running(), "state", None) is not None:  # a proxy has none
            loaded(hosted)
        since = datetime.min if query.seconds is None else datetime.now(UTC) - timedelta(seconds=query.seconds)
        reader, requests = Reader(), list[RequestFacts]()
        for one, raw in recent(hosted.running(), since.replace(tzinfo=UTC)):
            requests.append(await book.of_entry(raw, partial(reader.read, one)))
            await book.turns.pause()
        return CauseList(causes=[each async for each in walks.through(find_causes(hosted, requests))])

    return router
