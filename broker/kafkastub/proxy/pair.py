"""A client's connection and the one to the broker behind it: bytes that pass, cut into frames where they lie.

Both sides know which requests are under way: a broker answers in order. What is done about an answer is decided when
its request passes (`Pending`). While nobody watches and no rule is there, a chunk that was read is sent as it is.

A connection is muted while a fault has one of its requests, as Kafka mutes a channel while it serves one; nothing
behind that request is sent on. Whoever does not read is not read for: each side stops reading while the other has more
than `_WRITE_LIMIT` bytes to send, and nobody asks on while `_MOST_UNDER_WAY` of his requests have no answer. What is
kept whole because of a rule takes room (`room.py`); while there is none, its connection is not read.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import struct
from collections import deque
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from kafkastub.handlers.context import ConnectionInfo
from kafkastub.proxy import naming
from kafkastub.proxy.places import UNREACHABLE, Unanswered
from kafkastub.proxy.room import Taken
from kafkastub.proxy.routes import Answer, Route
from kafkastub.proxy.under_way import Pending
from kafkastub.proxy.walking import TailFinder
from kafkawire.api import ApiKey
from kafkawire.codec.varint import read_uvarint
from kafkawire.errors import MalformedMessage

if TYPE_CHECKING:
    from collections.abc import Callable

    from kafkastub.proxy.places import Place
    from kafkastub.proxy.room import Room
    from kafkastub.proxy.under_way import Acting, Watch

_WRITE_LIMIT: Final = 1 << 19
_HOLD_LIMIT: Final = 1 << 18
"""Bytes that a muted client has sent, from which it is no longer read."""
_MOST_UNDER_WAY: Final = 10_000
"""Requests of a client that are not answered, from which it is no longer read."""
_SMALL_ANSWER: Final = 1 << 16
"""Bytes of an answer that is looked at as a whole, where it is there as a whole."""
LARGEST_WHOLE: Final = 1 << 27
"""Bytes of a frame that is kept whole for a rule; a larger one passes."""
_HEAD: Final = 12
"""Bytes of a request by which it is known what it is: size, key, version, correlation id."""
_MOST_OF_HEAD: Final = 1 << 9
_SESSION: Final = 20
"""Bytes of an answer to Fetch in which the id of its session is."""
_request = struct.Struct(">ihhi").unpack_from
_answer = struct.Struct(">ii").unpack_from
_size_and_id = struct.Struct(">ii").pack
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


class Owner(Protocol):
    """What a pair needs of its proxy."""

    loop: asyncio.AbstractEventLoop
    log: Any
    clients: set[ClientSide]
    room: Room

    @property
    def watch(self) -> Watch | None:
        """Who is told of every request, if anybody."""

    @property
    def has_sasl(self) -> bool:
        """Whether clients log in."""

    @property
    def addresses(self) -> int:
        """Another number when an address has changed, of either side."""

    def next_connection_id(self) -> int: ...
    def route(self, name: bytes) -> Route: ...
    def now(self) -> tuple[int, int]: ...
    def told(self, node_id: int, host: str, port: int) -> naming.Address: ...
    def seen(self, brokers: tuple[naming.Broker, ...]) -> None: ...
    def versions(self) -> dict[int, tuple[int, int]]: ...
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
        self._blind = False
        """Whether what comes is no frame: the broker knows what to do about it."""
        self._tokens = 0
        self._mechanism = ""
        self.accepted = 0
        """Tokens that the broker has answered well."""
        self._reading = True
        self._unread = False
        """Whether the broker does not read as fast as the client sends."""
        self._room = Taken(owner.room, lambda: owner.loop.call_soon(self._go_on))
        """Of the frame that is not there as a whole."""
        self._leaving = 0
        """Room of what the broker is still to read."""
        self._delivering = 0
        """The same of the client."""
        self._slow = False
        """Whether the client does not read as fast as the broker answers."""
        self._eof = False
        self._connecting: asyncio.Task[None] | None = None

    # --- the transport's

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.transport.set_write_buffer_limits(high=_WRITE_LIMIT)
        no_delay(self.transport)
        peer = self.transport.get_extra_info("peername") or ("unknown", 0)
        host, port = str(peer[0]), peer[1] if len(peer) > 1 else 0
        shown = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        place, owner = self.place, self.owner
        self.info = ConnectionInfo(
            owner.next_connection_id(), f"/{host}", shown, place.listener, place.node_id, place.protocol
        )
        owner.clients.add(self)
        self._connecting = owner.loop.create_task(self._connect())

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
        if self._delivering:
            size, self._delivering = self._delivering, 0
            self.owner.room.give(size)
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
                watch.unanswered(pending, closed=broker_closed)
        self.pending.clear()
        self._chunks.clear()
        self._held = 0
        self._room.end()
        if self._leaving or self._delivering:
            self.owner.room.give(self._leaving + self._delivering)
            self._leaving = self._delivering = 0
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
        if self._reading == full and not self.transport.is_closing():
            self._reading = not full
            if full:
                self.transport.pause_reading()
            else:
                self.transport.resume_reading()

    def unread(self, is_so: bool) -> None:
        """Whether the broker has more to read than it reads."""
        self._unread = is_so
        if not is_so and self._leaving:
            size, self._leaving = self._leaving, 0
            self.owner.room.give(size)
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
        if self._blind:
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
                need = _HEAD
                break
            size, number, version, correlation_id = _request(data, position)
            if size < 8:
                self._blind = True
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
                    acks = _acks(data, position + 4, min(end, length), route)
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
                    watch.asked(request, self.info, data, position + 4, min(end, length), True)
                    watch.unanswered(request, closed=True)
                if position > first:
                    broker.transport.write(data[first:position])
                self._passed(taken)
                self.close_behind()
                return
            if watch is not None:
                if whole:
                    watch.asked(request, self.info, data, position + 4, end, acks != 0)
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
            self._leaving += taken
        elif taken:
            self.owner.room.give(taken)

    def deliver(self, reply: bytes, taken: int) -> None:
        """An answer that was kept, and had that room."""
        self.transport.write(reply)
        if self._slow:
            self._delivering += taken
        elif taken:
            self.owner.room.give(taken)

    def is_slow(self) -> bool:
        """Whether it does not read as fast as the broker answers."""
        return self._slow

    def _frame_has_passed(self) -> None:
        kept, self._kept = self._kept, None
        request, self._last = self._last, None
        watch = self.owner.watch
        if watch is not None and request is not None and kept is not None:
            answered = request.route is None or request in self.pending
            frame = b"".join(kept)
            watch.asked(request, self.info, frame, 0, len(frame), answered)

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
                self._blind, self._tokens = True, 0
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

    def answered(self) -> None:
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


class BrokerSide(asyncio.Protocol):
    """What the broker answers."""

    def __init__(self, client: ClientSide) -> None:
        self.client = client
        self.transport: asyncio.Transport
        self.ended = False
        self._chunks: list[bytes] = []
        self._held = 0
        self._need = 0
        self._left = 0
        """Bytes of an answer whose beginning has passed."""
        self._of: Pending | None = None
        """What it answers."""
        self._kept: list[bytes] | None = None
        self._tail: _PassingTail | None = None
        self._room = Taken(client.owner.room, lambda: client.owner.loop.call_soon(self._go_on))
        """Of the answer that is not there as a whole."""
        self._reading = True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.transport.set_write_buffer_limits(high=_WRITE_LIMIT)
        no_delay(self.transport)
        self.client.broker_here(self)

    def pause_writing(self) -> None:
        self.client.unread(True)

    def resume_writing(self) -> None:
        self.client.unread(False)

    def connection_lost(self, exc: BaseException | None) -> None:
        self.ended = True
        self._chunks.clear()
        self._room.end()
        self.client.broker_lost(exc)

    def pace(self) -> None:
        """Read on, or do not."""
        full = self._room.waits or self.client.is_slow()
        if self._reading == full and not self.transport.is_closing():
            self._reading = not full
            if full:
                self.transport.pause_reading()
            else:
                self.transport.resume_reading()

    def data_received(self, data: bytes) -> None:
        if self._held:
            self._chunks.append(data)
            self._held += len(data)
            if self._held < self._need or self._room.waits:
                return
            data = self._joined()
        self._look(data)

    def _joined(self) -> bytes:
        data = b"".join(self._chunks)
        self._chunks.clear()
        self._held = 0
        return data

    def _go_on(self) -> None:
        """There is room."""
        if self.ended or self._room.waits:
            return
        if self._held and self._held >= self._need:
            self._look(self._joined())
        self.pace()

    def _look(self, data: bytes) -> None:
        try:
            self._cut(data)
        except (*_TOO_SHORT, ValueError) as error:
            self._confused(str(error))
        if not self.client._reading:
            self.client.pace()

    def _confused(self, why: str) -> None:
        """What comes is not what a broker of Kafka would answer."""
        self.client.owner.log.error("an answer cannot be understood", broker=self.client.place.address, why=why)
        self._chunks.clear()
        self.client.transport.abort()

    def _cut(self, data: bytes) -> None:
        client = self.client
        if client.transport.is_closing():
            return
        position, first, length = 0, 0, len(data)
        write, pending, watch = client.transport.write, client.pending, client.owner.watch
        if self._left:
            position = self._pass(data, length)
            if self._left:
                return
            first = position
        if client._blind and not pending:
            write(data[first:])
            return
        need = 0
        while position < length:
            if length - position < 8 and not (length - position >= 4 and pending and pending[0].route is None):
                need = 8 if pending and pending[0].route is not None else 4
                break
            if not pending:
                self._confused("it answers what was not asked")
                return
            request = pending[0]
            route = request.route
            if route is None:
                if request.acting is not None:
                    self._confused("it answers what was not asked")
                    return
                end = position + 4 + _int(data, position)[0]
                if end > length:
                    need = end - position
                    break
                pending.popleft()
                client.accepted += 1
                position = end
                continue
            size, correlation_id = _answer(data, position)
            if correlation_id != request.correlation_id or size < 4:
                self._confused(f"it answers {correlation_id} where {request.correlation_id} was asked")
                return
            end = position + 4 + size
            whole = end <= length
            if request.acting is not None and request.acting.is_local:
                self._confused("it answers what it was not asked")
                return
            if request.fetch is not None:
                if length - position < _SESSION and not whole:
                    need = _SESSION
                    break
                request.fetch(data[position : position + _SESSION])
            how = Answer.WHOLE if request.acting is not None else route.answer
            if how is Answer.PASSES:
                if whole:
                    pending.popleft()
                    if watch is not None:
                        watch.answered(request, client.info, data[position:end])
                    position = end
                    if pending and pending[0].acting is not None:
                        write(data[first:position])
                        first = position
                        client.answered()
                    continue
                pending.popleft()
                if position > first:
                    write(data[first:position])
                self._begin_passing(request, size, None)
                self._pass(data[position:], length - position)
                return
            if position > first:
                write(data[first:position])
                first = position
            if how is Answer.TAIL and not (whole and size <= _SMALL_ANSWER):
                if length - position < 16 and not whole:
                    need = 16
                    break
                pending.popleft()
                self._begin_passing(request, size, _PassingTail(route, client.owner.told))
                if whole:
                    self._pass(data[position:end], end - position)
                    position = first = end
                    continue
                self._pass(data[position:], length - position)
                return
            if how is Answer.PREFIX and not whole:
                found = naming.metadata_prefix(data, position + 8, route.version, client.owner.told)
                if found is None:
                    need = min(4 + size, 2 * (length - position) + _MOST_OF_HEAD)
                    break
                pending.popleft()
                client.owner.seen(found.brokers)
                new_size = size + len(found.contents) - (found.end - position - 8)
                head = _size_and_id(new_size, correlation_id) + found.contents
                self._begin_passing(request, size, None)
                self._left -= found.end - position
                if self._kept is not None:
                    self._kept.append(head)
                write(head)
                self._pass(data[found.end :], length - found.end)
                return
            if not whole:
                need = 4 + size
                if request.acting is not None:
                    self._room.want(need, request.acting.taken > 0)
                    self.pace()
                break
            position = first = end
            answer = self.understood(route, data[end - size - 4 : end], request)
            if request.acting is not None:
                request.acting.worked(answer, self._room.hand_over())
            else:
                pending.popleft()
                write(answer)
                if watch is not None:
                    watch.answered(request, client.info, answer)
                client.answered()
        if position > first:
            write(data if first == 0 and position == length else data[first:position])
        if position < length:
            self._chunks.append(data[position:])
            self._held = length - position
            self._need = need

    def understood(self, route: Route, frame: bytes, request: Pending) -> bytes:
        """A whole answer as the client gets it: with our addresses. Raises MalformedMessage."""
        owner, key, version = self.client.owner, route.number, route.version
        if route.answer is Answer.PREFIX:
            prefix = naming.metadata_prefix(frame, 8, version, owner.told)
            if prefix is None:
                raise MalformedMessage("an answer to Metadata", "brokers", 8, "it ends too early")
            owner.seen(prefix.brokers)
            body = prefix.contents + frame[prefix.end :]
        elif route.answer is Answer.TAIL:
            if (
                len(frame) <= _SMALL_ANSWER
            ):  # reading it is quicker than walking through it, and hardly any names brokers
                request.answer = message = route.decode_answer(frame, 9)
                if not message.node_endpoints:
                    return frame
                request.answer = None
            at = 9
            finder = TailFinder(key, version)
            at += finder.feed(memoryview(frame)[at:])
            tail = frame[at:]
            if not naming.names_brokers(tail, finder.is_field):
                return frame
            body = frame[8:at] + naming.tail_with_addresses(tail, finder.is_field, owner.told)
        elif key == ApiKey.API_VERSIONS:
            said = version if route.known and _short(frame, 8)[0] != 35 else 0
            body = naming.versions_known(frame[8:], said, owner.versions())
        elif route.answer is Answer.WHOLE:
            at = 9 if route.flexible_answer else 8
            known = owner.addresses, frame[8:]
            if route.known_whole != known:  # the coordinator of a group is asked for again and again
                found = frame[8:at] + naming.whole_with_addresses(key, version, frame[at:], owner.told)
                if len(found) <= _SMALL_ANSWER:
                    route.known_whole, route.whole = (owner.addresses, known[1]), found
                body = found
            else:
                body = route.whole
        else:
            if route.answer is Answer.LOGIN and frame[9 if route.flexible_answer else 8 :].startswith(b"\0\0"):
                self.client.accepted += 1
            return frame
        return (len(body) + 4).to_bytes(4) + frame[4:8] + body

    # --- answers whose end is not there yet

    def _begin_passing(self, request: Pending, size: int, tail: _PassingTail | None) -> None:
        watch = self.client.owner.watch
        self._of, self._left, self._tail = request, 4 + size, tail
        self._kept = None if watch is None else watch.keeping(size)

    def _pass(self, data: bytes, length: int) -> int:
        """Send on what belongs to the answer that has begun; gives where it ends in `data`."""
        upto = min(self._left, length)
        some = data if upto == len(data) else data[:upto]
        self._left -= upto
        if self._tail is not None:
            some = self._tail.feed(some, self._left == 0)
        if some:
            self.client.transport.write(some)
            if self._kept is not None:
                self._kept.append(some)
        if self._left == 0:
            request, kept = self._of, self._kept
            self._of = self._kept = self._tail = None
            watch = self.client.owner.watch
            if watch is not None and request is not None:
                watch.answered(request, self.client.info, None if kept is None else b"".join(kept))
            self.client.answered()
        return upto


class _PassingTail:
    """A long answer that may name brokers at its end: it keeps its size, whatever they are called."""

    __slots__ = ("_finder", "_head", "_tail", "_told")

    def __init__(self, route: Route, told: naming.Told) -> None:
        self._finder = TailFinder(route.number, route.version)
        self._told = told
        self._head = 9
        """Bytes in front of the body that are left: size, correlation id, no tags."""
        self._tail = b""

    def feed(self, data: bytes, is_last: bool) -> bytes:
        """What may be sent."""
        at = min(self._head, len(data))
        self._head -= at
        if not self._finder.found:
            at += self._finder.feed(memoryview(data)[at:])
        if at == len(data) and not is_last:
            return data
        self._tail += data[at:]
        if not is_last:
            return data[:at]
        tail, is_field = self._tail, self._finder.is_field
        if naming.names_brokers(tail, is_field):
            tail = naming.tail_with_addresses(tail, is_field, self._told, len(tail))
        return data[:at] + tail


def _acks(data: bytes, start: int, end: int, route: Route) -> int:
    """Of a Produce in `data[start:end]`. Raises IndexError, struct.error where that is not there yet."""
    (size,) = _short(data, start + 8)
    position = start + 10 + max(size, 0)
    if route.flexible_request:
        if data[position]:
            return 1 if position >= end else _acks_behind_tags(data, position, end)
        position += 1
        size = data[position] - 1
        position += 1
        if size >= 127:
            size = (size + 1 & 127 | data[position] << 7) - 1
            position += 1
        position += max(size, 0)
    elif route.version >= 3:
        (size,) = _short(data, position)
        position += 2 + max(size, 0)
    if position + 2 > end:
        raise IndexError
    return int(_short(data, position)[0])


def _acks_behind_tags(data: bytes, position: int, end: int) -> int:
    size, position = read_uvarint(data, naming.behind_tags(data, position))
    position += max(size - 1, 0)
    if position + 2 > end:
        raise IndexError
    return int(_short(data, position)[0])


def no_delay(transport: asyncio.Transport) -> None:
    """Send at once."""
    sock = transport.get_extra_info("socket")
    if sock is not None and sock.family in (socket.AF_INET, socket.AF_INET6):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
