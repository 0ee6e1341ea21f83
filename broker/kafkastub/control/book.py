"""The journal as the control port reads it: in slices, between which the broker serves.

What is large is decoded in a thread, so that nobody waits for it.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

from kafkastub.control.hosted import Hosted
from kafkastub.control.problems import Problem
from kafkastub.control.threads import OneAtATime
from kafkastub.control.walks import Turns
from kafkastub.journal import Entry, Raw, Ring
from kafkastub.journal.export import json_value, row
from kafkastub.journal.journal import matcher
from kafkastub.journal.ring import reply_size

T = TypeVar("T")

_CHEAP: Final = frozenset({"api", "outcome", "fault", "since", "where"})
"""Filters that decode nothing; `where` is of ours alone here."""
_LARGE: Final = 16 << 10
"""Bytes of a request and its answer from which they are decoded in a thread."""


class Shape(NamedTuple):
    """What of an entry is told beside its columns."""

    frames: bool = False
    messages: bool = False


class Book:
    """The journal of a hosted broker."""

    def __init__(self, hosted: Hosted) -> None:
        self.hosted = hosted
        self.turns = Turns()
        """Of those who read it."""
        self._thread = OneAtATime()

    @property
    def ring(self) -> Ring:
        """Raises Problem."""
        ring = self.hosted.running().observer.ring
        if ring is None:
            raise Problem(404, "this broker keeps no journal: remove journal=False where it is started")
        return ring

    def entry(self, sequence: int, raw: Raw) -> Entry:
        return Entry(sequence, raw, self.ring.wall_offset_ns, self.hosted.running().name_of)

    def matcher(self, wanted: dict[str, Any]) -> Callable[[Entry], bool]:
        """Raises Problem for a filter that nothing can match."""
        try:
            return matcher(wanted)
        except ValueError as error:
            raise Problem(400, str(error)) from None

    async def matching(self, wanted: dict[str, Any], before: int | None = None) -> AsyncIterator[tuple[Entry, Raw]]:
        """The entries as they are now, one after the other; with `before` those below it, newest first.

        Raises Problem.
        """
        matches, decodes = self.matcher(wanted), not _CHEAP.issuperset(wanted)
        since = wanted.get("since")
        walked = self.ring.walk(since if isinstance(since, int) else 0, before)
        await self.turns.next()
        for sequence, raw in walked:
            entry = self.entry(sequence, raw)
            look = partial(matches, entry)
            if await self.of_entry(raw, look) if decodes else look():
                yield entry, raw
            await self.turns.pause()

    async def of_entry(self, raw: Raw, work: Callable[[], T]) -> T:
        """What is found out about an entry by decoding it: here, or in a thread where there is much of it."""
        large = raw.end - raw.start + reply_size(raw.reply) > _LARGE
        return await self.in_a_thread(work) if large else work()

    async def in_a_thread(self, work: Callable[[], T]) -> T:
        """What takes long."""
        return await self._thread.run(work)


def entry_json(entry: Entry, shape: Shape) -> bytes:
    """An entry as JSON: the columns of an export without those not asked for, how long its client is to wait, and
    `text`, a line for people.
    """
    return as_json(entry_values(entry, shape))


def entry_values(entry: Entry, shape: Shape) -> dict[str, Any]:
    """The same by name."""
    values = row(entry, shape.frames, shape.messages)
    for name in (*(() if shape.frames else ("request", "response")), *(() if shape.messages else MESSAGES)):
        del values[name]
    return values | {"throttle_time_ms": entry.throttle_ms, "text": str(entry)}


MESSAGES: Final = ("request_message", "response_message")


def as_json(values: dict[str, Any]) -> bytes:
    """In one line; half of a surrogate pair, which UTF-8 has no form for, is escaped."""
    return json.dumps(values, default=json_value, ensure_ascii=False).encode("utf-8", "backslashreplace")
