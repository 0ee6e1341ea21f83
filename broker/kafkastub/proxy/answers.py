"""What the broker behind a client's connection answers: bytes that pass, cut into frames where they lie."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections import deque
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from kafkastub.proxy import naming
from kafkastub.proxy.passing_tail import PassingTail
from kafkastub.proxy.room import Taken
from kafkastub.proxy.routes import Answer, Route
from kafkastub.proxy.walking import TailFinder
from kafkawire.api import ApiKey
from kafkawire.errors import MalformedMessage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kafkastub.handlers.context import ConnectionInfo
    from kafkastub.proxy.places import Place
    from kafkastub.proxy.room import Room
    from kafkastub.proxy.under_way import Acting, Pending, Watch

WRITE_LIMIT: Final = 1 << 19
"""Bytes that a side has to send, from which nobody reads for it."""
_SMALL_ANSWER: Final = 1 << 16
"""Bytes of an answer that is looked at as a whole, where it is there as a whole."""
_MOST_OF_HEAD: Final = 1 << 9
_SESSION: Final = 20
"""Bytes of an answer to Fetch in which the id of its session is."""
_answer = struct.Struct(">ii").unpack_from
_size_and_id = struct.Struct(">ii").pack
_short = struct.Struct(">h").unpack_from
_int = struct.Struct(">i").unpack_from
_TOO_SHORT: Final = (struct.error, IndexError)


class Names(Protocol):
    """The proxy, as far as answers need it."""

    loop: asyncio.AbstractEventLoop
    log: Any
    room: Room
    brokers: set[BrokerSide]

    @property
    def watch(self) -> Watch | None:
        """Who is told of every request, if anybody."""

    @property
    def addresses(self) -> int:
        """Another number when an address has changed, of either side."""

    def advertised(self, node_id: int, host: str, port: int) -> naming.Address: ...
    def seen(self, brokers: Iterable[naming.Broker]) -> None: ...
    def versions(self) -> dict[int, tuple[int, int]]: ...


class Asking(Protocol):
    """The client's side, as far as answers need it."""

    place: Place
    info: ConnectionInfo
    transport: asyncio.Transport
    pending: deque[Pending]
    accepted: int
    is_blind: bool
    is_read: bool

    @property
    def owner(self) -> Names: ...
    def broker_here(self, broker: BrokerSide) -> None: ...
    def broker_lost(self, exc: BaseException | None) -> None: ...
    def unread(self, is_so: bool) -> None: ...
    def is_slow(self) -> bool: ...
    def pace(self) -> None: ...
    def answer_passed(self) -> None: ...
    def end_silent(self) -> None: ...


class BrokerSide(asyncio.Protocol):
    """What the broker answers."""

    def __init__(self, client: Asking) -> None:
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
        self._tail: PassingTail | None = None
        self._room = Taken(client.owner.room, self)
        """Of the answer that is not there as a whole."""
        self.is_read = True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.transport.set_write_buffer_limits(high=WRITE_LIMIT)
        no_delay(self.transport)
        self.client.owner.brokers.add(self)
        self.client.broker_here(self)

    def pause_writing(self) -> None:
        self.client.unread(True)

    def resume_writing(self) -> None:
        self.client.unread(False)

    def connection_lost(self, exc: BaseException | None) -> None:
        self.ended = True
        self.client.owner.brokers.discard(self)
        self._chunks.clear()
        self._room.end()
        self.client.broker_lost(exc)

    def pace(self) -> None:
        """Read on, or do not."""
        full = self._room.waits or self.client.is_slow()
        if self.is_read == full and not self.transport.is_closing():
            self.is_read = not full
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

    @property
    def to_come(self) -> int:
        """Bytes of the answer that is collected which are not there yet."""
        return self._need - self._held

    def go_on(self) -> None:
        """There is room for it."""
        self.client.owner.loop.call_soon(self._go_on)

    def end_silent(self) -> None:
        """Others wait for its room."""
        self.client.end_silent()

    def _look(self, data: bytes) -> None:
        try:
            self._cut(data)
        except (*_TOO_SHORT, ValueError) as error:
            self._confused(str(error))
        if not self.client.is_read:
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
        if client.is_blind and not pending:
            write(data[first:])
            return
        need = 0
        wanted: Acting | None = None
        """Who wants the answer whole that is not."""
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
                        watch.on_answer(request, client.info, data[position:end])
                    position = end
                    if pending and pending[0].acting is not None:
                        write(data[first:position])
                        first = position
                        client.answer_passed()
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
                self._begin_passing(request, size, PassingTail(route, client.owner.advertised))
                if whole:
                    self._pass(data[position:end], end - position)
                    position = first = end
                    continue
                self._pass(data[position:], length - position)
                return
            if how is Answer.PREFIX and not whole:
                found = naming.metadata_prefix(data, position + 8, route.version, client.owner.advertised)
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
                wanted = request.acting
                break
            position = first = end
            answer = self.understood(route, data[end - size - 4 : end], request)
            if request.acting is not None:
                request.acting.worked(answer, self._room.hand_over())
            else:
                pending.popleft()
                write(answer)
                if watch is not None:
                    watch.on_answer(request, client.info, answer)
                client.answer_passed()
        if position > first:
            write(data if first == 0 and position == length else data[first:position])
        if position < length:
            self._chunks.append(data[position:])
            self._held = length - position
            self._need = need
            if wanted is not None:
                self._room.want(need, wanted.taken > 0)
                self.pace()

    def understood(self, route: Route, frame: bytes, request: Pending) -> bytes:
        """A whole answer as the client gets it: with our addresses. Raises MalformedMessage."""
        owner, key, version = self.client.owner, route.number, route.version
        if route.answer is Answer.PREFIX:
            prefix = naming.metadata_prefix(frame, 8, version, owner.advertised)
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
            body = frame[8:at] + naming.tail_with_addresses(tail, finder.is_field, owner.advertised)
        elif key == ApiKey.API_VERSIONS:
            said = version if route.known and _short(frame, 8)[0] != 35 else 0
            body = naming.versions_known(frame[8:], said, owner.versions())
        elif route.answer is Answer.WHOLE:
            at = 9 if route.flexible_answer else 8
            known = owner.addresses, frame[8:]
            if route.known_whole != known:  # the coordinator of a group is asked for again and again
                found = frame[8:at] + naming.whole_with_addresses(key, version, frame[at:], owner.advertised)
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

    def _begin_passing(self, request: Pending, size: int, tail: PassingTail | None) -> None:
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
                watch.on_answer(request, self.client.info, None if kept is None else b"".join(kept))
            self.client.answer_passed()
        return upto


def no_delay(transport: asyncio.Transport) -> None:
    """Send at once."""
    sock = transport.get_extra_info("socket")
    if sock is not None and sock.family in (socket.AF_INET, socket.AF_INET6):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
