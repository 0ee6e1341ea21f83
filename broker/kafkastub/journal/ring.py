"""The ring that the server writes to: each request as it came, undecoded, up to a number of entries and of bytes."""

from __future__ import annotations

import math
import struct
import time
from collections import deque
from collections.abc import Callable, Iterator
from enum import IntEnum
from typing import Any, Final, NamedTuple, Protocol, Self

DEFAULT_ENTRIES: Final = 10_000
DEFAULT_BYTES: Final = 8 << 20
MOST_ENTRIES: Final = 1_000_000
"""That somebody may ask for: with the bytes that come with them, 800 MB."""
FOLLOWED: Final = 64
"""Entries after which a follower has its turn: requests wait for it for a millisecond or two then."""
_LOOSE: Final = 1 << 10
"""Bytes around an entry's frames that may be kept with it uncounted; else the frames are copied."""

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

    Taken apart when somebody looks. The ring keeps plain tuples of this form, which is what costs least.
    """

    data: bytes
    first: int
    last: int
    """The part of it that holds the frames, with their sizes."""
    replies: Reply
    """One behind the other in one buffer; a tuple of one buffer each where the last reply is in pieces."""
    connection: Any
    broker_ms: int
    started: int
    ended: int
    requests: int
    size: int
    """Bytes of requests and replies."""

    def entries(self) -> Iterator[Raw]:
        """One by one."""
        position = self.first
        for reply in self._each_reply():
            start = position + 4
            end = start + _size(self.data, position)[0]
            yield Raw(
                self.data, start, end, reply, self.connection, self.broker_ms, self.started, self.ended,
                Outcome.REPLY, None,
            )  # fmt: skip
            position = end

    def _each_reply(self) -> Iterator[Reply]:
        replies, before_last = self.replies, self.requests - 1
        if isinstance(replies, tuple):
            yield from replies[:before_last]
            yield replies[before_last:]
            return
        position = 0
        for _ in range(before_last):
            end = position + 4 + _size(replies, position)[0]
            yield replies[position:end]
            position = end
        yield replies[position:]


Watcher = Callable[[int, Raw], None]


class Follows(Protocol):
    """Who reads every entry before it goes, some of them at a time."""

    def completed(self, sequence: int, raw: Raw) -> None:
        """The end of a pending entry has come."""

    def catch_up(self) -> None:
        """Read what there is by now."""


class Ring:
    """Bounded by `entries` and `bytes`; the oldest go first. Written by the server's thread alone."""

    def __init__(self, entries: int, bytes: int) -> None:
        """Raises ValueError for a limit below 1."""
        if entries < 1 or bytes < 1:
            raise ValueError(f"a journal of {entries} entries and {bytes} bytes: expected at least 1 of each")
        self.most_entries = entries
        self.most_bytes = bytes
        self._many = entries // 8
        self._large = bytes // 8
        """A run of more entries or bytes is kept as single entries: a run goes as a whole."""
        self._kept: deque[Any] = deque()
        """Lists like `Raw` and tuples like `Run`."""
        self._full_at = entries
        """There are too many entries where `total` is larger."""
        self._bytes = 0
        self.total = 0
        """Entries ever added: the sequence number of the next one."""
        self._look_at = entries
        """Where `total` is larger there is something to do: too many entries, or a follower's turn."""
        self._follower: Follows | None = None
        self._read = 0
        """What the follower has read, below this number."""
        self.watchers: list[Watcher] = []
        """Called with (sequence, entry) for each new one, and again when the end of a pending one has come."""
        self.wall_offset_ns = time.time_ns() - time.perf_counter_ns()
        """From `perf_counter_ns` to Unix nanoseconds."""

    @classmethod
    def of(cls, entries: int) -> Self:
        """With room for so many, and as many bytes for each as by default. Raises ValueError."""
        if type(entries) is not int or not 1 <= entries <= MOST_ENTRIES:
            raise ValueError(f"{entries!r} is not a number of entries of a journal: 1 to {MOST_ENTRIES} is allowed")
        return cls(entries, max(DEFAULT_BYTES, entries * DEFAULT_BYTES // DEFAULT_ENTRIES))

    def __len__(self) -> int:
        return self.total - self.first

    def add(self, raw: list[Any]) -> None:
        """Append a list like `Raw`; what it pushes out is gone."""
        data, start, end = raw[:3]
        if len(data) - end + start > _LOOSE:
            raw[:3] = data[start:end], 0, end - start
        self._kept.append(raw)
        self.total += 1
        self._bytes += raw[2] - raw[1] + reply_size(raw[3])
        if self.total > self._look_at or self._bytes > self.most_bytes:
            self._look()
        if self.watchers:
            self._tell(self.total - 1, Raw(*raw))

    def add_run(
        self, data: bytes, first: int, last: int, replies: Reply, connection: Any, broker_ms: int, started: int,
        ended: int, requests: int, size: int,
    ) -> None:  # fmt: skip
        """Append a `Run`."""
        if requests > self._many or size > self._large or self.watchers:
            run = Run(data, first, last, replies, connection, broker_ms, started, ended, requests, size)
            for raw in run.entries():
                self.add(list(raw))
            return
        if len(data) - last + first > _LOOSE:
            data, first, last = data[first:last], 0, last - first
        self._kept.append((data, first, last, replies, connection, broker_ms, started, ended, requests, size))
        self.total = total = self.total + requests
        self._bytes = held = self._bytes + size
        if total > self._look_at or held > self.most_bytes:
            self._look()

    def complete(self, sequence: int, raw: list[Any]) -> None:
        """The end of the pending entry `sequence` has come, and was written into its list."""
        if sequence >= self.first:
            self._bytes += reply_size(raw[3])
            if self._bytes > self.most_bytes:
                self._look()
        if self._follower is not None:
            self._follower.completed(sequence, Raw(*raw))
        if self.watchers:
            self._tell(sequence, Raw(*raw))

    @property
    def follower(self) -> Follows | None:
        """Who reads every entry before it goes."""
        return self._follower

    def follow(self, follower: Follows | None) -> None:
        """Let it read every entry before it goes; None: nobody any more."""
        self._follower, self._read = follower, self.first
        self._look_at = self._full_at if follower is None else self.total

    @property
    def first(self) -> int:
        """The sequence number of the oldest entry that is still there."""
        return self._full_at - self.most_entries

    def numbered(self, since: int = 0) -> list[tuple[int, Raw]]:
        """(sequence, entry) of all from `since` on, oldest first."""
        return list(self.walk(since))

    def walk(self, since: int = 0, before: int | None = None) -> Iterator[tuple[int, Raw]]:
        """The same one by one, as they are now; with `before` those below it, newest first.

        What is walked past is not taken apart: looking at the end of a long journal costs little.
        """
        kept_now, first, end = list(self._kept), self.first, self.total
        if before is None:
            return _walk_on(kept_now, *_place_of(kept_now, first, end, since), since)
        before = min(before, end)
        return _walk_back(kept_now, *_place_of(kept_now, first, end, before - 1), since, before)

    def units(self, since: int) -> list[tuple[int, Any]]:
        """What is kept from `since` on, as it is kept: lists like `Raw`, and tuples like `Run`, each with the number of
        its first entry. Costs next to nothing.
        """
        kept = self._kept
        found, sequence = [], self.total
        for one in reversed(kept):
            if sequence <= since:
                break
            sequence -= 1 if type(one) is list else one[8]
            found.append((sequence, one))
        found.reverse()
        return found

    def walk_single(self) -> Iterator[tuple[int, Raw]]:
        """What is not part of a `Run`, newest first: what waited, or met a fault. Runs are walked past as they are."""
        sequence = self.total
        for kept in list(reversed(self._kept)):
            if type(kept) is list:
                sequence -= 1
                yield sequence, Raw(*kept)
            else:
                sequence -= kept[8]

    def quiet_for(self, counts: Callable[[Raw], bool]) -> float:
        """Seconds since the last request that counts came or was answered; without end where there was none."""
        for kept in reversed(self._kept):
            for raw in (Raw(*kept),) if type(kept) is list else Run(*kept).entries():
                if counts(raw):
                    since = raw.started if raw.ended is None else raw.ended
                    return max(time.perf_counter_ns() - since, 0) / 1e9
        return math.inf

    def clear(self) -> None:
        """Forget what is there; sequence numbers go on."""
        self._catch_up()
        self._kept.clear()
        self._full_at = self._look_at = self.total + self.most_entries
        self._bytes = 0

    def _look(self) -> None:
        """Room for new entries, and a follower's turn."""
        if self._follower is not None and self.total - self._read > FOLLOWED:
            self._catch_up()
        kept = self._kept
        while kept and (self.total > self._full_at or self._bytes > self.most_bytes):
            if self._follower is not None and self.first >= self._read:
                self._catch_up()
            gone = kept.popleft()
            if type(gone) is list:
                self._full_at += 1
                self._bytes -= gone[2] - gone[1] + reply_size(gone[3])
            else:
                self._full_at += gone[8]
                self._bytes -= gone[9]
        self._look_at = self._full_at
        if self._follower is not None:
            self._look_at = min(self._full_at, self._read + FOLLOWED)

    def _catch_up(self) -> None:
        if self._follower is not None:
            self._read = self.total
            self._follower.catch_up()

    def _tell(self, sequence: int, raw: Raw) -> None:
        for watcher in tuple(self.watchers):
            watcher(sequence, raw)


def _place_of(kept: list[Any], first: int, end: int, sequence: int) -> tuple[int, int]:
    """Where what has that entry is, and the sequence number with which it begins; looked for from the nearer end."""
    if sequence - first < end - sequence:
        for index, one in enumerate(kept):
            size = 1 if type(one) is list else one[8]
            if first + size > sequence:
                return index, first
            first += size
        return len(kept), first
    for index in range(len(kept) - 1, -1, -1):
        end -= 1 if type(kept[index]) is list else kept[index][8]
        if end <= sequence:
            return index, end
    return 0, end


def _entries(kept: Any) -> list[Raw]:
    return [Raw(*kept)] if type(kept) is list else list(Run(*kept).entries())


def _walk_on(kept: list[Any], index: int, sequence: int, since: int) -> Iterator[tuple[int, Raw]]:
    for at in range(index, len(kept)):
        for raw in _entries(kept[at]):
            if sequence >= since:
                yield sequence, raw
            sequence += 1


def _walk_back(kept: list[Any], index: int, begin: int, since: int, before: int) -> Iterator[tuple[int, Raw]]:
    """`begin`: the sequence number with which the one at `index` begins."""
    while 0 <= index < len(kept):
        entries = _entries(kept[index])
        for sequence in range(min(begin + len(entries), before) - 1, max(begin, since) - 1, -1):
            yield sequence, entries[sequence - begin]
        index -= 1
        if index < 0 or begin <= since:
            return
        begin -= 1 if type(kept[index]) is list else kept[index][8]


def reply_size(reply: Reply | None) -> int:
    """Bytes."""
    if reply is None:
        return 0
    return sum(map(len, reply)) if isinstance(reply, tuple) else len(reply)


_size = struct.Struct(">i").unpack_from
