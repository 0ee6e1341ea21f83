"""The listener and its connections on an asyncio loop."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from typing import Any, cast

from kafkastub.handlers.context import ConnectionInfo
from kafkastub.handlers.state import BrokerState
from kafkastub.server.clock import Clock
from kafkastub.server.connection import Connection
from kafkastub.server.dispatch import Dispatcher

_QUEUE_LIMIT = 1 << 20
"""Bytes of waiting frames from which a muted connection is no longer read."""
_JOIN_LIMIT = 1 << 16
"""Bytes of replies up to which joining them is cheaper than handing them over one by one."""
_WRITE_LIMIT = 4 << 20
"""Bytes of unread replies from which a connection is no longer served."""


class ListenError(OSError):
    """The address cannot be bound; the text is one sentence for a user."""


class Server:
    """Serves one broker state on one loop. All of it runs in that loop's thread."""

    def __init__(self, state: BrokerState, clock: Clock, loop: asyncio.AbstractEventLoop) -> None:
        self.state = state
        self.clock = clock
        self.loop = loop
        self.dispatcher = Dispatcher(state)
        self.connections: set[BrokerProtocol] = set()
        self.request_limit = cast(int, state.config["socket.request.max.bytes"])
        self._idle_ms = cast(int, state.config["connections.max.idle.ms"])
        self._listener: asyncio.Server | None = None
        self._next_id = 0
        self._armed_for: int | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._idle_timer: asyncio.TimerHandle | None = None

    async def listen(self, host: str, port: int) -> tuple[str, int]:
        """Bind and accept; gives the bound (host, port). Raises ListenError."""
        try:
            self._listener = await self.loop.create_server(lambda: BrokerProtocol(self), host, port, backlog=1024)
        except OSError as error:
            raise ListenError(_why_not(host, port, error)) from error
        bound = self._listener.sockets[0].getsockname()
        return str(bound[0]), int(bound[1])

    async def close(self) -> None:
        """Stop accepting, drop what waits, flush what was answered, and wait until every connection is gone."""
        for timer in (self._timer, self._idle_timer):
            if timer is not None:
                timer.cancel()
        self._timer = self._idle_timer = None
        if self._listener is not None:
            self._listener.close()
        protocols = list(self.connections)
        for protocol in protocols:
            protocol.shut()
        if protocols:
            await asyncio.wait([protocol.gone for protocol in protocols], timeout=0.5)
            for protocol in list(self.connections):
                protocol.abort()
            await asyncio.sleep(0)
        if self._listener is not None:
            await self._listener.wait_closed()

    def next_connection_id(self) -> int:
        self._next_id += 1
        return self._next_id

    def rearm(self) -> None:
        """Keep the one timer at the state's next deadline."""
        deadline = self.state.next_deadline()
        if deadline == self._armed_for:
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._armed_for = deadline
        if deadline is not None:
            delay = max(0, deadline - self.clock.timer_ms()) / 1000
            self._timer = self.loop.call_later(delay, self._fire)

    def _fire(self) -> None:
        self._timer = None
        self._armed_for = None
        broker_ms, timer_ms = self.clock.both()
        try:
            self.state.expire(broker_ms, timer_ms)
        except Exception:
            self.state.log.exception("a timer failed")
        self.rearm()

    def watch_idle(self) -> None:
        """Arm the timer for the connection that is idle longest (`connections.max.idle.ms`)."""
        if self._idle_timer is None and self._idle_ms > 0:
            self._idle_timer = self.loop.call_later(self._idle_ms / 1000, self._close_idle)

    def _close_idle(self) -> None:
        self._idle_timer = None
        now = self.clock.timer_ms()
        oldest = now
        for protocol in list(self.connections):
            if protocol.connection.active_ms + self._idle_ms <= now and not protocol.connection.muted:
                self.state.log.info("idle connection closed", peer=protocol.connection.info.peer)
                protocol.shut()
            elif not protocol.connection.muted:
                oldest = min(oldest, protocol.connection.active_ms)
        if self.connections:
            wait = max(1, oldest + self._idle_ms - now)
            self._idle_timer = self.loop.call_later(wait / 1000, self._close_idle)


class BrokerProtocol(asyncio.Protocol):
    """Feeds a `Connection` and drains it; nothing else."""

    def __init__(self, server: Server) -> None:
        # for its life
        self.server = server
        self.gone: asyncio.Future[None] = server.loop.create_future()
        # from connection_made on
        self.transport: asyncio.Transport
        self.connection: Connection
        # as it goes
        self._reading = True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.transport.set_write_buffer_limits(high=_WRITE_LIMIT)
        _no_delay(self.transport.get_extra_info("socket"))
        peer = self.transport.get_extra_info("peername") or ("unknown", 0)
        server = self.server
        info = ConnectionInfo(server.next_connection_id(), f"/{peer[0]}", f"{peer[0]}:{peer[1]}")
        self.connection = Connection(server.dispatcher, info, server.request_limit, server.clock.both, self._woken)
        self.connection.active_ms = server.clock.timer_ms()
        server.connections.add(self)
        server.watch_idle()

    def data_received(self, data: bytes) -> None:
        self.connection.receive(data)
        self._drain()

    def pause_writing(self) -> None:
        self.connection.blocked = True

    def resume_writing(self) -> None:
        self.connection.blocked = False
        self.server.loop.call_soon(self._resume)

    def connection_lost(self, exc: BaseException | None) -> None:
        self.connection.lost()
        self.server.connections.discard(self)
        if not self.gone.done():
            self.gone.set_result(None)

    def shut(self) -> None:
        """Close once what was answered is sent."""
        self.connection.lost()
        self.transport.close()

    def abort(self) -> None:
        self.transport.abort()

    def _woken(self) -> None:
        # A deferred reply was completed while another request is being served: leave that one in peace.
        self.server.loop.call_soon(self._resume)

    def _resume(self) -> None:
        if self.transport.is_closing():
            return
        self.connection.resume()
        self._drain()

    def _drain(self) -> None:
        connection, transport = self.connection, self.transport
        out = connection.out
        if out:
            connection.out = []
            if sum(map(len, out)) <= _JOIN_LIMIT:
                transport.write(b"".join(out))
            else:
                transport.writelines(out)
        if connection.closing:
            if connection.reason is not None:
                self.server.state.log.warning("connection closed", peer=connection.info.peer, why=connection.reason)
            transport.close()
        else:
            self._throttle(connection, transport)
        self.server.rearm()

    def _throttle(self, connection: Connection, transport: asyncio.Transport) -> None:
        if self._reading:
            if connection.queued > _QUEUE_LIMIT or connection.blocked:
                self._reading = False
                transport.pause_reading()
        elif connection.queued <= _QUEUE_LIMIT // 2 and not connection.blocked:
            self._reading = True
            transport.resume_reading()


def _no_delay(sock: Any) -> None:
    if sock is not None and sock.family in (socket.AF_INET, socket.AF_INET6):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def _why_not(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} on {host} is taken by another process; choose another, or 0 for any free one"
    if error.errno == errno.EACCES:
        return f"port {port} on {host} needs privileges that this process does not have"
    # asyncio puts a sentence of its own around the system's words; a name that cannot be resolved has a negative number
    number = error.errno or 0
    words = os.strerror(number) if number > 0 else error.strerror or str(error)
    return f"cannot listen on {host}:{port}: {words}"
