"""Lets connections in: accepts them, as far as the limits and the file descriptors of the process go.

One connection at most is accepted and waits; all others wait in the kernel's queue, as they do with Kafka's acceptor.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections.abc import Callable, Coroutine
from typing import Any, Final

from kafkastub.server.connection_limits import ConnectionLimits, Slot, TooFast, TooMany, plain_ip
from kafkastub.server.descriptors import limit_in_words, usable_by_connections

_AT_ONCE: Final = 16
"""Connections that are accepted before the others have their turn again."""
_LOOK_AGAIN: Final = 1.0
"""Seconds after which we look whether there are file descriptors again: not only connections use them."""
_SCARCE: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_MOST_TOO_FAST: Final = 1_000
"""Connections that are too fast and not closed yet, beyond which they are closed at once."""

ProtocolFactory = Callable[[Slot], asyncio.Protocol]


class Acceptor:
    """Of one listener of one node that is open."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        listening: socket.socket,
        listener: str,
        limits: ConnectionLimits,
        protocol_factory: ProtocolFactory,
        now: Callable[[], int],
        warn: Callable[..., bool],
    ) -> None:
        """`now` gives timer time in ms; `warn` is given a key, a log line and its fields: see `Server.warn`."""
        # for its life
        self._loop = loop
        self._socket = listening
        self._listener = listener
        self._limits = limits
        self._protocol_factory = protocol_factory
        self._now = now
        self._warn = warn
        self._most_descriptors = usable_by_connections()
        # as it goes
        self._held: tuple[socket.socket, str, int] | None = None
        """A connection that waits: its address, and until when it has to."""
        self._paused = False
        self._not_logged: str | None = None
        """Why descriptors are scarce, where that could not be logged."""
        self._lost_warnings = 0
        """How often it could not."""
        self._timer: asyncio.TimerHandle | None = None
        self._starting: set[asyncio.Task[None]] = set()
        self._too_fast: dict[socket.socket, asyncio.TimerHandle] = {}
        loop.add_reader(listening.fileno(), self._ready)

    async def close(self) -> None:
        """Let nobody in any more; who is coming in is in afterwards."""
        self._pause()
        self._socket.close()
        if self._timer is not None:
            self._timer.cancel()
        if self._held is not None:
            self._held[0].close()
            self._held = None
        for sock, timer in self._too_fast.items():
            timer.cancel()
            sock.close()
        self._too_fast.clear()
        if self._starting:
            await asyncio.wait(self._starting)

    def _ready(self) -> None:
        for _ in range(_AT_ONCE):
            try:
                sock, address = self._socket.accept()
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                if error.errno in _SCARCE:
                    self._wait_for_descriptors(os.strerror(error.errno or 0))
                    return
                continue  # that connection has gone already
            self._receive(sock, plain_ip(address[0]))
            if self._paused:
                return

    def _receive(self, sock: socket.socket, ip: str) -> None:
        now = self._now()
        wait_ms = self._limits.wait_ms(self._listener, now)
        if wait_ms or not self._limits.has_room(self._listener):
            self._hold(sock, ip, now + wait_ms, wait_ms / 1000)
        elif sock.fileno() >= self._most_descriptors:
            self._hold(sock, ip, now, _LOOK_AGAIN)
            self._warn_of_scarcity("the rest is kept for files")
        else:
            self._admit(sock, ip)

    def _admit(self, sock: socket.socket, ip: str) -> None:
        try:
            slot = self._limits.take(self._listener, ip, self._now())
        except TooMany as refused:
            sock.close()
            self._warn((self._listener, ip), "connection refused", listener=self._listener, why=str(refused))
        except TooFast as refused:
            self._close_later(sock, refused.delay_ms / 1000)
        else:
            sock.setblocking(False)
            self._spawn(self._start(sock, slot))

    async def _start(self, sock: socket.socket, slot: Slot) -> None:
        try:
            await self._loop.connect_accepted_socket(lambda: self._protocol_factory(slot), sock)
        except BaseException:
            slot.free()
            sock.close()
            raise

    def _spawn(self, starting: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(starting)
        self._starting.add(task)
        task.add_done_callback(self._started)

    def _started(self, task: asyncio.Task[None]) -> None:
        self._starting.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, OSError):  # it has gone already
            self._warn(repr(error), "a connection cannot be served", why=repr(error))

    # waiting

    def _hold(self, sock: socket.socket, ip: str, until: int, seconds: float) -> None:
        self._held = (sock, ip, until)
        self._pause()
        self._go_on_later(seconds)

    def _go_on_later(self, seconds: float) -> None:
        """When somebody has gone, and in so many seconds, if any."""
        self._limits.when_freed(self._go_on)
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(seconds, self._go_on) if seconds else None

    def _go_on(self) -> None:
        if not self._paused or self._socket.fileno() < 0:
            return
        if self._not_logged is not None:
            self._warn_of_scarcity(self._not_logged)
        if self._held is not None:
            sock, ip, until = self._held
            left = until - self._now()
            if left > 0:
                self._go_on_later(left / 1000)
                return
            if not self._limits.has_room(self._listener):
                self._go_on_later(0)
                return
            if not self._has_descriptors(sock):
                self._go_on_later(_LOOK_AGAIN)
                return
            self._held = None
            self._admit(sock, ip)
        self._paused = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._loop.add_reader(self._socket.fileno(), self._ready)

    def renewed(self) -> None:
        """There is another clock: what was to wait by the old one has waited."""
        if self._held is not None:
            sock, ip, _ = self._held
            self._held = (sock, ip, self._now())
            self._go_on()

    def _pause(self) -> None:
        if not self._paused:
            self._paused = True
            self._loop.remove_reader(self._socket.fileno())

    def _close_later(self, sock: socket.socket, seconds: float) -> None:
        """Close it after a while, so that the client does not come again at once."""
        if len(self._too_fast) >= _MOST_TOO_FAST:
            sock.close()
            return

        def close() -> None:
            del self._too_fast[sock]
            sock.close()

        self._too_fast[sock] = self._loop.call_later(seconds, close)

    # file descriptors

    def _has_descriptors(self, sock: socket.socket) -> bool:
        if sock.fileno() < self._most_descriptors:
            return True
        try:
            lowest = os.dup(sock.fileno())
        except OSError:
            return False
        os.close(lowest)
        return lowest < self._most_descriptors

    def _wait_for_descriptors(self, why: str) -> None:
        self._pause()
        self._go_on_later(_LOOK_AGAIN)
        self._warn_of_scarcity(why)

    def _warn_of_scarcity(self, why: str) -> None:
        text = "too few file descriptors: new connections wait until others end; raise the limit (ulimit -n)"
        if self._warn(("file descriptors", self._lost_warnings), text, limit=limit_in_words(), why=why):
            self._not_logged = None
        else:  # logging opens files, too, when it is first used
            self._lost_warnings += 1
            self._not_logged = why
