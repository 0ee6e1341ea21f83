"""A client connection on the loop: what comes from the socket goes to its `Connection`, and what that answers back."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Any, Protocol, cast

from kafkastub.server.connection import Connection

if TYPE_CHECKING:
    from kafkastub.server.clock import Clock
    from kafkastub.server.connection_limits import Slot
    from kafkastub.server.dispatch import Dispatcher
    from kafkastub.server.idle import IdleExpiry
    from kafkastub.server.node_listener import NodeListener
    from kafkastub.server.sasl import SaslGate
    from kafkastub.server.unfinished import UnfinishedFrames
    from kafkastub.state.broker_state import BrokerState
    from kafkastub.state.rate_limiter import RateLimiter
    from kafkawire.codec import Parts

_QUEUE_LIMIT = 1 << 18
"""Bytes of waiting frames from which a muted connection is no longer read."""
_JOIN_LIMIT = 1 << 16
"""Bytes of replies up to which joining them is cheaper than handing them over one by one."""
_WRITE_LIMIT = 1 << 20
"""Bytes of unread replies from which a connection is no longer served."""
_LAST_WORDS_SECONDS = 10
"""How long a client has to read what was answered before its connection was closed."""


class ServerSide(Protocol):
    """What a connection needs of its server. Another state, clock and dispatcher may take the place of these."""

    loop: asyncio.AbstractEventLoop
    state: BrokerState
    clock: Clock
    dispatcher: Dispatcher
    idle: IdleExpiry
    unfinished: UnfinishedFrames
    connections: set[BrokerProtocol]
    log_limiter: RateLimiter
    request_limit: int
    """Bytes of a frame."""
    failed_authentication_delay_ms: int

    def next_connection_id(self) -> int: ...

    def log_closed(self, connection: Connection) -> None:
        """Say why we close it."""

    def connection_gone(self) -> None:
        """Something may follow from that."""

    def rearm(self) -> None:
        """Look at the state's deadlines: they have changed."""


class BrokerProtocol(asyncio.Protocol):
    """Feeds a `Connection` and drains it; nothing else."""

    def __init__(self, server: ServerSide, listener: NodeListener, slot: Slot) -> None:
        # for its life
        self.server = server
        self.listener = listener
        self._slot = slot
        self.gone: asyncio.Future[None] = server.loop.create_future()
        # from connection_made on
        self.transport: asyncio.Transport
        self.connection: Connection
        self._gate: SaslGate | None = None
        # as it goes
        self.idle_slot = 0
        """Of `IdleExpiry`."""
        self.unfinished = 0
        """Of `UnfinishedFrames`."""
        self._starved = False
        """Whether no more is read because there is no memory for the rest of a frame."""
        self._unread = 0
        """Bytes that the client had not read when nothing more was served, or when we looked last."""
        self._reading = True
        self._has_ended = False
        """Whether the client sends no more, and what it has sent is still to be served."""
        self._close_timer: asyncio.TimerHandle | None = None
        """For what is left to do once nothing more is served."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.transport.set_write_buffer_limits(high=_WRITE_LIMIT)
        _no_delay(self.transport.get_extra_info("socket"))
        peer = self.transport.get_extra_info("peername") or ("unknown", 0)
        server = self.server
        info = self.listener.admit(server.next_connection_id(), peer)
        limit = server.request_limit
        if self.listener.sasl is not None:
            from kafkastub.server.sasl import sasl_gate

            self._gate = sasl_gate(server.dispatcher, self.listener.sasl, info, server.log_limiter)
            limit = min(limit, self._gate.limit)
        dispatcher = self._gate or server.dispatcher
        self.connection = Connection(dispatcher, info, limit, server.clock.both, self._woken, self._holds)
        if self._gate is not None:
            self._gate.when_open(lambda: self.connection.allow(server.request_limit))
        self.connection.active_ms = server.clock.timer_ms()
        server.connections.add(self)
        server.idle.add(self)

    def data_received(self, data: bytes) -> None:
        connection = self.connection
        connection.receive(data)
        out = connection.out
        if len(out) != 1 or connection.closing:
            self._drain()
            return
        self.transport.write(out.pop())  # most often; as `_drain` does it
        if connection.queued or connection.blocked or not self._reading:
            self._pace_reading(connection, self.transport)
        if self.server.state.dirty:
            self.server.rearm()

    def eof_received(self) -> bool:
        """The client sends no more; gives whether the transport stays open.

        It does until all that has come is served, as by Kafka (Selector: closingChannels): a producer with acks=0 sends
        its last records, and closes. With TLS a transport cannot stay open.
        """
        self._has_ended = self.connection.is_behind and self.transport.get_extra_info("ssl_object") is None
        if not self._has_ended:
            self._close()
        return self._has_ended

    def pause_writing(self) -> None:
        self.connection.blocked = True
        self._unread = self.transport.get_write_buffer_size()

    def resume_writing(self) -> None:
        self.connection.blocked = False
        self.server.loop.call_soon(self._resume)

    def connection_lost(self, exc: BaseException | None) -> None:
        self.connection.gone()
        self.connection.info.forget()
        self.server.connection_gone()
        self.server.connections.discard(self)
        self.server.idle.discard(self)
        self._slot.free()
        if self._close_timer is not None:
            self._close_timer.cancel()
        if not self.gone.done():
            self.gone.set_result(None)

    def shut(self) -> None:
        """Close once what was answered is sent."""
        self.connection.lost()
        self._close()

    def abort(self) -> None:
        self.transport.abort()

    def has_moved(self, timer_ms: int) -> bool:
        """Whether the client has read something since we looked last, of what is not sent yet. Then it is not idle."""
        unread = self.transport.get_write_buffer_size()
        if not unread or unread == self._unread:
            return False
        self._unread = unread
        self.connection.active_ms = timer_ms
        return True

    def end_idle(self) -> None:
        """Nothing has moved for too long."""
        self.server.state.log.info("idle connection closed", peer=self.connection.info.peer)
        self.connection.lost()
        self.abort()  # what has not been read by now is not going to be

    @property
    def is_read(self) -> bool:
        """Whether what the client sends is read, or is not only because it does not read itself."""
        return self._reading or self.connection.blocked

    def starve(self, starved: bool) -> None:
        """Whether no more is read, for want of memory."""
        self._starved = starved
        if not self.transport.is_closing():
            self._pace_reading(self.connection, self.transport)

    def end_starved(self, why: str) -> None:
        """Others need the memory that its unfinished frame takes."""
        connection = self.connection
        connection.reason = why
        self.server.log_closed(connection)
        connection.lost()
        self.abort()

    def _holds(self, size: int) -> None:
        self.server.unfinished.hold(self, size)

    def _close(self) -> None:
        """Close once what was answered is sent; what nobody reads is not kept for ever."""
        if self._close_timer is not None:
            self._close_timer.cancel()
            self._close_timer = None
        self.transport.close()
        if self.transport.get_write_buffer_size():
            self._close_timer = self.server.loop.call_later(_LAST_WORDS_SECONDS, self.abort)

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
            if self._has_ended:
                if not connection.is_behind:
                    self._close()
            elif connection.queued or connection.blocked or not self._reading:
                self._pace_reading(connection, transport)
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
        if self._close_timer is not None:
            return
        connection, gate = self.connection, self._gate
        out, connection.out = connection.out, []
        if connection.reason is not None:
            self.server.log_closed(connection)
        if gate is None or not self.server.failed_authentication_delay_ms or not gate.is_told_late(connection.unframed):
            self._write_all(out)
            self._close()
            return
        held_back = len(out) - (1 if gate.has_told_failure else 0)
        self._write_all(out[:held_back])
        self._close_timer = self.server.loop.call_later(
            self.server.failed_authentication_delay_ms / 1000, self._finish_late, out[held_back:]
        )

    def _finish_late(self, last_words: Parts) -> None:
        self._write_all(last_words)
        self._close()

    def _pace_reading(self, connection: Connection, transport: asyncio.Transport) -> None:
        if self._reading:
            if connection.queued > _QUEUE_LIMIT or connection.blocked or self._starved:
                self._reading = False
                transport.pause_reading()
        elif connection.queued <= _QUEUE_LIMIT // 2 and not (connection.blocked or self._starved):
            self._reading = True
            transport.resume_reading()


def _no_delay(sock: Any) -> None:
    if sock is not None and sock.family in (socket.AF_INET, socket.AF_INET6):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
