"""A client's connection, to which belongs one to the broker (`answers.py`): bytes that pass, cut where they lie.

Both sides know which requests are under way: a broker answers in order. What is done about an answer is decided when
its request passes (`Pending`). While nobody watches and no rule is there, a chunk that was read is sent as it is.

A connection is muted while a fault has one of its requests, as Kafka mutes a channel while it serves one; nothing
behind that request is sent on. Whoever does not read is not read for: each side stops reading while the other has more
than `WRITE_LIMIT` bytes to send, and nobody asks on while `_MOST_UNDER_WAY` of his requests have no answer. What is
kept whole because of a rule takes room (`room.py`); while there is none, its connection is not read.
"""

from __future__ import annotations

import asyncio
import errno
import struct
from collections import deque
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from kafkastub.handlers.context import ConnectionInfo
from kafkastub.proxy.acks import acks_of
from kafkastub.proxy.answers import WRITE_LIMIT, BrokerSide, Names, no_delay
from kafkastub.proxy.places import UNREACHABLE, Unanswered
from kafkastub.proxy.room import Taken, Unread
from kafkastub.proxy.routes import Route
from kafkastub.proxy.under_way import Pending
from kafkawire.api import ApiKey

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from kafkastub.proxy.places import Place
    from kafkastub.proxy.under_way import Acting
    from kafkastub.server.watching.faults import Arrive

_HOLD_LIMIT: Final = 1 << 18
"""Bytes that a muted client has sent, from which it is no longer read."""
_MOST_UNDER_WAY: Final = 10_000
"""Requests of a client that are not answered, from which it is no longer read."""
LARGEST_WHOLE: Final = 1 << 27
"""Bytes of a frame that is kept whole for a rule; a larger one passes."""
_HEAD: Final = 12
"""Bytes of a request by which it is known what it is: size, key, version, correlation id."""
_MOST_OF_HEAD: Final = 1 << 9
_SILENT: Final = "others wait for the room of a large request or answer (--keep-bytes), and hardly anything of it moves"
_request = struct.Struct(">ihhi").unpack_from
_short = struct.Struct(">h").unpack_from
_int = struct.Struct(">i").unpack_from
_TOO_SHORT = (struct.error, IndexError)
_LONGEST_HEAD: Final = 1 << 17
"""Bytes of a Produce in which its acks are looked for: behind header and transactional id, which are texts."""
_LONGEST_LOGIN: Final = 1 << 19
"""Bytes of a request of somebody who has not logged in (Kafka's sasl.server.max.receive.size): of a larger one nothing
is kept, for the broker closes the connection."""
_OUR_OWN: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM, errno.EADDRNOTAVAIL)
"""Why no connection can be made though the node may be there."""
_TOKENS: Final = {"PLAIN": 1, "OAUTHBEARER": 1, "SCRAM-SHA-256": 2, "SCRAM-SHA-512": 2}
"""Tokens that a client sends without a header behind SaslHandshake 0."""
_MANY: Final = -1
"""As many as there are, of a mechanism that is not known: until something comes that is a request."""


class Owner(Names, Protocol):
    """What a pair needs of its proxy."""

    clients: set[ClientSide]
    is_closing: bool

    @property
    def has_sasl(self) -> bool:
        """Whether clients log in."""

    def next_connection_id(self) -> int: ...
    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]: ...
    def route(self, name: bytes) -> Route: ...
    def now(self) -> tuple[int, int]: ...
    def arriving(self, node_id: int, frame: bytes) -> Arrive: ...
    def match(self, client: ClientSide, pending: Pending, frame: bytes) -> Acting | None: ...
    async def connect(self, place: Place, make: Callable[[], asyncio.Protocol]) -> None: ...
    def warn(self, why: str, peer: str) -> None: ...
    def gone(self, client: ClientSide) -> None: ...


class ClientSide(asyncio.Protocol):
    """What a client sends, and what it is sent."""

    def __init__(self, owner: Owner, place: Place) -> None:
        # for its life
        self.owner = owner
        self.place = place
        self.connection = self
        """For what stands between a socket and its protocol (`server.tls`)."""
        self.info: ConnectionInfo
        self.transport: asyncio.Transport
        self.broker: BrokerSide | None = None
        self.pending: deque[Pending] = deque()
        self.ended: asyncio.Future[None] = owner.loop.create_future()
        self.active_ms = 0
        # as it goes
        self.muted = True
        """Whether nothing is sent on: until the broker is there, and while a fault has a request."""
        self._chunks: list[bytes] = []
        self._held = 0
        """Bytes of what is not sent on yet."""
        self._need = 0
        """Bytes of it from which it is worth looking again."""
        self._left = 0
        """Bytes of a frame whose beginning has passed."""
        self._kept: list[bytes] | None = None
        """The part of that frame that has passed, where it is kept."""
        self._last: Pending | None = None
        """The request that it is."""
        self.is_blind = False
        """Whether what comes is no frame: the broker knows what to do about it."""
        self._tokens = 0
        self._mechanism = ""
        self.accepted = 0
        """Tokens that the broker has answered well."""
        self.is_read = True
        self._unread = False
        """Whether the broker does not read as fast as the client sends."""
        self._room = Taken(owner.room, self)
        """Of the frame that is not there as a whole."""
        self._leaving = Unread(owner.room, self._not_sent_on, self.end_silent, is_slow_itself=False)
        """Of what the broker is still to read."""
        self._delivering = Unread(owner.room, self._not_read, self.end_silent, is_slow_itself=True)
        """Of what the client is."""
        self._slow = False
        """Whether the client does not read as fast as the broker answers."""
        self._eof = False
        self._connecting: asyncio.Task[None] | None = None

    # --- the transport's

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.transport.set_write_buffer_limits(high=WRITE_LIMIT)
        no_delay(self.transport)
        peer = self.transport.get_extra_info("peername") or ("unknown", 0)
        host, port = str(peer[0]), peer[1] if len(peer) > 1 else 0
        shown = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        place, owner = self.place, self.owner
        self.info = ConnectionInfo(
            owner.next_connection_id(), f"/{host}", shown, place.listener, place.node_id, place.protocol
        )
        owner.clients.add(self)
        if owner.is_closing:  # the kernel had accepted it before the listener was closed
            self.transport.abort()
            return
        self._connecting = owner.spawn(self._connect())

    async def _connect(self) -> None:
        try:
            await self.owner.connect(self.place, lambda: BrokerSide(self))
        except UNREACHABLE as error:
            why = getattr(error, "strerror", None) or error
            self.owner.warn(f"{self.place.address} cannot be reached: {why}", self.info.peer)
            if getattr(error, "errno", None) not in _OUR_OWN:
                self.place.failed()
            if isinstance(error, Unanswered):  # nor is anybody else answered who waits there
                for other in list(self.owner.clients):
                    if other.place is self.place and other.broker is None:
                        other.transport.abort()
            self.transport.abort()

    def broker_here(self, broker: BrokerSide) -> None:
        """The broker has accepted the connection."""
        if self.ended.done():
            broker.transport.abort()
            return
        self.broker = broker
        self.muted = False
        self._go_on()
        if self._eof and not self.muted:
            self._send_eof()

    def data_received(self, data: bytes) -> None:
        if self._held:
            self._chunks.append(data)
            self._held += len(data)
            if self.muted or self._held < self._need or self._room.waits:
                self.pace()
                return
            data = self._joined()
        elif self.muted:
            self._hold(data, 0)
            self.pace()
            return
        self._cut(data)

    def eof_received(self) -> bool:
        """The client sends no more; what it has asked is still answered, as far as the broker does.

        A request that a fault has is not: its client has gone.
        """
        self._eof = True
        if self.broker is None:
            return self._held > 0 and self.transport.get_extra_info("ssl_object") is None
        if self.muted:
            return False
        self._send_eof()
        return self.transport.get_extra_info("ssl_object") is None

    def pause_writing(self) -> None:
        self._slow = True
        if self.broker is not None:
            self.broker.pace()

    def resume_writing(self) -> None:
        self._slow = False
        self._delivering.end()
        if self.broker is not None:
            self.broker.pace()

    def connection_lost(self, exc: BaseException | None) -> None:
        if self.ended.done():
            return
        self.ended.set_result(None)
        if self._connecting is not None and not self._connecting.done():
            self._connecting.cancel()
        watch = self.owner.watch
        broker_closed = self.broker is not None and self.broker.ended and not self._eof
        for pending in self.pending:
            if pending.acting is not None:
                pending.acting.abandon()
            if watch is not None:
                watch.on_no_answer(pending, closed=broker_closed)
        self.pending.clear()
        self._chunks.clear()
        self._held = 0
        self._room.end()
        self._leaving.end()
        self._delivering.end()
        self.info.forget()
        if self.broker is not None and not self.broker.ended:
            self.broker.transport.abort()
        self.owner.clients.discard(self)
        self.owner.gone(self)

    # --- from one frame to the next

    def _hold(self, data: bytes, need: int) -> None:
        self._chunks.append(data)
        self._held += len(data)
        self._need = need

    def _joined(self) -> bytes:
        data = self._chunks[0] if len(self._chunks) == 1 else b"".join(self._chunks)
        self._chunks.clear()
        self._held = 0
        return data

    def pace(self) -> None:
        """Read on, or do not."""
        full = (
            self._unread
            or self._room.waits
            or (self.muted and self._held > _HOLD_LIMIT)
            or len(self.pending) > _MOST_UNDER_WAY
        )
        if self.is_read == full and not self.transport.is_closing():
            self.is_read = not full
            if full:
                self.transport.pause_reading()
            else:
                self.transport.resume_reading()

    def unread(self, is_so: bool) -> None:
        """Whether the broker has more to read than it reads."""
        self._unread = is_so
        if not is_so:
            self._leaving.end()
        self.pace()

    def mute(self) -> None:
        """Nothing behind the request that is looked at is sent on."""
        self.muted = True

    def unmute(self) -> None:
        """The fault has done with it. What waits goes on soon: there may be many such requests behind each other."""
        self.muted = False
        self.owner.loop.call_soon(self._go_on)

    def _go_on(self) -> None:
        if self.muted or self.transport.is_closing():
            return
        if self._held and self._held >= self._need and not self._room.waits:
            self._cut(self._joined())
        self.pace()

    def _send_eof(self) -> None:
        broker = self.broker
        if broker is None:
            self.transport.abort()
        elif broker.transport.can_write_eof():
            broker.transport.write_eof()
        else:
            broker.transport.close()

    def send(self, data: bytes) -> None:
        """To the broker."""
        assert self.broker is not None
        self.broker.transport.write(data)

    def _cut(self, data: bytes) -> None:
        """Send on what is in `data`, but for what has to wait."""
        broker = self.broker
        assert broker is not None
        position, first, length = 0, 0, len(data)
        taken = self._room.hand_over()
        left = self._left
        if left:
            position = min(left, length)
            self._left = left - position
            if self._kept is not None:
                self._kept.append(data[:position])
            if self._left == 0:
                self._frame_has_passed()
        if self.is_blind:
            position = length
        owner = self.owner
        watch, pending = owner.watch, self.pending
        need = wanted = 0
        while position < length:
            if self._tokens:
                position, need = self._cut_token(data, position)
                if need:
                    break
                continue
            if length - position < _HEAD:
                if length - position >= 4 and _int(data, position)[0] < 8:  # nothing follows a size that is none
                    self.is_blind = True
                    position = length
                    break
                need = _HEAD
                break
            size, number, version, correlation_id = _request(data, position)
            if size < 8:
                self.is_blind = True
                position = length
                break
            route = owner.route(data[position + 4 : position + 8])
            end = position + 4 + size
            whole = end <= length
            if not whole and route.concerned and size <= (LARGEST_WHOLE if self._is_known() else _LONGEST_LOGIN):
                need = 4 + size
                wanted = need if self._is_known() else 0
                break
            request = Pending(route, correlation_id)
            if number == 0:  # Produce
                try:
                    acks = acks_of(data, position + 4, min(end, length), route)
                except _TOO_SHORT:
                    if not whole and length - position < _LONGEST_HEAD:
                        need = min(4 + size, length - position + _MOST_OF_HEAD)
                        break
                    acks = 1  # the broker will close it
                except ValueError:
                    acks = 1  # a varint that is none: it will, too
            else:
                acks = 1
                if (
                    number == ApiKey.API_VERSIONS
                    or number == ApiKey.SASL_HANDSHAKE
                    or number == ApiKey.SASL_AUTHENTICATE
                ):
                    if not whole and size <= _LONGEST_LOGIN:
                        need = 4 + size
                        break
                    if whole:
                        self._note_who(request, data, position + 4, end)
            if route.refused:
                owner.warn(f"{route.name} v{version} is a version that this proxy does not know", self.info.peer)
                if watch is not None:
                    watch.on_request(request, self.info, data, position + 4, min(end, length), True)
                    watch.on_no_answer(request, closed=True)
                if position > first:
                    broker.transport.write(data[first:position])
                self._passed(taken)
                self.close_behind()
                return
            if watch is not None:
                if whole:
                    watch.on_request(request, self.info, data, position + 4, end, acks != 0)
                else:
                    self._kept = watch.keeping(size)
                    request.started = perf_counter_ns()
            if route.concerned and whole:
                acting = owner.match(self, request, data[position + 4 : end])
                if acting is not None:
                    if position > first:
                        broker.transport.write(data[first:position])
                    if end < length:
                        self._hold(data[end:], 0)
                    request.acting = acting
                    self.mute()
                    if position:  # the room is of one before it
                        self._passed(taken)
                        taken = 0
                    acting.begin(self, request, data[position:end], acks != 0, taken)
                    return
            if acks != 0:
                pending.append(request)
            if not whole:
                self._left, self._last = end - length, request
                if self._kept is not None:
                    self._kept.append(data[position + 4 :])
                position = length
                break
            position = end
        if position > first:
            broker.transport.write(data if position == length else data[first:position])
        if taken:
            self._passed(taken)
        if position < length:
            self._hold(data[position:] if position else data, need)
            self._room.want(wanted)
            self.pace()
        elif len(pending) > _MOST_UNDER_WAY:
            self.pace()

    def _passed(self, taken: int) -> None:
        """What had that room has been written to the broker: it has it until the broker has read."""
        if self._unread:
            self._leaving.add(taken)
        elif taken:
            self.owner.room.give(taken)

    def deliver(self, reply: bytes, taken: int) -> None:
        """An answer that was kept, and had that room."""
        self.transport.write(reply)
        if self._slow:
            self._delivering.add(taken)
        elif taken:
            self.owner.room.give(taken)

    def is_slow(self) -> bool:
        """Whether it does not read as fast as the broker answers."""
        return self._slow

    @property
    def to_come(self) -> int:
        """Bytes of the frame that is collected which are not there yet."""
        return self._need - self._held

    def go_on(self) -> None:
        """There is room for it."""
        self.owner.loop.call_soon(self._go_on)

    def _not_sent_on(self) -> int:
        return 0 if self.broker is None else self.broker.transport.get_write_buffer_size()

    def _not_read(self) -> int:
        return self.transport.get_write_buffer_size()

    def end_silent(self) -> None:
        """Others wait for room that it has, and hardly anything moves."""
        self.owner.warn(_SILENT, self.info.peer)
        self.transport.abort()

    def _frame_has_passed(self) -> None:
        kept, self._kept = self._kept, None
        request, self._last = self._last, None
        watch = self.owner.watch
        if watch is not None and request is not None and kept is not None:
            answered = request.route is None or request in self.pending
            frame = b"".join(kept)
            watch.on_request(request, self.info, frame, 0, len(frame), answered)

    def _cut_token(self, data: bytes, position: int) -> tuple[int, int]:
        """A token of SASL without a header: (where it ends, 0), or (where it begins, bytes that are wanted)."""
        if len(data) - position < 4:
            return position, 4
        (size,) = _int(data, position)
        if self._tokens == _MANY and size >= 8:
            if len(data) - position < 8:
                return position, 8
            if 0 <= _short(data, position + 4)[0] < 256:
                self._tokens = 0
                return position, 0
        end = position + 4 + size
        if size < 0 or end > len(data):
            if size < 0 or size > 1 << 20:
                self.is_blind, self._tokens = True, 0
                return len(data), 0
            return position, 4 + size
        if self._tokens > 0:
            self._tokens -= 1
        self.pending.append(Pending(None, 0))
        return end, 0

    def _is_known(self) -> bool:
        """Whether the client has logged in, where clients do."""
        return not self.owner.has_sasl or self.accepted >= _TOKENS.get(self._mechanism, 1)

    def _note_who(self, request: Pending, data: bytes, start: int, end: int) -> None:
        """What a client says of itself, once a connection."""
        route = request.route
        assert route is not None
        from kafkastub.proxy import said

        if route.number == ApiKey.SASL_HANDSHAKE:
            self._mechanism = said.mechanism(route, data, start, end)
            if route.version == 0:
                self._tokens = _TOKENS.get(self._mechanism, _MANY)
        elif route.number == ApiKey.API_VERSIONS:
            software = said.software(route, data, start, end)
            if software is not None:
                self.info.software_name, self.info.software_version = software
        else:
            request.principal = said.principal(self._mechanism, route, data, start, end)

    # --- the other way

    def answer_passed(self) -> None:
        """An answer has gone: a request that a fault answers by itself may be the next one."""
        pending = self.pending
        if pending and pending[0].acting is not None:
            pending[0].acting.reached()

    def close_behind(self) -> None:
        """Close when what is under way is answered."""
        self.mute()
        self._chunks.clear()
        self._held = 0
        if not self.pending:
            self.transport.close()
        else:
            from kafkastub.proxy.acting import Closing

            last = Pending(None, 0)
            last.acting = Closing(self)
            self.pending.append(last)

    def broker_lost(self, exc: BaseException | None) -> None:
        """The broker has closed the connection: so do we, when the client has what it was sent."""
        if exc is None:
            self.transport.close()
        else:
            self.transport.abort()
