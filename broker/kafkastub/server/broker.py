"""A broker put together: configuration, state, server. What `kafkastub serve` and `KafkaStub` both run."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from kafkastub.config import BrokerConfig
from kafkastub.handlers.registry import registrations
from kafkastub.handlers.state import BrokerState
from kafkastub.handlers.topics import create_topic
from kafkastub.metadata import Node
from kafkastub.server.clock import Clock
from kafkastub.server.server import Server


class Broker:
    """One broker on the running loop."""

    def __init__(self, config: BrokerConfig, log: Any, clock: Clock | None = None) -> None:
        self.config = config
        self.log = log
        self.clock = clock or Clock()
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
        """Listen and answer; port 0 takes any free one. Raises ListenError, or KafkaError for a refused topic.

        Clients are told `advertised` (its port 0: the port bound), or the address bound.
        """
        registrations()
        node = Node(self.config["node.id"], host, port)
        self.state = BrokerState(self.config, [node], self.log, wall_ms=self.clock.wall_ms)
        self.state.start_sweeping(self.clock.timer_ms())
        for name, partitions in (topics or {}).items():
            create_topic(self.state, name, partitions)
        self._server = Server(self.state, self.clock, asyncio.get_running_loop())
        self.host, self.port = await self._server.listen(host, port)
        shown = advertised or (_reachable(self.host), 0)
        node.host, node.port = shown[0], shown[1] or self.port
        for name in self.config.unknown:
            self.log.warning("configuration ignored: Kafka has no such name", name=name)

    async def stop(self) -> None:
        """Close every socket; no task, timer or connection is left."""
        await self._server.close()

    @property
    def is_blank(self) -> bool:
        """Whether nothing carries a timestamp yet: no group, no record."""
        return not self.state.coordinator.groups and self.state.logs.is_empty

    @property
    def bootstrap_servers(self) -> str:
        """What clients are told to connect to."""
        node = self.state.cluster.nodes[self.config["node.id"]]
        return f"[{node.host}]:{node.port}" if ":" in node.host else f"{node.host}:{node.port}"

    def advance(self, ms: int, timers: bool = False) -> None:
        """Move broker time forward through everything that falls due on the way, each at its own time.

        With `timers`, sessions, rebalances and long polls get as much older; otherwise live members do not notice.
        """
        clock, state = self.clock, self.state
        left = ms
        while True:
            broker_ms, timer_ms = clock.both()
            expiry = state.coordinator.next_expiry()
            steps = [left]
            if expiry is not None:
                steps.append(max(expiry - broker_ms, 0))
            deadline = state.next_deadline() if timers else None
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
        self.rearm()

    def rearm(self) -> None:
        """After a change from outside a request: deadlines may have moved."""
        self._server.rearm()


def _reachable(host: str) -> str:
    """An address that clients on this machine reach, where the bound one is the wildcard."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
