"""/v1/snapshots: the broker's state kept and put back: what `stub.snapshot()` is in Python (docs/without-sleeps.md)."""

from __future__ import annotations

import asyncio
import io
from functools import partial
from itertools import count
from typing import Annotated, Final

from fastapi import Request, Response
from pydantic import BaseModel, Field, StringConstraints

from kafkastub.control.endpoints import Endpoints
from kafkastub.control.hosted import Hosted
from kafkastub.control.problems import Problem
from kafkastub.control.routes.shapes import Body, body_example, example, iso
from kafkastub.control.threads import OneAtATime
from kafkastub.server.node_listener import ListenError
from kafkastub.state.snapshots.holding import OF_BATCH, Limit, held
from kafkastub.state.snapshots.saved import SavedState, SavedUserTopic, SnapshotError
from kafkastub.storage.errors import DataDirError

MOST_KEPT: Final = 16
"""Snapshots that one broker keeps for those who ask over HTTP."""
ALL: Final = "kafkastub.snapshots.bytes"
ONE: Final = "kafkastub.snapshot.file.bytes"
_BINARY: Final = "application/octet-stream"

Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,100}$")]


class NewSnapshot(Body):
    """The id of the new snapshot."""

    model_config = body_example(id="seed")

    id: Id | None = Field(
        None, description="letters, digits, `.`, `_`, `-`; by default snapshot-1, snapshot-2 and so on"
    )


class SnapshotInfo(BaseModel):
    """A snapshot."""

    model_config = example(id="seed", now="2026-03-01T12:00:00.123Z", topics={"orders": 3}, records=4711)

    id: str
    now: str = Field(description="broker time at which it was taken")
    topics: dict[str, int] = Field(description="topics that are not internal, with their numbers of partitions")
    records: int = Field(description="number of their records")


class SnapshotList(BaseModel):
    """All snapshots, the oldest first."""

    snapshots: list[SnapshotInfo]


class DeletedSnapshot(BaseModel):
    """The snapshot that was deleted."""

    model_config = example(deleted="seed")

    deleted: str


def routes(hosted: Hosted) -> Endpoints:
    """The endpoints."""
    router = Endpoints(prefix="/snapshots", tags=["snapshots"])
    threads = OneAtATime()
    _add_all(router, hosted, threads)
    _add_one(router, hosted)
    _add_files(router, hosted, threads)
    return router


def _add_all(router: Endpoints, hosted: Hosted, threads: OneAtATime) -> None:
    @router.get("", summary="List the snapshots")
    async def list_snapshots() -> SnapshotList:
        return SnapshotList(snapshots=[_info(each, saved) for each, saved in hosted.snapshots.items()])

    @router.post("", status_code=201, summary="Take a snapshot of the broker's state")
    async def take(body: NewSnapshot | None = None) -> SnapshotInfo:
        wanted = None if body is None else body.id
        _free(hosted, wanted)
        try:
            ahead = await hosted.running().copied_ahead()
            saved = hosted.call(partial(hosted.running().snapshot, ahead))
        except SnapshotError as error:
            raise Problem(409, str(error)) from None
        return _info(await _Kept(hosted).keep(threads, wanted, saved), saved)


def _add_one(router: Endpoints, hosted: Hosted) -> None:
    @router.get("/{snapshot_id}", summary="Return a snapshot")
    async def show(snapshot_id: str) -> SnapshotInfo:
        return _info(snapshot_id, _found(hosted, snapshot_id))

    @router.delete("/{snapshot_id}", summary="Delete a snapshot")
    async def delete(snapshot_id: str) -> DeletedSnapshot:
        _found(hosted, snapshot_id)
        del hosted.snapshots[snapshot_id]
        return DeletedSnapshot(deleted=snapshot_id)

    @router.post("/{snapshot_id}/restore", summary="Restore a snapshot; clients are disconnected and reconnect")
    async def restore(snapshot_id: str) -> SnapshotInfo:
        saved = _found(hosted, snapshot_id)
        try:
            await hosted.restore(saved)
        except SnapshotError as error:
            raise Problem(409, str(error)) from None
        except (ListenError, DataDirError) as error:
            raise Problem(503, f"the snapshot cannot be restored: {error}") from None
        return _info(snapshot_id, saved)


def _add_files(router: Endpoints, hosted: Hosted, threads: OneAtATime) -> None:
    reading = asyncio.Lock()

    @router.get(
        "/{snapshot_id}/file",
        summary="Download a snapshot as a file, for `kafkastub serve --snapshot`",
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
        summary="Upload such a file as a snapshot",
        openapi_extra={"requestBody": {"required": True, "content": {_BINARY: {}}}},
    )
    async def upload(snapshot_id: Id, request: Request) -> SnapshotInfo:
        from kafkastub.state.snapshots.files import read

        config = hosted.running().config
        if reading.locked():
            raise Problem(409, "another file is being read: one at a time")
        async with reading:
            _free(hosted, snapshot_id)
            kept = _Kept(hosted)
            limit = kept.left(await kept.size(threads))
            content = await _received(request, limit)
            try:
                saved = await threads.run(lambda: read(content, "the file", config, limit))
            except SnapshotError as error:
                raise Problem(400, str(error)) from None
            finally:
                content.close()
            return _info(await kept.keep(threads, snapshot_id, saved), saved)


async def _received(request: Request, limit: Limit) -> io.BytesIO:
    """The body, which is there once. Raises Problem as soon as it is larger than anything may be that it becomes."""
    content, size = io.BytesIO(), 0
    async for piece in request.stream():
        size += content.write(piece)
        if size > limit.most:
            raise Problem(413, f"the file has more than {limit.most} bytes, which are the most ({limit.named})")
    return content


class _Kept:
    """What is kept, measured by the configuration."""

    def __init__(self, hosted: Hosted) -> None:
        config = hosted.running().config
        self._hosted = hosted
        self.most: int = config[ALL]
        self._of_file: int = config[ONE]

    async def size(self, threads: OneAtATime, *more: SavedState) -> int:
        """Bytes that it holds, with others that are to be kept."""
        states = [*self._hosted.snapshots.values(), *more]
        return await threads.run(lambda: held(states, self.most)) if states else 0

    async def keep(self, threads: OneAtATime, wanted: str | None, saved: SavedState) -> str:
        """Keep one more, where there is room; gives its name. Raises Problem."""
        before: list[SavedState] | None = None
        while before is None or len(before) != len(self._hosted.snapshots):  # others came or went meanwhile
            before = list(self._hosted.snapshots.values())
            if await self.size(threads, saved) > self.most:
                raise self._full()
        name = _free(self._hosted, wanted)
        self._hosted.snapshots[name] = saved
        return name

    def left(self, size: int) -> Limit:
        """What a file may become beside it. Raises Problem where that is nothing."""
        left = self.most - size
        if left <= 0:
            raise self._full()
        if self._of_file <= left:
            return Limit(self._of_file, f"{ONE}: give the broker more", OF_BATCH)
        return Limit(left, f"what is left of {ALL}={self.most}: delete a snapshot, or give the broker more", OF_BATCH)

    def _full(self) -> Problem:
        return Problem(409, f"snapshots hold {self.most} bytes at most ({ALL}): delete one, or give the broker more")


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
        records=sum(log.log_end_offset - log.log_start_offset for one in users for log in one.logs.made.values()),
    )
