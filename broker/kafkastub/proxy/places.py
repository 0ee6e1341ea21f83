"""Places: a node of the cluster has one, where clients reach it, and so has each address that the proxy was given.

A place is made when an answer names its node for the first time. A node that the cluster does not name any more, or
that cannot be reached, lets nobody in until it is back: as with the node itself, a client's connection is refused.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from kafkastub.proxy.naming import Address, Broker
from kafkastub.server.node_listener import ListenError, bound, reachable_host, why_not

_BACKLOG: Final = 1024
_LOOK_AGAIN: Final = 0.5
"""Seconds after which we look whether a node is back."""
UNKNOWN_NODE: Final = -1
UNREACHABLE: Final = (OSError, ValueError, OverflowError)
"""What it raises to connect to what a cluster says of a node: it may name a host, or a port, that there cannot be."""


class Unanswered(OSError):
    """Nobody says yes or no there."""


Factory = Callable[["Place"], asyncio.Protocol]


class Place:
    """One.

    Attributes:
        node_id: of the node; -1 while it is only known by an address that the proxy was given.
        host, port: where it really is.
        listener, protocol: as the journal and rules know the listener.
        bound: the address that is listened on.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, node_id: int, host: str, port: int, protocol: str) -> None:
        self._loop = loop
        self.node_id = node_id
        self.host, self.port = host, port
        self.listener = self.protocol = protocol
        self.reached: Callable[[str, int], Address] = lambda host, port: (host, port)
        """Where to connect to for that."""
        self.look: Callable[[], None] = lambda: None
        """Has the cluster asked where its nodes are."""
        self.bound: Address = ("", 0)
        self.advertised: Address = ("", 0)
        """What clients are told."""
        self._factory: Factory
        self._kept: socket.socket | None = None
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    @property
    def address(self) -> str:
        """Where it really is."""
        return address_text(self.host, self.port)

    @property
    def is_open(self) -> bool:
        """Whether clients get in."""
        return self._server is not None

    def listen(self, host: str, port: int, factory: Factory) -> None:
        """Clients can connect when this returns. Raises ListenError."""
        self._factory = factory
        try:
            sock = bound(host, port)
        except OSError as error:
            raise ListenError(why_not(host, port, error)) from error
        at = sock.getsockname()
        self.bound = str(at[0]), int(at[1])
        self._open(sock)

    def _open(self, sock: socket.socket) -> None:
        sock.listen(_BACKLOG)
        self._spawn(self._serve(sock))

    async def _serve(self, sock: socket.socket) -> None:
        server = await self._loop.create_server(lambda: self._factory(self), sock=sock, backlog=_BACKLOG)
        if self._closed:
            server.close()
        self._server = server

    def failed(self) -> None:
        """It could not be reached."""
        if self.node_id != UNKNOWN_NODE:
            self.shut()

    def shut(self) -> None:
        """Let nobody in until it can be reached."""
        server, self._server = self._server, None
        if server is None or self._closed:
            return
        server.close()
        self._spawn(self._open_when_back(server))

    async def _open_when_back(self, server: asyncio.Server) -> None:
        with contextlib.suppress(Exception):
            await asyncio.wait_for(server.wait_closed(), 0.05)
        with contextlib.suppress(OSError):  # somebody was quicker
            self._kept = bound(*self.bound)
        while not self._closed and not await self._answers():
            self.look()  # it may be elsewhere by now, and nobody gets in here who would ask
            await asyncio.sleep(_LOOK_AGAIN)
        sock, self._kept = self._kept, None
        if self._closed:
            if sock is not None:
                sock.close()
            return
        with contextlib.suppress(OSError):
            self._open(sock or bound(*self.bound))

    async def _answers(self) -> bool:
        try:
            transport, _ = await asyncio.wait_for(
                self._loop.create_connection(asyncio.Protocol, *self.reached(self.host, self.port)), _LOOK_AGAIN
            )
        except UNREACHABLE:
            return False
        transport.abort()
        return True

    def close(self) -> None:
        """Let nobody in any more."""
        self._closed = True
        if self._server is not None:
            self._server.close()
        if self._kept is not None:
            self._kept.close()
            self._kept = None
        for task in self._tasks:
            task.cancel()

    def _spawn(self, work: Any) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class Places:
    """All of them.

    Args:
        host, port: where to listen: the first place at that port, each next one at the next; 0: any free ones.
        advertised: what clients are told of the first place, where that is something else; of each next one the port
            that is as far behind it.
        reached: where to connect to for an address that a node says it has.
        look: has the cluster asked where its nodes are.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        host: str,
        port: int,
        advertised: Address | None,
        protocol: str,
        factory: Factory,
        log: Any,
        reached: Callable[[str, int], Address],
        look: Callable[[], None],
    ) -> None:
        self._loop = loop
        self._host, self._port, self._advertised = host, port, advertised
        self._protocol = protocol
        self._factory = factory
        self._log = log
        self._reached, self._look = reached, look
        self._all: list[Place] = []
        self._by_node: dict[int, Place] = {}
        self.changes = 0
        """How often an address has changed, or a new one has come."""

    def __iter__(self) -> Iterator[Place]:
        return iter(self._all)

    @property
    def nodes(self) -> dict[int, Place]:
        """Those of nodes that are known, by id."""
        return self._by_node

    def open_at(self, host: str, port: int) -> Place:
        """The place of an address that the proxy was given. Raises ListenError."""
        for place in self._all:
            if (place.host, place.port) == (host, port):
                return place
        return self._make(UNKNOWN_NODE, host, port)

    def advertised(self, node_id: int, host: str, port: int) -> Address:
        """What clients are told of a node that an answer names. Raises ListenError."""
        place = self._by_node.get(node_id)
        if place is None:
            place = next((one for one in self._all if (one.host, one.port, one.node_id) == (host, port, -1)), None)
            if place is None:
                place = self._make(node_id, host, port)
            place.node_id = node_id
            self._by_node[node_id] = place
            self.changes += 1
        elif (place.host, place.port) != (host, port):
            self._log.info("a node has another address now", node=node_id, broker=address_text(host, port))
            place.host, place.port = host, port
            self.changes += 1
        return place.advertised

    def seen(self, brokers: Iterable[Broker]) -> None:
        """These are all that the cluster has now."""
        there = {broker.node_id for broker in brokers}
        if not there:
            return  # a node that has just begun knows nobody
        for node_id, place in self._by_node.items():
            if node_id not in there:
                place.shut()

    def _make(self, node_id: int, host: str, port: int) -> Place:
        number = len(self._all)
        place = Place(self._loop, node_id, host, port, self._protocol)
        place.reached, place.look = self._reached, self._look
        at = self._port + number if self._port else 0
        if at > 65535:
            raise ListenError(f"there is no port {at} for one more node")
        place.listen(self._host, at, self._factory)
        place.advertised = reachable_host(place.bound[0]), place.bound[1]
        if self._advertised is not None:
            place.advertised = self._advertised[0], self._advertised[1] + number
        self._all.append(place)
        return place

    def close(self) -> None:
        """Let nobody in any more."""
        for place in self._all:
            place.close()


def address_text(host: str, port: int) -> str:
    """HOST:PORT."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
