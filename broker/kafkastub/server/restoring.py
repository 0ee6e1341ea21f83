"""A snapshot on its way into a running broker: all that can go wrong goes wrong before anything has changed."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, NamedTuple

from kafkastub.config import BrokerConfig, ConfigError
from kafkastub.metadata import Node
from kafkastub.server.clock import Clock
from kafkastub.server.in_turns import in_turns
from kafkastub.server.nodes import Nodes
from kafkastub.server.server import Server
from kafkastub.state.broker_state import BrokerState
from kafkastub.state.snapshots.putting_back import beside_the_directory, put_back
from kafkastub.state.snapshots.saved import SavedState, SnapshotError
from kafkastub.steps import at_once

if TYPE_CHECKING:
    from kafkastub.server.data_directory import BrokerDirectory


class Restoring(NamedTuple):
    """What of a broker a restore has to do with."""

    server: Server
    nodes: Nodes
    directory: BrokerDirectory | None
    clock: Clock
    config: BrokerConfig
    log: Any

    async def prepare(self, saved: SavedState) -> tuple[BrokerState, list[Node]]:
        """The state that takes the place of the one there is, and its nodes, which are open as far as they are to be.

        The clock is that of the snapshot, and so is what is dynamic of the configuration. Raises SnapshotError,
        ListenError, DataDirError; then all is as it was.
        """
        try:
            opened = await self.nodes.open_for(self.server, saved.nodes)
        except ConfigError as error:
            raise SnapshotError(f"the snapshot cannot be restored here: {error}") from None
        moved, (ahead_ms, frozen_at) = self.clock.moved(), saved.clock
        clock = saved.broker_ms - self.clock.wall_ms() if ahead_ms is None else ahead_ms, frozen_at
        try:
            nodes = self.nodes.as_saved(saved.nodes)
            return await self._put_back(saved, nodes, clock), nodes
        except BaseException:
            self.clock.restore(*moved)
            await self.nodes.take_back(self.server, opened)
            raise

    async def _put_back(self, saved: SavedState, nodes: list[Node], clock: tuple[int, int | None]) -> BrokerState:
        wall_ms = self.clock.wall_ms
        if self.directory is None:
            then = Clock()
            then.restore(*clock)
            now = then.broker_ms(), self.clock.timer_ms()
            state = await in_turns(put_back(saved, self.config, nodes, self.log, wall_ms, now))
            self.clock.restore(*clock)
            return state
        # whether it can be
        at_once(put_back(saved, copy.copy(self.config), nodes, self.log, wall_ms, self.clock.both()))
        await self.directory.write(saved, clock)
        state = await self.directory.go_over(nodes, saved.held)
        beside_the_directory(state, saved)
        return state
