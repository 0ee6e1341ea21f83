"""Waits for topics: answers that come when a topic is there, and has the records that a test wants."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Final

from fastapi import Query, Request
from pydantic import BaseModel, Field

from kafkastub.control.connections import Places
from kafkastub.control.endpoints import Endpoints
from kafkastub.control.hosted import Hosted
from kafkastub.control.problems import Problem
from kafkastub.control.routes.shapes import Body, example
from kafkastub.control.threads import OneAtATime
from kafkastub.control.unpacked import MOST_UNPACKED, has
from kafkastub.control.waiting import LONGEST_WAIT, MOST_WAITING, while_there
from kafkastub.state.deferred import Deferred, as_it_is
from kafkastub.views.records import Stretch, decoded, stretch
from kafkawire.errors import KafkaError

if TYPE_CHECKING:
    from kafkastub.metadata import Topic
    from kafkastub.server.broker import Broker

_NEVER: Final = 1 << 62
"""A timer time that does not come."""
_MOST_BYTES: Final = 1 << 20
"""Of batches, as they are stored, that are looked at in one go."""


class WaitQuery(Body):
    """All of what is said has to be so."""

    partitions: int | None = Field(None, ge=1, description="at least this many partitions")
    records: int | None = Field(None, ge=1, description="at least this many records that match `key` and `contains`")
    key: str | None = Field(None, description="with `records`: records with this key")
    contains: str | None = Field(None, description="with `records`: records whose value contains this text")
    isolation: str = Field("read_uncommitted", pattern="^read_(un)?committed$")
    timeout: float = Field(5, ge=0, le=LONGEST_WAIT, allow_inf_nan=False, description="seconds")


class TopicReached(BaseModel):
    """The topic is as requested."""

    model_config = example(topic="orders", partitions=3, records=17)

    topic: str
    partitions: int
    records: int | None = Field(description="number of matching records; null without `records`")


def routes(hosted: Hosted) -> Endpoints:
    """The endpoints."""
    router = Endpoints(prefix="/topics", tags=["topics"])
    waiting = Places(MOST_WAITING, "requests are waiting")
    thread = OneAtATime()

    @router.get(
        "/{name}/wait", summary="Wait until a topic exists, and has a number of partitions or of matching records"
    )
    async def wait(name: str, query: Annotated[WaitQuery, Query()], request: Request) -> TopicReached:
        if query.records is None and (query.key is not None or query.contains is not None):
            raise Problem(400, "key and contains select the records to wait for: give records, their number, too")
        waiting.take(request.state.connection)
        return await while_there(request, _wait(hosted, thread, name, query))

    return router


async def _wait(hosted: Hosted, thread: OneAtATime, name: str, query: WaitQuery) -> TopicReached:
    """Raises Problem."""
    broker = hosted.running()
    seen = _Seen(broker, thread, name, query)
    broker.state.topic_watchers.append(seen.stir)
    loop = asyncio.get_running_loop()
    deadline = loop.time() + query.timeout
    try:
        while (lacks := await seen.look()) is not None:
            try:
                await hosted.wait(asyncio.ensure_future(seen.stirred.wait()), max(deadline - loop.time(), 0))
            except TimeoutError:
                raise Problem(408, f"topic {name!r} {lacks} after {query.timeout:g} s") from None
        return seen.reached()
    finally:
        broker.state.topic_watchers.remove(seen.stir)
        seen.forget()


class _Seen:
    """What was seen of a topic so far: each record is looked at once."""

    def __init__(self, broker: Broker, thread: OneAtATime, name: str, query: WaitQuery) -> None:
        self._broker = broker
        self._thread = thread
        self._name = name
        self._query = query
        self._key = None if query.key is None else query.key.encode()
        self._contains = None if query.contains is None else query.contains.encode()
        self._topic: Topic | None = None
        self._state = broker.state
        self._next: list[int] = []
        """By partition, the offset that is looked at next."""
        self._found = 0
        self._parked: list[Deferred] = []
        self.stirred = asyncio.Event()

    def stir(self) -> None:
        """Something may have changed."""
        self.stirred.set()

    def _appended(self) -> bool:
        self.stirred.set()
        return False

    def forget(self) -> None:
        """Nobody waits any more."""
        for parked in self._parked:
            parked.abandon()
        self._parked.clear()

    def reached(self) -> TopicReached:
        """What it is now."""
        assert self._topic is not None
        found = None if self._query.records is None else self._found
        return TopicReached(topic=self._name, partitions=len(self._topic.partitions), records=found)

    async def look(self) -> str | None:
        """What it lacks, in words. Raises Problem."""
        self.stirred.clear()
        state = self._broker.state
        topic = state.cluster.topic(self._name)
        restored = state is not self._state
        if topic is None or restored or (self._topic is not None and self._topic.topic_id != topic.topic_id):
            self.forget()
            self._topic, self._next, self._found, self._state = None, [], 0, state
        if topic is None:
            return "does not exist"
        self._topic = topic
        wanted, have = self._query.partitions, len(topic.partitions)
        if wanted is not None and have < wanted:
            return f"has {have} partition{'' if have == 1 else 's'}, {wanted} were expected,"
        if self._query.records is None:
            return None
        await self._count(topic)
        if self._found >= self._query.records:
            return None
        which = "" if self._key is None and self._contains is None else " that match"
        return f"has {self._found} records{which}, {self._query.records} were expected,"

    async def _count(self, topic: Topic) -> None:
        purgatory = self._broker.state.fetch_purgatory
        for index in range(len(self._next), len(topic.partitions)):
            self._next.append(0)
            parked = Deferred(as_it_is)
            purgatory.park(parked, [(topic.topic_id, index)], _NEVER, self._appended)
            self._parked.append(parked)
        committed, state = self._query.isolation == "read_committed", self._state
        for index in range(len(self._next)):
            if self._broker.state is not state:  # restored while others were looked at: it begins anew
                return
            try:
                found = stretch(
                    state, self._name, index, self._next[index], committed=committed,
                    most_bytes=_MOST_BYTES,
                )  # fmt: skip
            except KafkaError:  # it has gone while others were looked at
                return
            if not found.batches:
                continue
            self._found += await self._thread.run(lambda found=found: self._matching(found, committed))  # type: ignore[misc]
            self._next[index] = min(found.batches[-1].last_offset + 1, found.end)
            if self._next[index] < found.end:
                self.stirred.set()  # there is more

    def _matching(self, found: Stretch, committed: bool) -> int:
        return sum(
            (self._key is None or record.key == self._key)
            and (self._contains is None or has(record.value or b"", self._contains))
            for record in decoded(found, committed=committed, most=MOST_UNPACKED)
        )
