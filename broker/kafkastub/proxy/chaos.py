"""What moves because of chaos in front of a real cluster: leaders and nodes are the cluster's, and stay. What may end
is the connections to one node, as when a broker restarts, and the session of a member, whom the proxy throws out of its
group as an administrator does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from kafkastub.proxy.cluster import Pick

if TYPE_CHECKING:
    from kafkastub.server.watching.chaos import Chaos, Move


class Reached(Protocol):
    """A proxy, as far as something of it moves."""

    def nodes_connected(self) -> Iterable[int]: ...
    def drop_connections(self, node_id: int) -> int: ...
    async def end_a_session(self, pick: Pick) -> tuple[str, str, int] | None: ...


class Mover:
    """Of one proxy: behind the request that made it necessary."""

    def __init__(self, proxy: Reached, loop: asyncio.AbstractEventLoop, chaos: Chaos) -> None:
        """`chaos` is told what has moved."""
        self._proxy = proxy
        self._loop = loop
        self._chaos = chaos
        self._over = False
        self._ending: asyncio.Task[None] | None = None

    def move(self, move: Move) -> None:
        """Soon."""
        self._loop.call_soon(self._move, move)

    def end(self) -> None:
        """Nothing moves any more."""
        self._over = True
        self._chaos.moves_by(None)  # it refers to this, and this to it

    def _move(self, move: Move) -> None:
        if self._over:
            return
        nodes = sorted(set(self._proxy.nodes_connected()))
        busy = self._ending is not None and not self._ending.done()
        if not nodes or (move.kind == "session" and busy):
            self._chaos.missed(move)
        elif move.kind == "session":
            self._ending = self._loop.create_task(self._end_session(move))
        else:
            named = (move.target or {}).get("node")
            node_id = named if named in nodes else nodes[int(move.draw * len(nodes))]
            self._proxy.drop_connections(node_id)
            self._chaos.moved(move, f"all connections to node {node_id} end", "connections", {"node": node_id})

    async def _end_session(self, move: Move) -> None:
        target = move.target or {}
        pick = Pick(move.draw, move.second_draw, target.get("group"), target.get("member"))
        done = await self._proxy.end_a_session(pick)
        if self._over:
            return
        if done is None:
            self._chaos.missed(move)
        else:
            what, group, index = done
            self._chaos.moved(move, what, "session", {"group": group, "member": index})
