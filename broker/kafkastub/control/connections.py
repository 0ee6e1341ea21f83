"""The connections of the control port: few, and none that keeps its place for nothing.

A client has so long to send a whole request, and to read something of its answer; else its connection ends. Where all
places are taken, the connection goes that has waited longest for its client, so that who has something to ask gets in.
A request that is being worked on is not given up for another one; those that last are limited by their routes.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from time import perf_counter
from typing import Any, Final

from uvicorn.protocols.http.h11_impl import H11Protocol

from kafkastub.control.problems import Problem

MOST_IDLE: Final = 128
"""Connections that wait for their clients."""
MOST_CONNECTIONS: Final = 512
PATIENCE_SECONDS: Final = 10.0
"""How long a client may take for a request from its first byte to its last one, and how long it may read nothing."""

MOST_UNREAD: Final = 256 << 20
"""Bytes of answers that clients have asked for and do not read, of all of them together; one alone may have more."""

STUCK_SECONDS: Final = 1.0
"""From here on a client that reads nothing gives its place to another one."""

_PIECE: Final = 4096
"""Bytes that are read in one go: in a body they may be hundreds of chunks of a byte each."""
_TURN_SECONDS: Final = 0.002
"""What all connections together read for until the broker has its turn."""


class ControlProtocol(H11Protocol):
    """uvicorn's, with an end to waiting for the client. Logs where the broker does, and no request that went well."""

    def __init__(
        self, *args: Any, logger: logging.Logger, last_gone: asyncio.Event, readers: Readers, **named: Any
    ) -> None:
        """`last_gone` is set when it has ended and there is no other; `readers` are of all of them."""
        super().__init__(*args, **named)
        self.logger = logger
        self._readers = readers
        self._unheard = bytearray()
        """What has come, and was not looked at yet."""
        self._held = False
        """Whether nothing more is to come before that was looked at."""
        self.access_log = False
        self._last_gone = last_gone
        self.app_state = {**self.app_state, "connection": self}  # where the routes find it
        self._asked = False
        """Whether it has ever sent a whole request."""
        self._since = self.loop.time()
        """When we began to wait for the client, as far as we do."""
        self._paused = False
        """Whether it is to read before we go on."""
        self._unread = 0
        """Bytes of ours that it had not read when we looked last."""
        self._timer: asyncio.TimerHandle | None = None
        self._ended = False

    # -- what uvicorn is told ---------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()
        self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended = True
        self._wait_no_more()
        super().connection_lost(exc)
        self.cycle = self.scope = None  # type: ignore[assignment]
        self.app_state = {}  # all of them refer to this connection, and `serve` seldom looks for circles
        if not self.connections:
            self._last_gone.set()

    def data_received(self, data: bytes) -> None:
        waits = bool(self._unheard)
        self._unheard += data
        if not waits:
            self._readers.come(self)
        if self._unheard and not self._ended:
            self._held = True
            self.transport.pause_reading()

    def hear(self) -> bool:
        """Read a piece of what has come; whether there is more."""
        if self._ended or self.transport.is_closing():
            self._unheard.clear()
            return False
        piece = bytes(self._unheard[:_PIECE])
        del self._unheard[:_PIECE]
        try:
            self._hear(piece)
        except Exception as error:
            self.logger.error("what a client of the control port sent", exc_info=error)
            self.end()
        if self._unheard:
            return True
        if self._held and not self.flow.read_paused and not self._ended:
            self._held = False
            self.transport.resume_reading()
        return False

    def _hear(self, data: bytes) -> None:
        began = self._is_between
        super().data_received(data)
        if self.transport.is_closing():
            self._see_it_out()
        elif self._is_working:
            self._asked = True
            if not self._paused:
                self._wait_no_more()
        elif began and not self._is_between:
            self._wait()

    def on_response_complete(self) -> None:
        self._wait_no_more()
        self._since = self.loop.time()
        super().on_response_complete()
        if self.transport.is_closing() or self._paused:
            self._see_it_out()
        elif not self._is_working and (not self._is_between or self.conn.trailing_data[0]):
            self._wait()  # of the next request a part is there

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self._see_it_out()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._paused = True
        self._see_it_out()
        self._relieve()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._paused = False
        if self._is_working or self._is_between:
            self._wait_no_more()

    # -- waiting for the client -------------------------------------------------------------------------------------

    @property
    def _is_working(self) -> bool:
        """Whether there is a whole request, and no answer to it yet."""
        return self.cycle is not None and not self.cycle.more_body and not self.cycle.response_complete

    @property
    def _is_between(self) -> bool:
        """Whether it may come with another request, of which nothing is there yet. uvicorn ends that in time."""
        return self.timeout_keep_alive_task is not None

    def serves(self, cycle: Any) -> bool:
        """Whether that request is still being answered."""
        return not self._ended and self.cycle is cycle and not cycle.response_complete

    def unread_seconds(self) -> float:
        """How long its client has not read what it is to read before we go on."""
        return self.loop.time() - self._since if self._paused else 0

    def end(self) -> None:
        """At once: what the client has not read by now it does not get."""
        self._ended = True
        self.transport.abort()

    def _wait(self) -> None:
        self._wait_no_more()
        self._since = self.loop.time()
        self._timer = self.loop.call_later(PATIENCE_SECONDS, self._look)

    def _wait_no_more(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _see_it_out(self) -> None:
        """Something is to be read: by somebody who reads."""
        if not self._ended:
            self._unread = self.transport.get_write_buffer_size()
            if self._unread:
                self._wait()

    def _look(self) -> None:
        self._timer = None
        unread, before = self.transport.get_write_buffer_size(), self._unread
        if unread and unread != before:
            self._unread = unread
            self._wait()
        else:
            self.end()

    def _make_room(self) -> None:
        """Where there are too many, end one: that has never asked anything if there is one, and has waited longest."""
        there = [each for each in self.connections if isinstance(each, ControlProtocol) and not each._ended]
        idle = [each for each in there if each is not self and each._is_idle]
        if len(idle) >= MOST_IDLE or len(there) > MOST_CONNECTIONS:
            min(idle, key=lambda each: (each._asked, each._since), default=self).end()

    def _relieve(self) -> None:
        """Where too much is not read, end those who have kept it for longest."""
        others = [each for each in self.connections if isinstance(each, ControlProtocol) and each._paused]
        others = [each for each in others if each is not self and not each._ended]
        unread = sum(each.transport.get_write_buffer_size() for each in (self, *others))
        for each in sorted(others, key=lambda one: one._since):
            if unread <= MOST_UNREAD:
                break
            unread -= each.transport.get_write_buffer_size()
            each.end()

    @property
    def _is_idle(self) -> bool:
        """Whether it is its client's turn."""
        return self._paused or not self._is_working or self.transport.is_closing()


class Readers:
    """The connections of which something has come, each with a piece in its turn: however many chunks, requests and
    connections there are, the broker serves between them."""

    def __init__(self) -> None:
        self._waiting: deque[ControlProtocol] = deque()
        self._used = 0.0
        """Seconds of this turn of the loop."""
        self._scheduled = False

    def come(self, connection: ControlProtocol) -> None:
        """Something has come for it: read it now, or when it is its turn."""
        self._waiting.append(connection)
        self._read()

    def _read(self) -> None:
        while self._waiting and self._used < _TURN_SECONDS:
            connection, begin = self._waiting.popleft(), perf_counter()
            if connection.hear():
                self._waiting.append(connection)
            self._used += perf_counter() - begin
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._next)

    def _next(self) -> None:
        self._scheduled, self._used = False, 0.0
        if self._waiting:
            self._read()


class Places:
    """For requests that last: so many at a time. Who does not read what it asked for gives way to the next one."""

    def __init__(self, most: int, what: str) -> None:
        """`what` names them in a refusal."""
        self._most = most
        self._what = what
        self._taken: list[tuple[ControlProtocol, Any]] = []

    def take(self, connection: ControlProtocol) -> None:
        """Until the connection's request is answered, or its client has gone. Raises Problem where all are taken."""
        self._taken = [one for one in self._taken if one[0].serves(one[1])]
        if len(self._taken) >= self._most:
            slowest = max(self._taken, key=lambda one: one[0].unread_seconds())
            if slowest[0].unread_seconds() < STUCK_SECONDS:
                raise Problem(429, f"{self._most} {self._what} already: let some of them end")
            slowest[0].end()
            self._taken.remove(slowest)
        self._taken.append((connection, connection.cycle))
