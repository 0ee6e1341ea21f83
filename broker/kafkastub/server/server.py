"""Listeners and their connections on an asyncio loop."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Hashable
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from kafkastub.server.acceptor import Acceptor, Made
from kafkastub.server.clock import Clock
from kafkastub.server.connection import NO_TLS_HERE, Connection
from kafkastub.server.dispatch import IS_NOT_SERVED, Dispatcher
from kafkastub.server.doors import Door, ListenError
from kafkastub.server.idle import IdleWatch
from kafkastub.server.limits import ConnectionLimits, Slot
from kafkastub.server.names import Names
from kafkastub.state.broker_state import BrokerState
from kafkastub.state.rate_limiter import RateLimiter
from kafkawire.codec import Parts

if TYPE_CHECKING:
    from kafkastub.server.sasl import Gate

_QUEUE_LIMIT = 1 << 18
"""Bytes of waiting frames from which a muted connection is no longer read."""
_JOIN_LIMIT = 1 << 16
"""Bytes of replies up to which joining them is cheaper than handing them over one by one."""
_WRITE_LIMIT = 1 << 20
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
        self.late_ms = cast(int, state.config["connection.failed.authentication.delay.ms"])
        self.idle = IdleWatch(loop, clock, state.config["connections.max.idle.ms"], BrokerProtocol.end_idle)
        self.doors: list[Door] = []
        self._names = Names(loop)
        self._limits: dict[int, ConnectionLimits] = {}
        """By node."""
        self._next_id = 0
        self._said = RateLimiter()
        self._armed_for: int | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._go_by_quotas()
        state.broker_changed = self._broker_changed

    async def listen(self, door: Door) -> None:
        """Open a door. Raises ListenError, ConfigError."""
        if door.listener.protocol.startswith("SASL_"):
            from kafkastub.security.credentials import ListenerSasl

            door.sasl = ListenerSasl(self.state.config, door.listener)

        if door.node_id not in self._limits:
            self._limits[door.node_id] = ConnectionLimits(self.state, partial(self._names.resolve, door.node_id))
            await self._names.settled()
        limits, name = self._limits[door.node_id], door.listener.name
        limits.add_listener(name)

        def made(slot: Slot) -> BrokerProtocol:
            protocol = BrokerProtocol(self, door, slot)
            if limits.excess:
                self.loop.call_soon(self._close_excess, door.node_id)
            return protocol

        protocols: Made = made
        if door.tls is not None:
            from kafkastub.server.tls import behind_tls

            protocols = behind_tls(self, door.tls, made)
        door.open(lambda sock: Acceptor(self.loop, sock, name, limits, protocols, self._timer_ms, self.say))
        if door not in self.doors:
            self.doors.append(door)

    async def close(self) -> None:
        """Stop accepting, drop what waits, flush what was answered, and wait until every connection is gone."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self.idle.stop()
        for door in self.doors:
            await door.close()
        await self._drop(list(self.connections))

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
        self.idle.clock = clock
        self._go_by_quotas()
        state.broker_changed = self._broker_changed
        self._broker_changed()
        for door in self.doors:
            door.renewed()
        self.rearm()
        await self._drop(list(self.connections))

    def _go_by_quotas(self) -> None:
        """Measure requests from the first quota of users or client ids on, as long as there are any."""
        dispatcher, clock = self.dispatcher, self.clock

        def changed() -> None:
            from kafkastub.server.throttling import switch

            switch(dispatcher, clock)

        self.state.quotas_changed = changed
        if self.state.has_quotas:
            changed()

    def _broker_changed(self) -> None:
        """The broker's configuration is another one now: let in, and close, who is to be by it."""
        for node_id, limits in self._limits.items():
            limits.read(self.state)
            if limits.excess:
                self._close_excess(node_id)

    def _close_excess(self, node_id: int) -> None:
        """Close the connections of a node that were idle longest, as many as there are too many."""
        limits = self._limits[node_id]
        there = [one for one in self.connections if one.door.node_id == node_id]
        ending = sum(one.transport.is_closing() for one in there)
        may_go = [
            one for one in there if not (one.transport.is_closing() or limits.is_protected(one.door.listener.name))
        ]
        may_go.sort(key=lambda one: (one.connection.active_ms, one.connection.info.id))
        for protocol in may_go[: max(0, limits.excess - ending)]:
            self.say(
                ("excess", node_id),
                "connection closed",
                peer=protocol.connection.info.peer,
                why="there are more than max.connections, and it was idle longest",
            )
            protocol.connection.lost()
            protocol.abort()

    @property
    def connected(self) -> tuple[int, int]:
        """How many connections there are, and how many there ever were."""
        return len(self.connections), self._next_id

    def next_connection_id(self) -> int:
        self._next_id += 1
        return self._next_id

    def _timer_ms(self) -> int:
        return self.clock.timer_ms()

    def say(self, key: Hashable, text: str, **fields: object) -> bool:
        """A warning in the log, once in a while for each key. False where it has to be said again: see `Logger`."""
        if self._said.allows(key, self.clock.timer_ms()):
            return self.state.log.warning(text, **fields) is not False
        return True

    def say_closed(self, connection: Connection) -> None:
        """Say why we close a connection; once in a while where a client cannot know better and tries again: TLS, and
        what is not served.
        """
        info, why = connection.info, connection.reason or ""
        tries_again = why == NO_TLS_HERE or IS_NOT_SERVED in why
        if not tries_again or self._said.allows((info.listener, info.client_host, why), self.clock.timer_ms()):
            self.state.log.warning("connection closed", peer=info.peer, why=why)

    def rearm(self) -> None:
        """Keep the one timer at the state's next deadline, or before it: then nothing happens when it fires."""
        self.state.dirty = False
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


class BrokerProtocol(asyncio.Protocol):
    """Feeds a `Connection` and drains it; nothing else."""

    def __init__(self, server: Server, door: Door, slot: Slot) -> None:
        # for its life
        self.server = server
        self.door = door
        self._slot = slot
        self.gone: asyncio.Future[None] = server.loop.create_future()
        # from connection_made on
        self.transport: asyncio.Transport
        self.connection: Connection
        self._gate: Gate | None = None
        # as it goes
        self.idle_slot = 0
        """Of the `IdleWatch`."""
        self._unread = 0
        """Bytes that the client had not read when nothing more was served, or when we looked last."""
        self._reading = True
        self._later: asyncio.TimerHandle | None = None
        """For what comes of it in the end."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.transport.set_write_buffer_limits(high=_WRITE_LIMIT)
        _no_delay(self.transport.get_extra_info("socket"))
        peer = self.transport.get_extra_info("peername") or ("unknown", 0)
        server = self.server
        info = self.door.admit(server.next_connection_id(), peer)
        limit = server.request_limit
        if self.door.sasl is not None:
            from kafkastub.server.sasl import gate

            self._gate = gate(server.dispatcher, self.door.sasl, info, server._said)
            limit = min(limit, self._gate.limit)
        self.connection = Connection(self._gate or server.dispatcher, info, limit, server.clock.both, self._woken)
        if self._gate is not None:
            self._gate.when_open(lambda: self.connection.allow(server.request_limit))
        self.connection.active_ms = server.clock.timer_ms()
        server.connections.add(self)
        server.idle.add(self)

    def data_received(self, data: bytes) -> None:
        self.connection.receive(data)
        self._drain()

    def pause_writing(self) -> None:
        self.connection.blocked = True
        self._unread = self.transport.get_write_buffer_size()

    def resume_writing(self) -> None:
        self.connection.blocked = False
        self.server.loop.call_soon(self._resume)

    def connection_lost(self, exc: BaseException | None) -> None:
        self.connection.lost()
        self.connection.info.forget()
        self.server.connections.discard(self)
        self.server.idle.discard(self)
        self._slot.free()
        if self._later is not None:
            self._later.cancel()
        if not self.gone.done():
            self.gone.set_result(None)

    def shut(self) -> None:
        """Close once what was answered is sent."""
        self.connection.lost()
        self._close()

    def abort(self) -> None:
        self.transport.abort()

    def moved(self, now: int) -> bool:
        """Whether the client has read something since we looked last, of what is not sent yet. Then it is not idle."""
        unread = self.transport.get_write_buffer_size()
        if not unread or unread == self._unread:
            return False
        self._unread = unread
        self.connection.active_ms = now
        return True

    def end_idle(self) -> None:
        """Nothing has moved for too long."""
        self.server.state.log.info("idle connection closed", peer=self.connection.info.peer)
        self.connection.lost()
        self.abort()  # what has not been read by now is not going to be

    def _close(self) -> None:
        """Close once what was answered is sent; what nobody reads is not kept for ever."""
        if self._later is not None:
            self._later.cancel()
            self._later = None
        self.transport.close()
        if self.transport.get_write_buffer_size():
            self._later = self.server.loop.call_later(_LAST_WORDS_SECONDS, self.abort)

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
        if connection.closing:
            self._finish()
        else:
            out = connection.out
            if out:
                connection.out = []
                if len(out) == 1:
                    transport.write(out[0])
                else:
                    self._write_all(out)
            if connection.queued or connection.blocked or not self._reading:
                self._throttle(connection, transport)
        if self.server.state.dirty:
            self.server.rearm()

    def _write_all(self, out: Parts) -> None:
        if not out:
            return
        if sum(map(len, out)) <= _JOIN_LIMIT:
            self.transport.write(b"".join(out))
        else:
            self.transport.writelines(out)

    def _finish(self) -> None:
        """Send what there is to send, and close; who has failed to authenticate is kept waiting."""
        if self._later is not None:
            return
        connection, gate = self.connection, self._gate
        out, connection.out = connection.out, []
        if connection.reason is not None:
            self.server.say_closed(connection)
        if gate is None or not self.server.late_ms or not gate.ends_late(connection):
            self._write_all(out)
            self._close()
            return
        told = 1 if gate.tells else 0
        self._write_all(out[: len(out) - told])
        self._later = self.server.loop.call_later(self.server.late_ms / 1000, self._finish_late, out[len(out) - told :])

    def _finish_late(self, last_words: Parts) -> None:
        self._write_all(last_words)
        self._close()

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
