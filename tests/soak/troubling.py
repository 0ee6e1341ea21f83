"""What is done to the broker by a seed: chaos, and what a person does who tries things out on it."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

from tests.control.conftest import Http
from tests.soak.working import Working, at_rest

NODES: Final = 3
ON_PURPOSE: Final = ("transaction_left_open", "archived")
"""Some clients leave transactions open, and some let records of share groups come to their last delivery."""
LEVELS: Final = 3


class Trouble:
    """Of one broker. What changes or expires acknowledged data is done while no client is owed anything."""

    clients: Sequence[Working] = ()

    def __init__(self, url: str, seed: int) -> None:
        self._http = Http(url)
        self._http.client.timeout = 120
        self._seed = seed
        self._chance = random.Random(seed)
        self.done: Counter[str] = Counter()
        self._next: list[Callable[[], str]] = []

    def servers(self) -> str:
        """The addresses of all nodes."""
        nodes = self._http.good("GET", "/v1/nodes")["nodes"]
        return ",".join(address for node in nodes for address in node["advertised"].values())

    def create(self, wanted: dict[str, int]) -> None:
        """Topics with so many partitions."""
        for name, partitions in wanted.items():
            self._http.good("POST", "/v1/topics", {"name": name, "partitions": partitions})

    def chaos(self, number: int) -> None:
        """Let faults happen, those of this number."""
        level = 1 + number % LEVELS
        self._http.good("PUT", "/v1/chaos", {"seed": self._seed + number, "level": level})
        self._http.good("POST", "/v1/faults", {"api": "Fetch", "delay_ms": 30, "every": 7})
        self.done[f"chaos of level {level}"] += 1

    def peace(self) -> None:
        """No more faults, and all nodes run."""
        told = self._http.good("DELETE", "/v1/chaos")
        self.done["acts of chaos"] += len(told["acts"])
        self._http.good("DELETE", "/v1/faults")
        self._start_nodes()

    def _start_nodes(self) -> None:
        for node in self._http.good("GET", "/v1/nodes")["nodes"]:
            if not node["running"]:
                self._http.good("POST", f"/v1/nodes/{node['node']}/start")

    def once(self) -> None:
        """One thing more; all of them have their turn, in an order by the seed."""
        if not self._next:
            self._next = [self._node, self._days, self._hour_for_sessions, self._restore, self._coordinators]
            self._chance.shuffle(self._next)
        self.done[self._next.pop()()] += 1

    def _node(self) -> str:
        number = self._chance.randint(1, NODES)
        self._http.good("POST", f"/v1/nodes/{number}/stop")
        threading.Event().wait(3)
        self._start_nodes()
        return "a node stopped and started"

    def _days(self) -> str:
        """Records, offsets of nobody and transactional ids expire."""
        with at_rest(self.clients):
            self._http.good("POST", "/v1/clock/advance", {"by": "8d"})
        return "the clock moved by eight days"

    def _hour_for_sessions(self) -> str:
        """All sessions end: each member has to join again."""
        with at_rest(self.clients):
            self._http.good("POST", "/v1/clock/advance", {"by": "10m", "timers": True})
        return "all sessions timed out"

    def _restore(self) -> str:
        with at_rest(self.clients):
            self._http.good("POST", "/v1/snapshots", {"id": "soak"})
            self._http.good("POST", "/v1/topics/unowned/records", {"records": [{"value": "gone"}]})
            self._http.good("POST", "/v1/snapshots/soak/restore")
            left: Any = self._http.good("GET", "/v1/topics/unowned/records")
            assert not left["records"], left
            self._http.ask("DELETE", "/v1/snapshots/soak")
        return "a snapshot taken and restored"

    def _coordinators(self) -> str:
        for client in self.clients:
            move = {"group": client.name, "node": self._chance.randint(1, NODES)}
            self._http.ask("POST", "/v1/coordinators", move)
        return "coordinators moved"

    def findings(self) -> list[str]:
        """Of the check, which follows from the first call on."""
        verdict = self._http.good("GET", "/v1/check", ignoring=ON_PURPOSE)
        return [f"{one['guarantee']}: {one['cause']} ({one['topic']}, {one['offsets']})" for one in verdict["findings"]]
