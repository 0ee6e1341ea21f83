"""Listeners and their connections on an asyncio loop."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Any, cast

from kafkastub.handlers.sparingly import Sparingly
from kafkastub.handlers.state import BrokerState
from kafkastub.server.clock import Clock
from kafkastub.server.connection import NO_TLS_HERE, Connection
from kafkastub.server.dispatch import Dispatcher
from kafkastub.server.doors import Door, ListenError

if TYPE_CHECKING:
    from kafkastub.server.sasl import Gate

_QUEUE_LIMIT = 1 << 20
"""Bytes of waiting frames from which a muted connection is no longer read."""
_JOIN_LIMIT = 1 << 16
"""Bytes of replies up to which joining them is cheaper than handing them over one by one."""
_WRITE_LIMIT = 4 << 20
"""Bytes of unread replies from which a connection is no longer served."""
_LAST_WORDS_SECONDS = 10
"""How long a client has to read what was answered before its connection was closed."""


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
        self.doors: list[Door] = []
        self._next_id = 0
        self._said = Sparingly()
        self._armed_for: int | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._idle_timer: asyncio.TimerHandle | None = None

    async def listen(self, door: Door) -> None:
        """Open a door. Raises ListenError, ConfigError."""
        if door.listener.protocol.startswith("SASL_"):
            from kafkastub.security.credentials import ListenerSasl

            door.sasl = ListenerSasl(self.state.config, door.listener)

        def made() -> BrokerProtocol:
            return BrokerProtocol(self, door)

        if door.tls is None:
            await door.open(self.loop, made)
        else:
            from kafkastub.server.tls import behind_tls

            await door.open(self.loop, behind_tls(self, door.tls, made))
        if door not in self.doors:
            self.doors.append(door)

    async def close(self) -> None:
        """Stop accepting, drop what waits, flush what was answered, and wait until every connection is gone."""
        for timer in (self._timer, self._idle_timer):
            if timer is not None:
                timer.cancel()
        self._timer = self._idle_timer = None
        for door in self.doors:
            await door.close()
        await self._drop(list(self.connections))
        for door in self.doors:
            await door.gone()

    async def shut_node(self, node_id: int) -> None:
        """Let nobody in to a node any more; its addresses are kept for it."""
        for door in self.doors:
            if door.node_id == node_id:
                await door.close(keep_address=True)

    async def drop_node(self, node_id: int) -> None:
        """End all connections to a node."""
        await self._drop([one for one in self.connections if one.door.node_id == node_id])

    async def _drop(self, protocols: list[BrokerProtocol]) -> None:
        """Flush what was answered on these connections, and wait until they are gone."""
        for protocol in protocols:
            protocol.shut()
        if protocols:
            await asyncio.wait([protocol.gone for protocol in protocols], timeout=0.5)
            for protocol in protocols:
                if not protocol.gone.done():
                    protocol.abort()
            await asyncio.sleep(0)

    async def renew(self, state: BrokerState, clock: Clock) -> None:
        """Serve another state from now on, through the same doors; whoever is connected is not any more."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._armed_for = None
        self.state, self.clock, self.dispatcher = state, clock, Dispatcher(state)
        self.rearm()
        await self._drop(list(self.connections))

    @property
    def connected(self) -> tuple[int, int]:
        """How many connections there are, and how many there ever were."""
        return len(self.connections), self._next_id

    def next_connection_id(self) -> int:
        self._next_id += 1
        return self._next_id

    def say_closed(self, connection: Connection) -> None:
        """Say why we close a connection; of one that speaks TLS once in a while, since such a client tries again."""
        info, why = connection.info, connection.reason
        if why != NO_TLS_HERE or self._said.passes((info.listener, info.client_host), self.clock.timer_ms()):
            self.state.log.warning("connection closed", peer=info.peer, why=why)

    def rearm(self) -> None:
        """Keep the one timer at the state's next deadline, or before it: then nothing happens when it fires."""
        self.state.stirred = False
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

    def __init__(self, server: Server, door: Door) -> None:
        # for its life
        self.server = server
        self.door = door
        self.gone: asyncio.Future[None] = server.loop.create_future()
        # from connection_made on
        self.transport: asyncio.Transport
        self.connection: Connection
        # as it goes
        self._reading = True
        self._given_up: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.transport.set_write_buffer_limits(high=_WRITE_LIMIT)
        _no_delay(self.transport.get_extra_info("socket"))
        peer = self.transport.get_extra_info("peername") or ("unknown", 0)
        server = self.server
        info = self.door.admit(server.next_connection_id(), peer)
        dispatcher: Dispatcher | Gate = server.dispatcher
        if self.door.sasl is not None:
            from kafkastub.server.sasl import gate

            dispatcher = gate(server.dispatcher, self.door.sasl, info, server._said)
        self.connection = Connection(dispatcher, info, server.request_limit, server.clock.both, self._woken)
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
        if self._given_up is not None:
            self._given_up.cancel()
        if not self.gone.done():
            self.gone.set_result(None)

    def shut(self) -> None:
        """Close once what was answered is sent."""
        self.connection.lost()
        self._close()

    def abort(self) -> None:
        self.transport.abort()

    def _close(self) -> None:
        """Close once what was answered is sent; what nobody reads is not kept for ever."""
        self.transport.close()
        if self._given_up is None and self.transport.get_write_buffer_size():
            self._given_up = self.server.loop.call_later(_LAST_WORDS_SECONDS, self.abort)

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
            if len(out) == 1:
                transport.write(out[0])
            elif sum(map(len, out)) <= _JOIN_LIMIT:
                transport.write(b"".join(out))
            else:
                transport.writelines(out)
        if connection.closing:
            if connection.reason is not None:
                self.server.say_closed(connection)
            self._close()
        elif connection.queued or connection.blocked or not self._reading:
            self._throttle(connection, transport)
        if self.server.state.stirred:
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


__all__ = ["BrokerProtocol", "ListenError", "Server"]
