"""Samples of the broker every few seconds, and a small request by a connection that does nothing else."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import httpx

from tests.hostile.prober import delay_file, delayed_ms
from tests.rawclient import RawClient
from tests.soak.served import Served
from tests.soak.working import Working

EVERY_SECONDS: Final = 5.0
COUNTED: Final = 6
"""Samples from one look at all objects to the next: that takes the broker some tens of milliseconds."""
_ASKED_SECONDS: Final = 0.05
_API_VERSIONS: Final = 18
_GAUGES: Final = {
    "connections": "kafkastub_connections",
    "offsets": "kafkastub_offsets",
    "groups": "kafkastub_groups",
    "topics": "kafkastub_topics",
    "transactions": "kafkastub_transactions",
    "in_flight": "kafkastub_share_records_in_flight",
}
_LINE: Final = re.compile(r"^(\w+)(?:\{[^}]*\})? (\S+)$", re.MULTILINE)


class Prober(threading.Thread):
    """Asks for ApiVersions, and connects again where a node has stopped or a snapshot was restored.

    The time in which client or broker was ready to run and had no processor does not count.
    """

    def __init__(self, servers: str, pid: int) -> None:
        super().__init__(daemon=True)
        self._servers = servers
        self._broker = delay_file(pid)
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._taken: list[float] = []

    def run(self) -> None:
        own = Path(f"/proc/self/task/{threading.get_native_id()}/schedstat")
        files = [file for file in (own, self._broker) if file is not None and file.exists()]
        client: RawClient | None = None
        while not self._over.wait(_ASKED_SECONDS):
            try:
                if client is None:
                    client = RawClient(self._servers)
                    client.exchange(_API_VERSIONS, 0, b"")
                delayed, begin = delayed_ms(files), time.perf_counter()
                client.exchange(_API_VERSIONS, 0, b"")
                took = 1000 * (time.perf_counter() - begin) - (delayed_ms(files) - delayed)
            except (OSError, AssertionError):
                client = None
                continue
            with self._lock:
                self._taken.append(max(took, 0.0))

    def take(self) -> list[float]:
        """Milliseconds of all requests since it was called last, ascending."""
        with self._lock:
            found, self._taken = self._taken, []
        return sorted(found)

    def stop(self) -> None:
        self._over.set()


class Sampler(threading.Thread):
    """Attributes: samples, each with `at` in seconds since the start; kinds, the objects of each type by their time."""

    def __init__(self, served: Served, clients: Sequence[Working], counted: int = COUNTED) -> None:
        super().__init__(daemon=True)
        self._clients, self._counted = clients, counted
        self.samples: list[dict[str, Any]] = []
        self.kinds: list[tuple[float, dict[str, int]]] = []
        self.failure: Exception | None = None
        self._served = served
        self._begin = time.monotonic()
        self._over = threading.Event()

    def run(self) -> None:
        prober = Prober(self._served.servers, self._served.process.pid)
        prober.start()
        try:
            with httpx.Client(base_url=self._served.url, timeout=60) as http:
                while not self._over.wait(EVERY_SECONDS):
                    with contextlib.suppress(httpx.TimeoutException):
                        self.samples.append(self._sample(http, prober))
        except Exception as error:
            self.failure = error
        prober.stop()

    def _sample(self, http: httpx.Client, prober: Prober) -> dict[str, Any]:
        process = Path(f"/proc/{self._served.process.pid}")
        at = time.monotonic() - self._begin
        status = (process / "status").read_text()
        sample: dict[str, Any] = {
            "at": round(at, 1),
            "memory_mb": int(status.split("VmRSS:")[1].split()[0]) / 1024,
            "descriptors": sum(1 for _ in (process / "fd").iterdir()),
            "done": {one.name: one.done for one in self._clients},
            "cpu_seconds": int((process / "schedstat").read_text().split()[0]) / 1e9,
        }
        taken = prober.take()
        if len(taken) > 10:
            sample["p50_ms"] = taken[len(taken) // 2]
            sample["p99_ms"] = taken[min(len(taken) * 99 // 100, len(taken) - 1)]
        found = dict.fromkeys(_GAUGES.values(), 0.0)
        for name, value in _LINE.findall(http.get("/metrics").text):
            if name in found:
                found[name] += float(value)
        sample.update({key: found[name] for key, name in _GAUGES.items()})
        if not len(self.samples) % self._counted:
            counted = self._served.counts()
            self.kinds.append((at, counted.pop("kinds")))
            sample.update(counted)
        return sample

    def stop(self) -> None:
        self._over.set()
        self.join(60)
