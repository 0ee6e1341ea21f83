"""/v1/snapshots: the broker's state kept and put back: what `stub.snapshot()` is in Python (docs/without-sleeps.md)."""

from __future__ import annotations

import asyncio
import io
from itertools import count
from typing import Annotated, Final

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field, StringConstraints

from kafkastub.control.hosted import Hosted
from kafkastub.control.problems import Problem
from kafkastub.control.routes.shapes import Body, body_example, example, iso
from kafkastub.control.threads import OneAtATime
from kafkastub.server.node_listener import ListenError
from kafkastub.state.snapshots.saved import SavedState, SavedUserTopic, SnapshotError
from kafkastub.storage.errors import DataDirError

MOST_KEPT: Final = 16
"""Snapshots that one broker keeps for those who ask over HTTP."""
_BINARY: Final = "application/octet-stream"

Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,100}$")]


class NewSnapshot(Body):
    """What it is to be called."""

    model_config = body_example(id="seed")

    id: Id | None = Field(None, description="letters, digits, `.`, `_`, `-`; snapshot-1, snapshot-2 … without")


class SnapshotInfo(BaseModel):
    """A snapshot."""

    model_config = example(id="seed", now="2026-03-01T12:00:00.123Z", topics={"orders": 3}, records=4711)

    id: str
    now: str = Field(description="broker time when it was taken")
    topics: dict[str, int] = Field(description="those that are not internal, with the numbers of their partitions")
    records: int = Field(description="that they have")


class SnapshotList(BaseModel):
    """All that are kept, the oldest first."""

    snapshots: list[SnapshotInfo]


class Gone(BaseModel):
    """What is kept no more."""

    model_config = example(deleted="seed")

    deleted: str


def routes(hosted: Hosted) -> APIRouter:
    """The endpoints."""
    router = APIRouter(prefix="/snapshots", tags=["snapshots"])
    _add_all(router, hosted)
    _add_one(router, hosted)
    _add_files(router, hosted)
    return router


def _add_all(router: APIRouter, hosted: Hosted) -> None:
    @router.get("", summary="The snapshots that are kept")
    async def list_snapshots() -> SnapshotList:
        return SnapshotList(snapshots=[_info(each, saved) for each, saved in hosted.snapshots.items()])

    @router.post("", status_code=201, summary="Keep the broker's state as it is now")
    async def take(body: NewSnapshot | None = None) -> SnapshotInfo:
        wanted = _free(hosted, None if body is None else body.id)
        try:
            saved = hosted.call(hosted.running().snapshot)
        except SnapshotError as error:
            raise Problem(409, str(error)) from None
        hosted.snapshots[wanted] = saved
        return _info(wanted, saved)


def _add_one(router: APIRouter, hosted: Hosted) -> None:
    @router.get("/{snapshot_id}", summary="One snapshot")
    async def show(snapshot_id: str) -> SnapshotInfo:
        return _info(snapshot_id, _found(hosted, snapshot_id))

    @router.delete("/{snapshot_id}", summary="Keep it no more")
    async def delete(snapshot_id: str) -> Gone:
        _found(hosted, snapshot_id)
        del hosted.snapshots[snapshot_id]
        return Gone(deleted=snapshot_id)

    @router.post("/{snapshot_id}/restore", summary="Be what it was taken of; clients are disconnected and come back")
    async def restore(snapshot_id: str) -> SnapshotInfo:
        saved = _found(hosted, snapshot_id)
        try:
            await hosted.restore(saved)
        except SnapshotError as error:
            raise Problem(409, str(error)) from None
        except (ListenError, DataDirError) as error:
            raise Problem(503, f"the snapshot cannot be restored: {error}") from None
        return _info(snapshot_id, saved)


def _add_files(router: APIRouter, hosted: Hosted) -> None:
    threads, reading = OneAtATime(), asyncio.Lock()

    @router.get(
        "/{snapshot_id}/file",
        summary="It as a file, for `kafkastub serve --snapshot`",
        response_class=Response,
        responses={200: {"content": {_BINARY: {}}}},
    )
    async def download(snapshot_id: str) -> Response:
        from kafkastub.state.snapshots.files import write

        saved = _found(hosted, snapshot_id)

        def written() -> bytes:
            content = io.BytesIO()
            write(saved, content)
            return content.getvalue()

        try:
            return Response(await threads.run(written), media_type=_BINARY)
        except SnapshotError as error:
            raise Problem(409, str(error)) from None

    @router.put(
        "/{snapshot_id}/file",
        status_code=201,
        summary="Keep what such a file has",
        openapi_extra={"requestBody": {"required": True, "content": {_BINARY: {}}}},
    )
    async def upload(snapshot_id: Id, request: Request) -> SnapshotInfo:
        from kafkastub.state.snapshots.files import read

        config = hosted.running().config
        if reading.locked():
            raise Problem(409, "another file is being read: one at a time")
        async with reading:
            _free(hosted, snapshot_id)
            content = io.BytesIO(await request.body())
            try:
                saved = await threads.run(lambda: read(content, "the file", config))
            except SnapshotError as error:
                raise Problem(400, str(error)) from None
            hosted.snapshots[_free(hosted, snapshot_id)] = saved
        return _info(snapshot_id, saved)


def _free(hosted: Hosted, wanted: str | None) -> str:
    """A name that no snapshot has. Raises Problem."""
    if len(hosted.snapshots) >= MOST_KEPT:
        raise Problem(409, f"{MOST_KEPT} snapshots are kept, which are the most: delete one")
    if wanted is None:
        return next(name for number in count(1) if (name := f"snapshot-{number}") not in hosted.snapshots)
    if wanted in hosted.snapshots:
        raise Problem(409, f"there is a snapshot {wanted!r} already: delete it, or take another name")
    return wanted


def _found(hosted: Hosted, snapshot_id: str) -> SavedState:
    """Raises Problem."""
    saved = hosted.snapshots.get(snapshot_id)
    if saved is None:
        raise Problem(404, f"there is no snapshot {snapshot_id[:100]!r}")
    return saved


def _info(snapshot_id: str, saved: SavedState) -> SnapshotInfo:
    users = [one for one in saved.topics if isinstance(one, SavedUserTopic)]
    return SnapshotInfo(
        id=snapshot_id,
        now=iso(saved.broker_ms),
        topics={one.topic.name: len(one.topic.partitions) for one in users},
        records=sum(log.log_end_offset - log.log_start_offset for one in users for log in one.logs),
    )
