"""A broker put together: configuration, state, server. What `kafkastub serve` and `KafkaStub` both run."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kafkastub.config import BrokerConfig
from kafkastub.handlers.loading import load, unload
from kafkastub.handlers.registry import registrations
from kafkastub.handlers.state import BrokerState
from kafkastub.handlers.topics import create_topic
from kafkastub.metadata import Node
from kafkastub.server.clock import Clock
from kafkastub.server.server import Server

if TYPE_CHECKING:
    from kafkastub.server.durability import Durability


class Broker:
    """One broker on the running loop."""

    def __init__(
        self, config: BrokerConfig, log: Any, clock: Clock | None = None, data_dir: str | os.PathLike[str] | None = None
    ) -> None:
        """`data_dir`: where the state is kept for the next run; without it nothing is."""
        self.config = config
        self.log = log
        self.clock = clock or Clock()
        self._data_dir = data_dir
        self._durability: Durability | None = None
        self.host = ""
        self.port = 0
        self.state: BrokerState
        self._server: Server

    async def start(
        self,
        host: str,
        port: int,
        advertised: tuple[str, int] | None = None,
        topics: Mapping[str, int] | None = None,
    ) -> None:
        """Listen and answer; port 0 takes any free one.

        Clients are told `advertised` (its port 0: the port bound), or the address bound. Raises ListenError,
        DataDirError, or KafkaError for a refused topic.
        """
        registrations()
        node = Node(self.config["node.id"], host, port)
        self._make_state(node)
        try:
            self.state.start_sweeping(self.clock.timer_ms())
            for name, partitions in (topics or {}).items():
                if self._durability is None or self.state.cluster.topic(name) is None:
                    create_topic(self.state, name, partitions)
            self._server = Server(self.state, self.clock, asyncio.get_running_loop())
            self.host, self.port = await self._server.listen(host, port)
        except BaseException:
            if self._durability is not None:
                await self._durability.close()
            raise
        if self._durability is not None:
            self._durability.go_on_loading(self.rearm)
        shown = advertised or (_reachable(self.host), 0)
        node.host, node.port = shown[0], shown[1] or self.port
        try:
            for name in self.config.unknown:
                self.log.warning("configuration ignored: Kafka has no such name", key=name)
        except BaseException:  # somebody's log handler: the loop cannot end while the listener is open
            await self.stop()
            raise

    def _make_state(self, node: Node) -> None:
        if self._data_dir is None:
            self.state = BrokerState(self.config, [node], self.log, wall_ms=self.clock.wall_ms)
            return
        from kafkastub.server.durability import Durability

        self._durability = Durability(self._data_dir, self.config, self.log, self.clock)
        self.state = self._durability.restored([node])

    async def stop(self) -> None:
        """Close every socket; no task, timer or connection is left, and what was written is on the disk."""
        await self._server.close()
        if self._durability is not None:
            await self._durability.close()

    @property
    def is_blank(self) -> bool:
        """Whether nothing carries a timestamp yet: no group, no record."""
        load(self.state, self.clock.both)
        return not self.state.coordinator.groups and self.state.logs.is_empty

    @property
    def bootstrap_servers(self) -> str:
        """What clients are told to connect to."""
        node = self.state.cluster.nodes[self.config["node.id"]]
        return f"[{node.host}]:{node.port}" if ":" in node.host else f"{node.host}:{node.port}"

    def hold_loading(self) -> None:
        """Unload the group coordinator; it is loading until `finish_loading`."""
        load(self.state, self.clock.both)
        unload(self.state, *self.clock.both())

    def finish_loading(self) -> None:
        """Load the group coordinator to the end."""
        load(self.state, self.clock.both)

    def advance(self, ms: int, timers: bool = False) -> None:
        """Move broker time forward through everything that falls due on the way, each at its own time.

        With `timers`, sessions, rebalances and long polls get as much older; otherwise live members do not notice.
        """
        clock, state = self.clock, self.state
        load(state, clock.both)
        left = ms
        while True:
            broker_ms, timer_ms = clock.both()
            expiry = state.coordinator.next_expiry()
            steps = [left]
            if expiry is not None:
                steps.append(max(expiry - broker_ms, 0))
            # Not the regular rounds: what they would find by its own time is stepped to by that.
            deadline = state.next_event() if timers else None
            if deadline is not None:
                steps.append(max(deadline - timer_ms, 0))
            step = min(steps)
            left -= step
            clock.set(broker_ms + step)
            if timers:
                clock.skip_timers(step)
                state.expire(*clock.both())
            state.expire_offsets(broker_ms + step)
            if left <= 0:
                break
        # What is left of a log depends on the time alone: looking at the end is as good as at each deadline on the way.
        state.logs.clean(clock.broker_ms())
        self.rearm()

    def rearm(self) -> None:
        """After a change from outside a request: deadlines may have moved, or the clock itself."""
        self._server.rearm()
        if self.state.persistence is not None:
            self.state.persistence.look_at_clock()


def _reachable(host: str) -> str:
    """An address that clients on this machine reach, where the bound one is the wildcard."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
