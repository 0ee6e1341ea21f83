"""What moves because of chaos in front of a real cluster: leaders and nodes are the cluster's, and stay. What may end
is the connections to one node, as when a broker restarts, and the session of a member, whom the proxy throws out of its
group as an administrator does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from kafkastub.server.watching.chaos import Move


class Reached(Protocol):
    """A proxy, as far as something of it moves."""

    def nodes_connected(self) -> Iterable[int]: ...
    def drop_connections(self, node_id: int) -> int: ...
    async def end_a_session(self, draw: float, second_draw: float) -> str | None: ...


class Mover:
    """Of one proxy: behind the request that made it necessary."""

    def __init__(self, proxy: Reached, loop: asyncio.AbstractEventLoop, done: Callable[[str], None]) -> None:
        """`done` is told what has moved."""
        self._proxy = proxy
        self._loop = loop
        self._done = done
        self._over = False
        self._ending: asyncio.Task[None] | None = None

    def move(self, move: Move) -> None:
        """Soon."""
        self._loop.call_soon(self._move, move)

    def end(self) -> None:
        """Nothing moves any more."""
        self._over = True

    def _move(self, move: Move) -> None:
        nodes = sorted(set(self._proxy.nodes_connected()))
        if self._over or not nodes:
            return
        if move.kind == "session":
            if self._ending is None or self._ending.done():
                self._ending = self._loop.create_task(self._end_session(move))
            return
        node_id = nodes[int(move.draw * len(nodes))]
        self._proxy.drop_connections(node_id)
        self._done(f"all connections to node {node_id} end")

    async def _end_session(self, move: Move) -> None:
        done = await self._proxy.end_a_session(move.draw, move.second_draw)
        if done is not None and not self._over:
            self._done(done)
