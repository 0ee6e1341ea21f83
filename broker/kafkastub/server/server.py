"""Listeners and their connections on an asyncio loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import cast

from kafkastub.config import BrokerConfig
from kafkastub.handlers.registry import Registration
from kafkastub.server.acceptor import Acceptor, ProtocolFactory
from kafkastub.server.clock import Clock
from kafkastub.server.connection import NO_TLS_HERE, Connection
from kafkastub.server.connection_limits import ConnectionLimits, Slot
from kafkastub.server.dispatch import IS_NOT_SERVED, NAMES_TOO_MUCH, Dispatcher
from kafkastub.server.idle import IdleExpiry
from kafkastub.server.node_listener import ListenError, NodeListener
from kafkastub.server.protocol import BrokerProtocol
from kafkastub.server.resolver import HostResolver
from kafkastub.server.slices import Slices
from kafkastub.server.unfinished import UnfinishedFrames
from kafkastub.state.broker_state import BrokerState
from kafkastub.state.rate_limiter import RateLimiter
from kafkawire.api import ApiKey


class Server:
    """Serves one broker state on one loop. All of it runs in that loop's thread."""

    def __init__(
        self,
        state: BrokerState,
        clock: Clock,
        loop: asyncio.AbstractEventLoop,
        apis: Mapping[ApiKey, Registration] | None = None,
    ) -> None:
        """`apis`: what is served, where that is not all loaded yet (see `LoadedLater`)."""
        self.state = state
        self.clock = clock
        self.loop = loop
        self.dispatcher = Dispatcher(state, apis)
        self.connections: set[BrokerProtocol] = set()
        self.request_limit = cast(int, state.config["socket.request.max.bytes"])
        self.failed_authentication_delay_ms = cast(int, state.config["connection.failed.authentication.delay.ms"])
        self.idle = IdleExpiry(loop, clock, state.config["connections.max.idle.ms"])
        self.unfinished = UnfinishedFrames(_for_unfinished(state.config), self._call_later)
        self.dispatcher.slices = self._slices = Slices(loop, self.unfinished.wait)
        self.listeners: list[NodeListener] = []
        self._resolver = HostResolver(loop)
        self._limits: dict[int, ConnectionLimits] = {}
        """By node."""
        self._next_id = 0
        self.log_limiter = RateLimiter()
        self._armed_for: int | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._closing = False
        self._go_by_quotas()
        state.broker_changed = self._broker_changed
        state.timer_ms = clock.timer_ms

    async def listen(self, listener: NodeListener) -> None:
        """Open a listener. Raises ListenError, ConfigError."""
        if listener.configured.protocol.startswith("SASL_"):
            from kafkastub.security.credentials import ListenerSasl

            listener.sasl = ListenerSasl(self.state.config, listener.configured)
        if listener.node_id not in self._limits:
            self._limits[listener.node_id] = ConnectionLimits(
                self.state, partial(self._resolver.resolve, listener.node_id)
            )
            await self._resolver.settled()
        limits, name = self._limits[listener.node_id], listener.name
        limits.add_listener(name)

        def plain(slot: Slot) -> BrokerProtocol:
            protocol = BrokerProtocol(self, listener, slot)
            if limits.excess:
                self.loop.call_soon(self._close_excess, listener.node_id)
            return protocol

        factory: ProtocolFactory = plain
        if listener.tls is not None:
            from kafkastub.server.tls import behind_tls

            factory = behind_tls(listener.tls, plain, self._timer_ms, self.state.log)
        listener.open(lambda sock: Acceptor(self.loop, sock, name, limits, factory, self._timer_ms, self.warn))
        if listener not in self.listeners:
            self.listeners.append(listener)

    async def close(self) -> None:
        """Stop accepting, drop what waits, flush what was answered, and wait until every connection is gone."""
        self._closing = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self.idle.stop()
        self._slices.stop()
        for listener in self.listeners:
            await listener.close()
        await self._drop(list(self.connections))

    async def shut_node(self, node_id: int) -> None:
        """Let nobody in to a node any more; its addresses are kept for it."""
        for listener in self.listeners:
            if listener.node_id == node_id:
                await listener.close(keep_address=True)

    async def drop_node(self, node_id: int) -> None:
        """End all connections to a node."""
        await self._drop([one for one in self.connections if one.listener.node_id == node_id])

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
        """Serve another state from now on, on the same listeners; whoever is connected is not any more."""
        self.serve_instead(state, clock)
        await self.drop_all()

    async def drop_all(self) -> None:
        """End all connections."""
        await self._drop(list(self.connections))

    def serve_instead(self, state: BrokerState, clock: Clock) -> None:
        """Serve another state from now on, on the same listeners; who is connected is to be dropped at once."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._armed_for = None
        self._slices.stop()
        self.state, self.clock, self.dispatcher = state, clock, Dispatcher(state)
        self.dispatcher.slices = self._slices
        self.idle.clock = clock
        self._go_by_quotas()
        state.broker_changed = self._broker_changed
        state.timer_ms = clock.timer_ms
        self._broker_changed()
        for listener in self.listeners:
            listener.renewed()
        self.rearm()

    def _go_by_quotas(self) -> None:
        """Measure requests from the first quota of users or client ids on, as long as there are any."""
        dispatcher, clock = self.dispatcher, self.clock

        def changed() -> None:
            from kafkastub.server.throttling import switch_measuring

            switch_measuring(dispatcher, clock)

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
        there = [one for one in self.connections if one.listener.node_id == node_id]
        ending = sum(one.transport.is_closing() for one in there)
        may_go = [one for one in there if not (one.transport.is_closing() or limits.is_protected(one.listener.name))]
        may_go.sort(key=lambda one: (one.connection.active_ms, one.connection.info.id))
        for protocol in may_go[: max(0, limits.excess - ending)]:
            self.warn(
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

    def _call_later(self, ms: int, call: Callable[[], None]) -> None:
        self.loop.call_later(ms / 1000, call)

    def warn(self, key: Hashable, text: str, **fields: object) -> bool:
        """A warning in the log, once in a while for each key. False where it has to be said again: see `Logger`."""
        if self.log_limiter.allows(key, self.clock.timer_ms()):
            return self.state.log.warning(text, **fields) is not False
        return True

    def log_closed(self, connection: Connection) -> None:
        """Say why we close a connection; once in a while where a client cannot know better and tries again: TLS, and
        what is not served.
        """
        info, why = connection.info, connection.reason or ""
        tries_again = why == NO_TLS_HERE or IS_NOT_SERVED in why or NAMES_TOO_MUCH in why
        if not tries_again or self.log_limiter.allows((info.listener, info.client_host, why), self.clock.timer_ms()):
            self.state.log.warning("connection closed", peer=info.peer, why=why)

    def connection_gone(self) -> None:
        """Something may follow from that, unless it all ends."""
        if self.state.dirty and not self._closing:
            self.rearm()

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


def _for_unfinished(config: BrokerConfig) -> int:
    """Bytes that unfinished frames may take together: by Kafka's name, if it is given, or by our own."""
    queued = cast(int, config["queued.max.request.bytes"])
    return queued if queued > 0 else cast(int, config["kafkastub.unfinished.requests.max.bytes"])


__all__ = ["ListenError", "Server"]
