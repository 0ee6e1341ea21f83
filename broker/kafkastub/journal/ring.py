"""The ring that the server writes to: each request as it came, undecoded, up to a number of entries and of bytes."""

from __future__ import annotations

import struct
import time
from collections import deque
from collections.abc import Callable, Iterator
from enum import IntEnum
from typing import Any, Final, NamedTuple

DEFAULT_ENTRIES: Final = 10_000
DEFAULT_BYTES: Final = 8 << 20

Reply = bytes | memoryview | tuple[bytes | memoryview, ...]
"""A frame as it was sent, with its size; in pieces where it is long."""


class Outcome(IntEnum):
    """What became of a request."""

    REPLY = 0
    PENDING = 1
    """No answer yet: it is parked, or delayed by a fault."""
    NO_REPLY = 2
    """The protocol has none (Produce with acks=0)."""
    CLOSED = 3
    """The broker closed the connection, as Kafka does."""
    REFUSED = 4
    """No request that could be served: unknown API or version, or malformed. The connection ends."""
    DROPPED = 5
    """A fault took the answer or a part of it, or the client was gone before it came."""
    CLOCK = 6
    """No request: the broker's clock was moved by hand. `data` says how: one of `CLOCK_MOVES`."""


CLOCK_MOVES: Final = ("freeze", "unfreeze", "set", "advance", "advance timers")
"""What can be done to the clock. "set" goes back, on a stub that is blank; "advance timers" ages members as well."""


class Raw(NamedTuple):
    """An entry as it is read. It is kept as a list of the same order, for its end may come later, or in a `Run`."""

    data: bytes
    """What was read from the socket: more requests may stand in it."""
    start: int
    end: int
    """Where in it the request's frame lies, without its size."""
    reply: Reply | None
    connection: Any
    """A ConnectionInfo; None for a move of the clock."""
    broker_ms: int
    started: int
    """By `time.perf_counter_ns`, as `ended` is, which is None while there is no end."""
    ended: int | None
    outcome: Outcome
    fault: str | None
    """The fault that fired."""

    @property
    def frame(self) -> bytes:
        """The request without its size."""
        return self.data[self.start : self.end]

    @property
    def reply_frame(self) -> bytes | None:
        """The answer with its size."""
        if self.reply is None:
            return None
        return b"".join(self.reply) if isinstance(self.reply, tuple) else bytes(self.reply)


class Run(NamedTuple):
    """Requests of one connection that were read, answered and sent together, one reply each: nearly all requests.

    Taken apart when somebody looks. The server makes plain tuples of this form, which is what costs least.
    """

    data: bytes
    first: int
    last: int
    """The part of it that holds the frames, with their sizes."""
    replies: list[bytes | memoryview]
    """One buffer each; the last reply may be in pieces."""
    connection: Any
    broker_ms: int
    started: int
    ended: int
    requests: int

    def entries(self) -> Iterator[Raw]:
        """One by one."""
        position = self.first
        for number in range(self.requests):
            start = position + 4
            end = start + _size(self.data, position)[0]
            reply: Reply = self.replies[number]
            if number == self.requests - 1 and len(self.replies) > self.requests:
                reply = tuple(self.replies[number:])
            yield Raw(
                self.data, start, end, reply, self.connection, self.broker_ms, self.started, self.ended,
                Outcome.REPLY, None,
            )  # fmt: skip
            position = end


Watcher = Callable[[int, Raw], None]


class Ring:
    """Bounded by `entries` and `bytes`; the oldest go first. Written by the server's thread alone."""

    def __init__(self, entries: int, bytes: int) -> None:
        """Raises ValueError for a limit below 1."""
        if entries < 1 or bytes < 1:
            raise ValueError(f"a journal of {entries} entries and {bytes} bytes: at least 1 of each is wanted")
        self.most_entries = entries
        self.most_bytes = bytes
        self._kept: deque[Any] = deque()
        """Lists like `Raw` and tuples like `Run`."""
        self._count = 0
        self._bytes = 0
        self.total = 0
        """Entries ever added: the sequence number of the next one."""
        self.watchers: list[Watcher] = []
        """Called with (sequence, entry) for each new one, and again when the end of a pending one has come."""
        self.wall_offset_ns = time.time_ns() - time.perf_counter_ns()
        """From `perf_counter_ns` to Unix nanoseconds."""

    def __len__(self) -> int:
        return self._count

    def add(self, raw: list[Any]) -> None:
        """Append a list like `Raw`; what it pushes out is gone."""
        self._kept.append(raw)
        self._count += 1
        self.total += 1
        self._bytes += raw[2] - raw[1] + reply_size(raw[3])
        if self._count > self.most_entries or self._bytes > self.most_bytes:
            self._shrink()
        if self.watchers:
            self._tell(self.total - 1, Raw(*raw))

    def add_run(self, run: Any, size: int) -> None:
        """Append a tuple like `Run` whose requests and replies have `size` bytes."""
        count = run[8]
        if self.watchers or (count > 1 and (count * 8 > self.most_entries or size * 8 > self.most_bytes)):
            for raw in Run(*run).entries():
                self.add(list(raw))
            return
        self._kept.append(run)
        self._count += count
        self.total += count
        self._bytes += size
        if self._count > self.most_entries or self._bytes > self.most_bytes:
            self._shrink()

    def complete(self, sequence: int, raw: list[Any]) -> None:
        """The end of the pending entry `sequence` has come, and was written into its list."""
        if sequence >= self.first:
            self._bytes += reply_size(raw[3])
            self._shrink()
        if self.watchers:
            self._tell(sequence, Raw(*raw))

    @property
    def first(self) -> int:
        """The sequence number of the oldest entry that is still there."""
        return self.total - self._count

    def numbered(self, since: int = 0) -> list[tuple[int, Raw]]:
        """(sequence, entry) of all from `since` on, oldest first."""
        found: list[tuple[int, Raw]] = []
        sequence = self.first
        for kept in self._kept:
            if type(kept) is list:
                if sequence >= since:
                    found.append((sequence, Raw(*kept)))
                sequence += 1
            elif sequence + kept[8] <= since:
                sequence += kept[8]
            else:
                for raw in Run(*kept).entries():
                    if sequence >= since:
                        found.append((sequence, raw))
                    sequence += 1
        return found

    def clear(self) -> None:
        """Forget what is there; sequence numbers go on."""
        self._kept.clear()
        self._count = self._bytes = 0

    def _shrink(self) -> None:
        kept = self._kept
        while kept and (self._count > self.most_entries or self._bytes > self.most_bytes):
            gone = kept.popleft()
            if type(gone) is list:
                self._count -= 1
                self._bytes -= gone[2] - gone[1] + reply_size(gone[3])
            else:
                self._count -= gone[8]
                self._bytes -= gone[2] - gone[1] + sum(map(len, gone[3]))

    def _tell(self, sequence: int, raw: Raw) -> None:
        for watcher in tuple(self.watchers):
            watcher(sequence, raw)


def reply_size(reply: Reply | None) -> int:
    """Bytes."""
    if reply is None:
        return 0
    return sum(map(len, reply)) if isinstance(reply, tuple) else len(reply)


_size = struct.Struct(">i").unpack_from
