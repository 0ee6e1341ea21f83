"""The nodes of the cluster as the network sees them: their listeners, and the addresses that clients are told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kafkastub.config import TLS_PROTOCOLS, Address, BrokerConfig, Listeners, check_room, parse_advertised
from kafkastub.config.errors import ConfigError
from kafkastub.metadata import Node
from kafkastub.server.node_listener import NodeListener, reachable_host
from kafkastub.server.server import Server

if TYPE_CHECKING:
    from kafkastub.security.tls import Tls
    from kafkastub.state.snapshots.saved import SavedNode


class NetworkNode:
    """One node: what the cluster knows of it, its listeners, and what it was told to advertise."""

    def __init__(self, node: Node, planned: Listeners, tls: Tls | None = None) -> None:
        self.node = node
        self.planned = planned
        self.listeners = [
            NodeListener(node.node_id, one, None if tls is None else tls.of(one.name)) for one in planned.served
        ]
        self.advertised: dict[str, Address] = dict(planned.advertised)
        self.advertise()

    @property
    def is_open(self) -> bool:
        """Whether clients can connect to it, be it one of the cluster's or not."""
        return any(listener.is_open for listener in self.listeners)

    def advertise(self) -> None:
        """Make the addresses that clients are told what they are to be, now that ports are bound."""
        endpoints: dict[str, tuple[str, int]] = {}
        for listener in self.listeners:
            address = self.advertised.get(listener.name)
            if address is None and self.planned.plain:
                address = Address(listener.host, 0)
            if address is not None:
                endpoints[listener.name] = reachable_host(address.host), address.port or listener.port
        self.node.endpoints = endpoints


class Nodes:
    """All nodes of one broker process, by id: `node.id` and those that follow it."""

    def __init__(
        self, config: BrokerConfig, listeners: Listeners, count: int = 1, racks: Sequence[str | None] = ()
    ) -> None:
        """`racks` are dealt out to the nodes in turn. Raises ConfigError where nodes would be in each other's way."""
        self._listeners = listeners
        self._first: int = config["node.id"]
        self._count = count
        self._racks = racks or [config["broker.rack"]]
        plans = [listeners.of_node(number) for number in range(count)]
        check_room(plans)
        self.tls = _tls(config, listeners)
        self._nodes = {self._first + number: self._planned(number) for number in range(count)}

    def _planned(self, number: int, rack: str | None = None) -> NetworkNode:
        rack = rack or self._racks[number % len(self._racks)]
        return NetworkNode(Node(self._first + number, rack=rack), self._listeners.of_node(number), self.tls)

    def __getitem__(self, node_id: int) -> NetworkNode:
        return self._nodes[node_id]

    def __iter__(self) -> Iterator[int]:
        return iter(self._nodes)

    async def add(self, server: Server, rack: str | None = None) -> Node:
        """One more node, with the next id and the next port. Raises ConfigError, ListenError."""
        number = max(self._nodes) - self._first + 1
        added = self._planned(number, rack)
        check_room([*(one.planned for one in self._nodes.values()), added.planned])
        await self._open(server, added)
        self._nodes[added.node.node_id] = added
        return added.node

    async def reopen(self, server: Server, node_id: int) -> None:
        """Open a node's listeners again, where they were. Raises ListenError."""
        await self._open(server, self._nodes[node_id])

    async def remove(self, server: Server, node_id: int) -> None:
        """Forget a node whose listeners are closed."""
        for listener in self._nodes.pop(node_id).listeners:
            await listener.close()
            server.listeners.remove(listener)

    async def restore(self, server: Server) -> None:
        """The nodes of the start, all of them open, and no others. Raises ListenError.

        One that was removed meanwhile has another port where its port was any free one.
        """
        wanted = {self._first + number: number for number in range(self._count)}
        for node_id in [one for one in self._nodes if one not in wanted]:
            for listener in self._nodes[node_id].listeners:
                await listener.close()
            await self.remove(server, node_id)
        restored: dict[int, NetworkNode] = {}
        for node_id, number in wanted.items():
            one = restored[node_id] = self._nodes.get(node_id) or self._planned(number)
            if not all(listener.is_open for listener in one.listeners):
                await self._open(server, one)
            one.node.alive = one.node.registered = True
            one.node.left = None
        self._nodes = restored

    async def open_for(self, server: Server, saved: Sequence[SavedNode]) -> list[NetworkNode]:
        """Have the nodes of a snapshot, and those of them open that ran; gives what was not open, for `take_back`.

        Raises ListenError, ConfigError; then all is as it was.
        """
        if saved[0].node_id < self._first:
            raise ConfigError(f"it has node {saved[0].node_id}, and the nodes here begin with node.id={self._first}")
        opened: list[NetworkNode] = []
        try:
            for one in saved:
                node = self._nodes.get(one.node_id)
                if node is None:
                    node = self._planned(one.node_id - self._first)
                    check_room([*(each.planned for each in self._nodes.values()), node.planned])
                    self._nodes[one.node_id] = node
                    opened.append(node)
                if one.left is None and not node.is_open:
                    opened.append(node)
                    await self._open(server, node)
        except BaseException:
            await self.take_back(server, opened)
            raise
        self._nodes = dict(sorted(self._nodes.items()))
        return opened

    async def take_back(self, server: Server, opened: Sequence[NetworkNode]) -> None:
        """Close these again; those that the cluster has never heard of are gone."""
        for one in dict.fromkeys(opened):
            node_id = one.node.node_id
            for listener in one.listeners:
                await listener.close(keep_address=node_id in server.state.cluster.nodes)
            if node_id not in server.state.cluster.nodes:
                del self._nodes[node_id]
                server.listeners[:] = [each for each in server.listeners if each.node_id != node_id]

    def as_saved(self, saved: Sequence[SavedNode]) -> list[Node]:
        """The nodes of a snapshot at the addresses that they have here."""
        found: list[Node] = []
        for one in saved:
            node = Node(one.node_id, rack=one.rack)
            node.alive, node.registered, node.left = one.alive, one.registered, one.left
            node.endpoints = self._nodes[one.node_id].node.endpoints
            found.append(node)
        return found

    async def become(self, server: Server, nodes: Sequence[Node]) -> None:
        """Those of a snapshot are the cluster's now: nobody gets in to others, nor to those that did not run."""
        for node in nodes:
            self._nodes[node.node_id].node = node
        wanted = {node.node_id: node for node in nodes}
        for node_id, one in list(self._nodes.items()):
            if node_id not in wanted:
                for listener in one.listeners:
                    await listener.close()
                await self.remove(server, node_id)
            elif wanted[node_id].left is not None and one.is_open:
                await server.shut_node(node_id)

    def described(self) -> list[Node]:
        """What the cluster knows of them; their addresses come true with `open`."""
        return [one.node for one in self._nodes.values()]

    async def open(self, server: Server) -> None:
        """Bind every listener of every node. Raises ListenError."""
        for one in self._nodes.values():
            await self._open(server, one)

    async def _open(self, server: Server, one: NetworkNode) -> None:
        for listener in one.listeners:
            await server.listen(listener)
        one.advertise()

    def close(self) -> None:
        """Remove the files that were made for TLS; the listeners are closed by then."""
        if self.tls is not None:
            self.tls.close()

    @property
    def first_listener(self) -> NodeListener:
        return next(iter(self._nodes.values())).listeners[0]

    def listeners(self) -> Iterator[NodeListener]:
        for one in self._nodes.values():
            yield from one.listeners

    def bound(self) -> str:
        """Where it listens, for people: `HOST:PORT`, with the listeners' names where they differ."""
        named = any(one.name != self.first_listener.name for one in self.listeners())
        return ",".join(
            (f"{one.name}://" if named else "") + address_text(one.host, one.port) for one in self.listeners()
        )

    def bootstrap_servers(self, listener: str | None = None) -> str:
        """`HOST:PORT` of every node, on the first listener that is advertised or on a named one. KeyError: no such."""
        if listener is None:
            names = [one.name for one in self.listeners() if one.name in self._advertised()]
            listener = names[0] if names else self.first_listener.name
        addresses = [one.node.endpoints[listener] for one in self._nodes.values() if listener in one.node.endpoints]
        if not addresses:
            raise KeyError(listener)
        return ",".join(address_text(*address) for address in addresses)

    def advertise(self, text: str, node_id: int | None = None) -> None:
        """Tell clients other addresses, of one node or of the only one. Raises ConfigError."""
        if node_id is None and len(self._nodes) > 1:
            raise ConfigError(
                f"the advertised address {text!r} is refused: say of which of the {len(self._nodes)} nodes"
            )
        one = self._nodes[next(iter(self._nodes)) if node_id is None else node_id]
        advertised = parse_advertised(text, one.planned.served)
        one.advertised |= advertised
        if self.tls is not None:
            self.tls.advertised(advertised.values())
        one.advertise()

    def _advertised(self) -> set[str]:
        return {name for one in self._nodes.values() for name in one.node.endpoints}


def _tls(config: BrokerConfig, listeners: Listeners) -> Tls | None:
    """Raises ConfigError."""
    if all(one.protocol not in TLS_PROTOCOLS for one in listeners.served):
        return None
    from kafkastub.security.tls import Tls

    return Tls(config, listeners, reachable_host(""))


def address_text(host: str, port: int) -> str:
    """`HOST:PORT`, with brackets around an IPv6 address."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
